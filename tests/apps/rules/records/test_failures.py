"""Each failure of learning or extracting says which attribute, on which page, at which step."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Annotation, Attribute
from clustering.models import Page, Snapshot
from rules.models import Extraction, Record, Rule
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import (
    annotate_product,
    extract,
    learnt_shop,
    product,
    products_of,
    shop,
)
from vertex.core.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def learnt(site: Site) -> dict[str, dict[str, Any]]:
    """Run the command and return its lines by attribute."""
    output = io.StringIO()
    call_command("learn_rules", site.name, "--draft", stdout=output)
    return {line["attribute"]: line for line in map(json.loads, output.getvalue().splitlines())}


def said(site: Site, n: int, attribute: str) -> Annotation:
    url = f"{site.root_url}p/{n}"
    return Annotation.objects.get(page__url=url, attribute__name=attribute, superseded_at=None)


def annotated_shop(*numbers: int) -> Site:
    site = shop()
    for number in numbers:
        annotate_product(site, number)
    return site


def test_contradictory_annotations() -> None:
    site = annotated_shop(1)
    name = said(site, 1, "name")
    Annotation.objects.create(
        page=name.page,
        snapshot=name.snapshot,
        attribute=name.attribute,
        position=1,
        xpath="/html/body/p",
        text="Rope 1 is good",
        start=0,
    )
    Annotation.objects.filter(pk=name.pk).update(start=0)

    line = learnt(site)["name"]

    assert "none" == line["kind"]
    assert line["reason"].startswith(
        "annotations: contradictory annotations: several values ('Rope 1', "
    )
    assert line["reason"].endswith(f"({site.root_url}p/1)")


def test_an_annotation_on_a_truncated_page() -> None:
    site = annotated_shop(1)
    Snapshot.objects.filter(page__url=f"{site.root_url}p/1").update(
        problem=Snapshot.Problem.TRUNCATED
    )

    line = learnt(site)["price"]

    reason = f"page: the page is truncated; annotate another sample ({site.root_url}p/1)"
    assert ("none", reason) == (line["kind"], line["reason"])


def test_a_value_that_no_node_holds() -> None:
    site = annotated_shop(1)
    Annotation.objects.filter(pk=said(site, 1, "price").pk).update(text="99 EUR", start=0, end=6)

    line = learnt(site)["price"]

    assert (
        f"node: the value '99 EUR' is not in the node's text '1.50 EUR' ({site.root_url}p/1)"
        == line["reason"]
    )


def test_no_precise_xpath() -> None:
    """Each page marks another of three nodes that nothing tells apart."""
    site = twins(1, 2, 3)

    line = learnt(site)["name"]

    assert (True, 1) == (line["draft"], line["n_right"])
    assert "no precise XPath: other nodes have all that the annotated ones share" in line["reason"]
    assert "no position is the same on all annotated pages" in line["reason"]
    assert line["reason"].startswith("classifier: ")
    assert line["reason"].rstrip(")").rpartition("(")[2].startswith(f"{site.root_url}p/")


def test_a_classifier_that_cannot_decide_is_told_apart() -> None:
    line = learnt(twins(1, 2, 3))["name"]

    assert (
        "the classifier is undecided: another node scores higher than the annotated one"
        in line["reason"]
    )
    learner = io.StringIO()
    site = Site.objects.get()
    call_command("learn_rules", site.name, "--draft", "--learner", "published", stdout=learner)
    published = {
        each["attribute"]: each for each in map(json.loads, learner.getvalue().splitlines())
    }["name"]
    assert ("naive_bayes", True, 0) == (
        published["kind"],
        published["draft"],
        published["n_right"],
    )


def test_a_value_that_cannot_be_cut_out_of_its_text() -> None:
    site = annotated_shop(1, 3, 4)
    for n, text in ((1, "1.50"), (3, "50 EUR"), (4, "0")):
        Annotation.objects.filter(pk=said(site, n, "price").pk).update(text=text, start=0, end=1)

    line = learnt(site)["price"]

    assert (True, 1) == (line["draft"], line["n_right"])
    assert line["reason"].startswith(
        "text: no part of the text is the value on all pages: '1.50' in '1.50 EUR'"
    )
    assert line["reason"].endswith(f"({site.root_url}p/1)")


def test_an_attribute_that_nobody_annotated() -> None:
    site = annotated_shop(3)
    Annotation.objects.filter(pk=said(site, 3, "price").pk).delete()

    lines = learnt(site)

    assert "annotations: no page was annotated for it" == lines["price"]["reason"]
    assert "annotations: it is absent on all annotated pages" == lines["weight"]["reason"]


def test_a_regex_that_refuses() -> None:
    site = annotated_shop(1, 2)
    Attribute.objects.filter(name="price").update(regex=r"\d+\.\d\d EUR")
    call_command("learn_rules", site.name, stdout=io.StringIO())
    store(site, [product(5, price="on request: 5")])
    extract(site)

    record = Record.objects.get(page__url=f"{site.root_url}p/5")

    assert {"price": r"the regex \d+\.\d\d EUR refuses 'on request: 5 EUR'"} == record.failed
    assert ("price" in record.missing, "on request: 5 EUR") == (True, record.raw["price"])


def test_a_mandatory_attribute_without_a_node() -> None:
    site, _ = learnt_shop()
    body = b"<html><head><title>Rope 6</title></head><body><h1 class='name'>Rope 6</h1><p class='text'>x</p></body></html>"
    store(site, [("p/6", body, "text/html")])
    extract(site)

    record = Record.objects.get(page__url=f"{site.root_url}p/6", gone_at=None)
    assert {"price": "mandatory, but the rule selects no node on this page"} == record.failed


def test_a_page_that_no_rule_matches() -> None:
    site, _ = learnt_shop()
    store(
        site,
        [
            (
                "odd/1",
                b"<html><body><form><input name='q'><button>Go</button></form></body></html>",
                "text/html",
            )
        ],
    )
    extract(site)
    output = io.StringIO()
    call_command("extract_records", site.name, stdout=output)

    extraction = Extraction.objects.get(page__url=f"{site.root_url}odd/1")
    lines = {line["url"]: line for line in map(json.loads, output.getvalue().splitlines())}

    assert (None, 0) == (extraction.rule, extraction.n_records)
    assert extraction.reason
    assert extraction.why
    assert (extraction.reason, extraction.why) == tuple(
        lines[f"{site.root_url}odd/1"][key] for key in ("reason", "why")
    )
    assert Rule.objects.published().exists()


def twins(*places: int) -> Site:
    """Return a shop whose pages show the name in one of three equal nodes.

    Its place differs from page to page.
    """
    site = shop()
    rows = "".join("<i>{}</i>" for _ in range(3))
    for n, place in enumerate(places, 1):
        body = f"<html><head><title>x</title></head><body><div>{rows}</div></body></html>".format(
            *"abc"
        )
        store(site, [(f"p/{n}", body.encode(), "text/html")])
        page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}p/{n}")
        assert page.latest_snapshot is not None
        Annotation.objects.create(
            page=page,
            snapshot=page.latest_snapshot,
            attribute=Attribute.objects.get(name="name"),
            xpath=f"/html/body/div/i[{place}]",
            text="abc"[place - 1],
        )
    assert products_of(site)
    return site
