"""Rules learnt anew after a redesign, and how they are measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.algorithms.grouping import RawPage
from clustering.models import Cluster, Page, PageMembership
from monitoring.algorithms.changed_values import MIN_CERTAINTY
from monitoring.algorithms.known_values import same_value
from monitoring.algorithms.rule_reuse import Versions
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines
from monitoring.services.repair.relearning import (
    OldPage,
    RelearntRule,
    measure,
    pairs_of_lists,
    pairs_of_pages,
    relearn,
)
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import ExtractedRecord, RunnableRule, ShownValue
from rules.models import Record, Rule
from rules.services.learning.learning import learn_rule
from rules.services.records.extracting import stored_lines
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.monitoring.monitored_shop import repair
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Site
from vertex.demo import sites
from vertex.demo.sites import DemoPage

pytestmark = pytest.mark.django_db
NAME = "town-guide"
KINDS = {"name": "text", "streetAddress": "text", "addressLocality": "text", "telephone": "phone"}


def line(key: str | None = None, **values: ShownValue) -> Line:
    """Return a line with a record of these values."""
    record = ExtractedRecord(values, {}, {}, [], {}, {}, key=key)
    return Line("http://shop.example/", "products", "products@1", record)


def some_pages(edition: str = "1") -> list[DemoPage]:
    """Return the lists of the guide and some pages of another type."""
    pages = sites.load(NAME, edition).pages.values()
    lists = [page for page in pages if page.type == "list"][:14]
    return [*lists, *[page for page in pages if page.type == "listing"][:8]]


def annotate(site: Site, demo: DemoPage) -> Cluster:
    page = Page.objects.select_related("latest_snapshot").get(
        site=site, url=site.root_url + demo.path[1:]
    )
    where = {"page": page, "snapshot": page.latest_snapshot}
    for number, record in enumerate(demo.records):
        nodes = list(record.nodes)
        Annotation.objects.create(
            **where, kind=Annotation.Kind.RECORD, record=nodes, position=number
        )
        for name in KINDS:
            if record.values.get(name):
                Annotation.objects.create(
                    **where,
                    attribute=Attribute.objects.get(name=name),
                    record=nodes,
                    position=number,
                    xpath=record.places[name][0],
                    text=str(record.values[name]),
                )
    result = PageMembership.objects.current().select_related("cluster").get(page=page).cluster
    assert result is not None
    return result


@pytest.fixture
def guide() -> Site:
    """A site with a published rule for its lists, learnt from one page."""
    site = site_of(NAME)
    store(site, [(page.path, page.body, page.content_type) for page in some_pages()])
    plans = [
        AttributeType(name, kind, is_constant=True, is_mandatory=name == "name")
        for name, kind in KINDS.items()
    ]
    vertical = save_vertical(name="place", attributes=plans, actor=None)
    assign_vertical(site=site, vertical=vertical, actor=None)
    cluster(site)
    demo = max(some_pages()[:6], key=lambda page: len(page.records))
    publish_rule(rule=learn_rule(cluster=annotate(site, demo)))
    extract(site)
    return site


def archive(folder: Path, site: Site) -> str:
    """Write the second edition of the same pages, and return the manifest."""
    manifest = sites.load(NAME, "2").write(folder, site.root_url.rstrip("/"))
    urls = {site.root_url + page.path.lstrip("/") for page in some_pages()}
    lines = [line for line in manifest.read_text().splitlines() if json.loads(line)["url"] in urls]
    manifest.write_text("\n".join(lines))
    return str(manifest)


def keys() -> set[tuple[str, str]]:
    return set(Record.objects.there().values_list("page__url", "key"))


def test_a_redesigned_list_is_repaired_from_its_golden_records(guide: Site, tmp_path: Path) -> None:
    before = keys()
    healed = repair(guide, archive(tmp_path, guide), accept=True)
    (line,) = (each for each in healed if each["decision"] == "proposed")
    extract(guide)

    assert (True, True) == (line["field_test"], line["accepted"])
    rule = Rule.objects.published().get(cluster__name=line["cluster"])
    assert rule.definition["boundary"] is not None
    truth = {page.path: page for page in some_pages("2") if page.type == "list"}
    known = {page.path for page in some_pages() if page.type == "list"} & set(truth)
    assert len(known) > 8
    result: dict[str, list[dict[str, str]]] = {}
    for stored_line in stored_lines(guide):
        result.setdefault("/" + str(stored_line["url"]).removeprefix(guide.root_url), []).append(
            stored_line["record"]
        )
    wanted = {path: [record.values for record in truth[path].records] for path in known}
    assert {path: len(records) for path, records in wanted.items()} == {
        path: len(result[path]) for path in known
    }
    wrong = [
        (path, name, record.get(name), now.get(name))
        for path, records in wanted.items()
        for record, now in zip(records, result[path], strict=True)
        for name, kind in KINDS.items()
        if not same_value(kind, record.get(name), now.get(name))
    ]
    assert [] == wrong
    assert len(before & keys()) > 0.5 * len(before)
    live = Annotation.objects.live().filter(page__site=guide)
    assert {True} == {
        row.snapshot_id == row.page.latest_snapshot_id for row in live.select_related("page")
    }
    assert live.filter(kind=Annotation.Kind.RECORD).exists()


def test_a_list_whose_values_are_gone_gets_no_rule(guide: Site, tmp_path: Path) -> None:
    source = archive(tmp_path, guide)
    lines = [json.loads(line) for line in Path(source).read_text().splitlines()]
    for line in lines:
        path = tmp_path / line["file"]
        path.write_bytes(b"<html><body><p>We have moved.</p><ul><li>a<li>b<li>c</ul></body></html>")
    repair(guide, source, accept=True)

    assert not Rule.objects.published().exists()


class TestMeasure:
    """How often a relearnt rule gives the golden values."""

    NAME = AttributeType("name", "text", is_constant=True)
    PRICE = AttributeType("price", "price", is_constant=False)

    def test_a_changing_value_counts_only_where_the_page_still_shows_it(self) -> None:
        old, new = [line(price="1 EUR")], [line(price="2 EUR")]
        shown = Versions("u", old, new, shown="was 1 EUR, now 2 EUR")
        gone = Versions("u", old, new, shown="now 2 EUR")

        assert [("1 EUR", "2 EUR")] == list(pairs_of_pages(self.PRICE, [shown, gone]))

    def test_a_page_without_a_new_record_lost_its_value(self) -> None:
        versions = [
            Versions("a", [line(name="Rope")], [line(name="rope")]),
            Versions("b", [line(name="Cord")], []),
            Versions("c", [line()], [line(name="Line")]),
        ]

        assert {"precision": 1.0, "recall": 0.5, "n_known": 2} == measure(
            self.NAME, pairs_of_pages(self.NAME, versions)
        )

    def test_records_of_a_list_are_matched_by_key_and_those_gone_do_not_count(self) -> None:
        old = [line(key="1", name="Rope"), line(key="2", name="Cord"), line(key="3", name="Line")]
        new = [line(key="3", name="Line"), line(key="1", name="Rape")]
        pairs = list(pairs_of_lists(self.NAME, [Versions("u", old, new)]))

        assert [("Rope", "Rape"), ("Line", "Line")] == pairs
        assert {"precision": 0.5, "recall": 0.5, "n_known": 2} == measure(self.NAME, iter(pairs))


class TestWrongStoredValues:
    """Rules that are learnt anew where some of what is stored was never right."""

    BRANDS = ("Norrsken", "Alpina", "Kestrel", "Tramp", "Oberland", "Fjordur", "Skarv", "Lumen")

    def relearnt(self, n_wrong: int, *, menu: bool = False) -> set[str]:
        """Return the attributes proposed when `n_wrong` of 16 records hold another page's brand."""
        fresh, old = {}, []
        brands = [f"{self.BRANDS[number % 8]} {number}" for number in range(17)]
        links = "".join(f"<li>{brand}" for brand in brands) if menu else ""
        for number in range(16):
            name, brand = f"Rope {number}", f"{self.BRANDS[number % 8]} {number}"
            url = f"http://shop.example/p/{number}"
            page = (
                f"<ul>{links}</ul><main><h2>{name}</h2><p class=maker>Maker: <b>{brand}</b></p>"
                "<p>Since 1980</main>"
            )
            fresh[url] = FreshPage(url, page.encode(), "text/html")
            stored = brands[number + 1] if number < n_wrong else brand
            old.append(OldPage(RawPage(url, b""), [line(name=name, brand=stored)]))
        schema = [AttributeType(name, is_constant=True).as_json() for name in ("name", "brand")]
        rule = Rule(cluster=Cluster(name="products", site=Site(name="shop")), schema=schema)
        relearnt = relearn(rule, old, fresh, fresh)
        assert relearnt is not None
        return set(relearnt.measures) if relearnt.verdict.has_passed else set()

    def test_what_the_new_pages_show_decides_where_few_stored_values_are_wrong(self) -> None:
        assert {"name", "brand"} == self.relearnt(n_wrong=3)

    def test_where_most_are_wrong_nothing_is_proposed_for_the_attribute(self) -> None:
        assert {"name"} == self.relearnt(n_wrong=13)

    def test_what_the_menu_of_every_page_shows_refutes_nothing(self) -> None:
        assert {"name", "brand"} == self.relearnt(n_wrong=3, menu=True)


