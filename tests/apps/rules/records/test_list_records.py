"""Records of lists, whose keys and history stay when a list grows at its beginning."""

from __future__ import annotations

import pytest

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Page
from rules.models import Record, RecordVersion
from rules.services.learning.learning import learn_rule
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Site

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
