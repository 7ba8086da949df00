"""Records of lists, whose keys and history stay when a list grows at its beginning."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from django.test import Client
from django.urls import reverse

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Page, Snapshot
from rules.models import Record, RecordVersion
from rules.services.learning.learning import learn_rule
from rules.services.records.extracting import stored_lines
from rules.services.records.file_formats import PARQUET
from rules.services.records.record_exports import export_parts, records_of
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Role, Site
from vertex.core.services.people.people import create_user

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def list_page(page: int, numbers: list[int]) -> tuple[str, bytes, str]:
    items = "".join(
        f"<li class='item'><b class='name'><a href='/i/{page}-{n}'>Item {page}-{n}</a></b>"
        f"<i class='price'>{n} EUR</i></li>"
        for n in numbers
    )
    body = f"<html><body><h1>Shelf {page}</h1><p>Sorted</p><ul>{items}</ul></body></html>"
    return f"list/{page}", body.encode(), "text/html"


def shelves(*, is_constant: bool) -> Site:
    """Return a site of lists with a published rule, learnt from one annotated page."""
    site = site_of("shop")
    store(site, [list_page(page, [1, 2, 3]) for page in range(1, 7)])
    plans = [
        AttributeType("shelf"),
        AttributeType("name", is_constant=is_constant),
        AttributeType("price", "price"),
    ]
    assign_vertical(
        site=site, vertical=save_vertical(name="item", attributes=plans, actor=None), actor=None
    )
    cluster(site)
    page = Page.objects.select_related("latest_snapshot").get(
        site=site, url=f"{site.root_url}list/1"
    )
    where = {"page": page, "snapshot": page.latest_snapshot}
    shelf, name, price = (Attribute.objects.get(name=name) for name in ("shelf", "name", "price"))
    Annotation.objects.create(**where, attribute=shelf, xpath="/html/body/h1", text="Shelf 1")
    for n in (1, 2, 3):
        record = f"/html/body/ul/li[{n}]"
        Annotation.objects.create(**where, kind=Annotation.Kind.RECORD, record=[record], position=n)
        value = {"record": [record], "position": n}
        Annotation.objects.create(
            **where, **value, attribute=name, xpath=f"{record}/b/a", text=f"Item 1-{n}"
        )
        Annotation.objects.create(
            **where, **value, attribute=price, xpath=f"{record}/i", text=f"{n} EUR"
        )
    publish_rule(rule=learn_rule(cluster=Cluster.objects.present().get(site=site)))
    return site


@pytest.mark.parametrize(("is_constant", "key"), [(True, "Item 2-{}"), (False, "/i/2-{}")])
def test_one_new_first_row_does_not_rewrite_the_history_of_the_others(
    *, is_constant: bool, key: str
) -> None:
    site = shelves(is_constant=is_constant)
    extract(site)
    store(site, [list_page(2, [9, 1, 2, 3])])
    done = extract(site)

    assert (1, 0, 0, 3) == tuple(done.get(name, 0) for name in ("new", "changed", "gone", "same"))
    assert not RecordVersion.objects.exists()
    records = Record.objects.there().filter(page__url__endswith="list/2").order_by("index")
    assert [(n, key.format(item), f"Item 2-{item}") for n, item in enumerate([9, 1, 2, 3])] == [
        (record.index, record.key, record.values["name"]) for record in records
    ]


def test_a_record_of_a_list_names_the_page_about_the_same_thing() -> None:
    site = shelves(is_constant=True)
    extract(site)
    record = Record.objects.get(key="Item 2-3")

    assert f"{site.root_url}i/2-3" == record.details_url
    lines = list(stored_lines(site))
    assert f"{site.root_url}i/2-3" in {line.get("details_url") for line in lines}
    before = record.change_number
    name, body, kind = list_page(2, [1, 2, 3])
    store(site, [(name, body.replace(b"/i/2-3", b"/i/2-3-b"), kind)])
    extract(site)
    record.refresh_from_db()
    assert f"{site.root_url}i/2-3-b" == record.details_url
    assert record.change_number > before


def test_the_export_joins_a_list_with_its_details(tmp_path: Path) -> None:
    site = shelves(is_constant=True)
    extract(site)
    of_list = Record.objects.get(key="Item 2-3")
    store(site, [("i/2-3", b"<html><body><h1>All of item 2-3</h1></body></html>", "text/html")])
    page = Page.objects.get(url=of_list.details_url)
    of_details = Record.objects.create(
        site=site,
        page=page,
        cluster=of_list.cluster,
        rule=of_list.rule,
        snapshot=Snapshot.objects.get(page=page),
        values={"name": "All of item 2-3"},
        change_number=10_000,
    )
    file = tmp_path / "records.parquet"
    file.write_bytes(b"".join(export_parts(records_of(site), PARQUET)))
    joined = duckdb.execute(
        "SELECT item.name, details.name FROM read_parquet($file) AS item"
        " JOIN read_parquet($file) AS details ON details.normalized_url = item.details_url",
        {"file": str(file)},
    )

    assert [("Item 2-3", "All of item 2-3")] == joined.fetchall()
    client = Client()
    client.force_login(create_user(username="vera", role=Role.VIEWER, site=None, actor=None))
    shown = client.get(reverse("record", args=[site.name, of_list.pk])).content.decode()
    assert reverse("record", args=[site.name, of_details.pk]) in shown


def test_the_heading_of_a_page_stands_in_each_of_its_records() -> None:
    site = shelves(is_constant=True)
    extract(site)

    assert {(f"Shelf {n}", f"list/{n}") for n in range(1, 7)} == {
        (record.values["shelf"], record.page.url.removeprefix(site.root_url))
        for record in Record.objects.there().select_related("page")
    }
    record = Record.objects.there().filter(page__url__endswith="list/3").first()
    assert record is not None
    assert "/html/body/h1" == record.nodes["shelf"].removesuffix("/text()[1]")