def test_what_nothing_is_proposed_for_is_said_with_the_page_to_annotate() -> None:
    attributes = [AttributeType("name", is_constant=True), AttributeType("note", is_constant=True)]
    rule = Rule(
        cluster=Cluster(name="products", site=Site(name="shop")),
        schema=[attribute.as_json() for attribute in attributes],
    )
    fresh = {}
    old = []
    for n in range(12):
        url = f"http://shop.example/{n}"
        told = "left over from stock 3" if n == 3 else f"nothing of {n}"
        body = f"<html><body><h1>Rope {n}</h1><p>{told}, sold by us</p></body></html>"
        fresh[url] = FreshPage(url, body.encode(), "text/html")
        golden = line(name=f"Rope {n}", note=f"left over from stock {n}")
        old.append(OldPage(RawPage(url, b""), [golden]))

    relearnt = relearn(rule, old, fresh, fresh)

    assert relearnt is not None
    assert {"name"} == set(relearnt.measures)
    assert (["note"], "http://shop.example/3") == (relearnt.silent, relearnt.page_to_annotate)


class TestChangedValues:
    """A redesign after which every stored price is another one and no old page is known."""

    def relearnt(self, told: str) -> RelearntRule | None:
        """Return the rule where each page tells its price, in this way."""
        fresh, old = {}, []
        for n in range(16):
            url = f"http://shop.example/{n}"
            price = 300 + 137 * (7 * n % 16)
            new = round(price * (1.15 + n % 3 / 20))
            told_here = told.format(new=new, dearer=round(1.01 * new), fee=5 + 3 * (n % 5))
            body = f"<html><body><h1>Rope {n}</h1>{told_here}</body></html>"
            fresh[url] = FreshPage(url, body.encode(), "text/html")
            old.append(OldPage(RawPage(url, b""), [line(name=f"Rope {n}", price=f"${price}")]))
        attributes = [AttributeType("name", is_constant=True), AttributeType("price", "price")]
        rule = Rule(
            cluster=Cluster(name="products", site=Site(name="shop")),
            schema=[attribute.as_json() for attribute in attributes],
        )
        return relearn(rule, old, fresh, fresh)

    def test_they_are_told_by_how_they_look_and_how_sure_that_is(self) -> None:
        relearnt = self.relearnt("<div class=fee>${fee}</div><div class=cost>${new}</div>")

        assert relearnt is not None
        assert relearnt.verdict.has_passed
        assert {"name", "price"} == set(relearnt.measures)
        assert "certainty" not in relearnt.measures["name"]
        assert MIN_CERTAINTY <= relearnt.measures["price"]["certainty"] <= 1
        ready = RunnableRule("products", 1, relearnt.stylesheet, [AttributeType("price", "price")])
        shown = FreshPage(
            "http://shop.example/x",
            b"<h1>Rope x</h1><div class=fee>$7</div><div class=cost>$1234</div>",
            "text/html",
        )
        (found,) = extract_lines(ready, shown)
        assert "$1234" == found.values["price"]

    def test_where_nothing_tells_which_amount_it_is_a_person_is_asked(self) -> None:
        relearnt = self.relearnt("<div class=cost>${new}</div><div class=total>${dearer}</div>")

        assert relearnt is not None
        assert {"name"} == set(relearnt.measures)
        assert ["price"] == relearnt.silent


def test_separators_among_stored_values_are_not_learnt() -> None:
    tags = AttributeType("tags", is_constant=True, is_multi=True)
    rule = Rule(cluster=Cluster(name="stories", site=Site(name="news")), schema=[tags.as_json()])
    fresh = {}
    old = []
    for n in range(12):
        url = f"http://news.example/{n}"
        body = (
            f"<html><body><h1>Story {n}</h1><p>Tags: <a>town {n}</a>, "
            f"<a>river {n}</a></p></body></html>"
        )
        fresh[url] = FreshPage(url, body.encode(), "text/html")
        golden = line(tags=[f"town {n}", ",", f"river {n}"])
        old.append(OldPage(RawPage(url, b""), [golden]))

    relearnt = relearn(rule, old, fresh, fresh)

    assert relearnt is not None
    ready = RunnableRule("stories", 1, relearnt.stylesheet, rule.attributes)
    (found,) = extract_lines(ready, fresh["http://news.example/3"])
    assert {"tags": ["town 3", "river 3"]} == found.values
