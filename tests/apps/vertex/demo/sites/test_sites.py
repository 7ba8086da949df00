"""The demo sites are what they claim: whole, deterministic, true, and really redesigned."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import lxml.html
import pytest

from clustering.dom.page import parse_page
from vertex.demo import sites
from vertex.demo.sites import DemoPage
from vertex.demo.sites.site import annotation_lines
from vertex.demo.sites.walking import reachable, tree_of

NEAR_TWINS = {
    "alpine-shop": ("product", "set"),
    "town-guide": ("listing", "stay"),
    "the-courier": ("article", "opinion"),
    "tinker-board": ("thread", "poll"),
}
CONSTANTS = {
    "alpine-shop": ["name", "sku", "brand"],
    "town-guide": ["name", "telephone", "postalCode"],
    "the-courier": ["headline", "datePublished", "authors"],
    "tinker-board": ["topic", "datePublished", "author"],
}
VOLATILE = {
    "alpine-shop": "price",
    "town-guide": "ratingValue",
    "the-courier": "commentCount",
    "tinker-board": "viewCount",
}

# Of the module, so that all tests of a site come one after the other and share what is kept of
# it below.
all_editions = pytest.mark.parametrize("edition", sites.EDITIONS, scope="module")
all_sites = pytest.mark.parametrize("name", sites.NAMES, scope="module")


@lru_cache(maxsize=700)  # the pages of two editions; saves parsing each page six times
def tree_of_bytes(body: bytes, content_type: str) -> lxml.html.HtmlElement:
    return tree_of(body, content_type)


def tree(page: DemoPage) -> lxml.html.HtmlElement:
    """Return the tree of a page, which no test changes."""
    return tree_of_bytes(page.body, page.content_type)


@lru_cache(maxsize=1)  # saves following all links of a site three times
def reached(name: str, edition: str) -> frozenset[str]:
    """Return every path that can be reached from the home page."""
    return frozenset(reachable(sites.load(name, edition)))


def text_at(page: DemoPage, xpath: str) -> str:
    """Return the displayed text at one place, which must exist once."""
    nodes = tree(page).xpath(xpath)
    assert len(nodes) == 1, (page.path, xpath)
    text = nodes[0] if isinstance(nodes[0], str) else nodes[0].text_content()
    return " ".join(text.split())


@all_sites
@all_editions
class TestWhole:
    def test_it_has_about_three_hundred_pages(self, name: str, edition: str) -> None:
        assert 260 <= len(sites.load(name, edition).pages) <= 340

    def test_no_link_is_dead_but_those_meant_to_be(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        dead = {
            path
            for path in reached(name, edition)
            if path not in site.redirects and site.page_at(path) is None
        }

        assert site.dead_links == dead

    def test_every_page_can_be_reached_from_home(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        pages = [site.page_at(path) for path in reached(name, edition)]
        seen = {page.path for page in pages if page is not None}

        assert set() == set(site.pages) - seen

    def test_every_redirect_is_linked_and_leads_to_a_page(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)

        assert set(site.redirects) <= reached(name, edition)
        assert all(site.page_at(target) for target in site.redirects.values())

    def test_pictures_and_style_sheets_are_there(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        wanted = {
            str(src)
            for page in site.pages.values()
            for src in tree(page).xpath("//img/@src | //link/@href")
        }

        assert set() == wanted - set(site.assets)

    def test_it_has_soft_and_hard_missing_pages(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        soft = [page for page in site.pages.values() if page.type == "missing"]

        assert {200} == {page.status for page in soft}
        assert {404} == {site.missing(path).status for path in site.dead_links}

    def test_no_mark_of_the_truth_is_served(self, name: str, edition: str) -> None:
        assert not any(
            b' vx="' in page.body or b"vx-record" in page.body
            for page in sites.load(name, edition).pages.values()
        )

    def test_the_log_names_pages_that_exist(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)

        assert len(site.queries) > 150
        assert [line for line in site.queries if line.path not in site.pages] == []


@all_sites
@all_editions
class TestTruth:
    def test_every_value_is_displayed_where_the_truth_says(self, name: str, edition: str) -> None:
        for page in sites.load(name, edition).pages.values():
            for line in annotation_lines(page):
                if "xpath" in line:
                    assert line["text"] in text_at(page, line["xpath"]), (page.path, line)

    def test_an_absent_value_is_marked_nowhere(self, name: str, edition: str) -> None:
        for page in sites.load(name, edition).pages.values():
            absent = {attribute for attribute, value in page.values.items() if value is None}
            assert set() == absent & set(page.places), page.path

    def test_every_record_is_a_run_of_adjacent_siblings_that_shows_its_values(
        self, name: str, edition: str
    ) -> None:
        for page in sites.load(name, edition).pages.values():
            root = tree(page)
            for record in page.records:
                nodes = [root.xpath(path)[0] for path in record.nodes]
                assert len({node.getparent() for node in nodes}) == 1, page.path
                positions = [node.getparent().index(node) for node in nodes]
                assert list(range(positions[0], positions[0] + len(positions))) == positions, (
                    page.path
                )
                assert_values(page, record)

    def test_records_are_not_mixed_up(self, name: str, edition: str) -> None:
        pages = [page for page in sites.load(name, edition).pages.values() if len(page.records) > 1]

        assert len(pages) > 20
        for page in pages:
            nodes = [node for record in page.records for node in record.nodes]
            assert len(set(nodes)) == len(nodes)

    def test_the_vertical_names_exactly_the_values(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        details = [page for page in site.pages.values() if page.values]
        declared = {attribute["name"]: attribute for attribute in site.vertical["attributes"]}

        assert len(details) > 150
        assert all(list(declared) == list(page.values) for page in details)
        for page in details:
            for attribute, value in page.values.items():
                assert value is None or isinstance(value, list) == declared[attribute]["multi"]
                assert value is not None or not declared[attribute]["mandatory"]

    def test_optional_values_are_there_on_some_pages_only(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        optional = [one["name"] for one in site.vertical["attributes"] if not one["mandatory"]]
        details = [page for page in site.pages.values() if page.values]

        for attribute in optional:
            n_shown = sum(page.values[attribute] is not None for page in details)
            assert 0.1 * len(details) < n_shown < len(details), attribute


def assert_values(page: DemoPage, record: sites.Record) -> None:
    for attribute, value in record.values.items():
        texts = [value] if isinstance(value, str) else value or []
        shown = [text_at(page, place) for place in record.places.get(attribute, [])]
        assert len(texts) == len(shown), (page.path, attribute)
        assert all(text in place for text, place in zip(texts, shown, strict=True))


def shape(page: DemoPage) -> Counter[str]:
    """Return the page's elements with their classes: what a redesign changes."""
    return Counter(
        f"{element.tag}.{element.get('class', '')}"
        for element in tree(page).iter(lxml.html.etree.Element)
    )


def similarity(counts: Counter[str], other: Counter[str]) -> float:
    return (counts & other).total() / (counts | other).total()


@all_sites
class TestEditions:
    def test_the_redesign_changes_every_type_but_one(self, name: str) -> None:
        before, after = sites.load(name, 1), sites.load(name, 2)
        for path in set(before.pages) & set(after.pages):
            page = before.pages[path]
            alike = similarity(shape(page), shape(after.pages[path]))
            assert alike == 1 if page.type == before.untouched else alike < 0.6, (path, alike)

    def test_the_untouched_type_is_the_same_to_the_byte(self, name: str) -> None:
        before, after = sites.load(name, 1), sites.load(name, 2)
        untouched = [page for page in before.pages.values() if page.type == before.untouched]

        assert len(untouched) >= 20
        assert [page.body for page in untouched] == [
            after.pages[page.path].body for page in untouched
        ]

    def test_constants_stay_and_other_values_drift(self, name: str) -> None:
        before = sites.load(name, 1)
        for edition in ("1b", "2"):
            after = sites.load(name, edition)
            both = [
                page for page in before.pages.values() if page.values and page.path in after.pages
            ]
            for attribute in CONSTANTS[name]:
                assert all(
                    page.values[attribute] == after.pages[page.path].values[attribute]
                    for page in both
                )
            volatile = VOLATILE[name]
            n_moved = sum(
                page.values[volatile] != after.pages[page.path].values[volatile] for page in both
            )
            assert n_moved > 0
            assert len(both) > 140

    def test_the_drift_leaves_every_value_in_its_place(self, name: str) -> None:
        before, after = sites.load(name, 1), sites.load(name, "1b")
        both = [page for page in before.pages.values() if page.values and page.path in after.pages]
        alike = [
            similarity(shape_without_class(page), shape_without_class(after.pages[page.path]))
            for page in both
        ]

        assert min(alike) > 0.5
        assert sum(alike) / len(alike) > 0.9

    def test_a_few_pages_come_and_go(self, name: str) -> None:
        before, after = (
            {page.path for page in sites.load(name, edition).pages.values() if page.values}
            for edition in (1, 2)
        )

        assert before - after
        assert after - before

    def test_the_near_twin_differs_in_a_section_only(self, name: str) -> None:
        site = sites.load(name, 1)
        first, twin = (
            labels([page for page in site.pages.values() if page.type == kind])
            for kind in NEAR_TWINS[name]
        )

        assert 1 <= len(twin - first) <= 4
        assert set() == first - twin


def labels(pages: list[DemoPage]) -> set[str]:
    """Return the texts that stand on all of these pages."""
    return set.intersection(
        *(set(map(str.strip, tree(page).xpath("//body//text()"))) for page in pages)
    )


def shape_without_class(page: DemoPage) -> Counter[str]:
    return Counter(element.tag for element in tree(page).iter(lxml.html.etree.Element))


class TestEncodings:
    def test_the_guide_says_windows_1252_in_the_page_alone(self) -> None:
        page = sites.load("town-guide").pages["/"]

        assert page.content_type == "text/html"
        assert b"charset=windows-1252" in page.body
        assert (
            parse_page(page.body, page.content_type).encoding.replace("windows-", "cp") == "cp1252"
        )
        assert any(b"\x92" in page.body for page in sites.load("town-guide").pages.values())

    def test_the_courier_says_iso_8859_2_in_the_header_alone(self) -> None:
        page = sites.load("the-courier").pages["/"]

        assert page.content_type == "text/html; charset=ISO-8859-2"
        assert b"charset" not in page.body
        assert "Zdeněk Řehoř" in tree(page).text_content()

    def test_letters_that_an_encoding_lacks_are_written_as_references(self) -> None:
        page = next(
            page
            for page in sites.load("the-courier").pages.values()
            if "Andrei Țăranu" in str(page.values.get("authors"))
        )

        assert b"&#538;" in page.body
        assert "Andrei Țăranu" in tree(page).text_content()


def fingerprint(name: str) -> str:
    """Return a hash of all that a site serves."""
    site = sites.load(name, "1b")
    bodies = [thing.body for things in (site.pages, site.assets) for thing in things.values()]
    return sha256(b"".join(bodies)).hexdigest()


class TestDeterminism:
    def test_another_process_makes_the_same_bytes(self) -> None:
        program = (
            "from tests.apps.vertex.demo.sites import test_sites; "
            "from vertex.demo.sites import NAMES; print(*map(test_sites.fingerprint, NAMES))"
        )
        root = Path(sites.__file__).parents[3]
        # Another seed of hashes: what hangs on the order of a set would come out differently.
        environment = os.environ | {"PYTHONHASHSEED": "7"}
        other = subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

        assert [fingerprint(name) for name in sites.NAMES] == other.stdout.split()

    def test_an_unknown_name_or_edition_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no site 'alpine-shop' in edition 3"):
            sites.load("alpine-shop", 3)
        with pytest.raises(ValueError, match="no site 'shop'"):
            sites.load("shop")


class TestFiles:
    def test_pages_manifest_and_truth_can_be_written(self, tmp_path: Path) -> None:
        site = sites.load("tinker-board")
        manifest = site.write(tmp_path, "http://127.0.0.1:9")
        site.write_truth(tmp_path / "truth", "http://127.0.0.1:9")

        lines = [json.loads(line) for line in manifest.read_text().splitlines()]
        types = [
            json.loads(line) for line in (tmp_path / "truth/types.jsonl").read_text().splitlines()
        ]
        assert list(site.pages) == [
            line["url"].removeprefix("http://127.0.0.1:9") for line in lines
        ]
        assert [page.body for page in site.pages.values()] == [
            (tmp_path / line["file"]).read_bytes() for line in lines
        ]
        assert [page.type for page in site.pages.values()] == [line["type"] for line in types]

    def test_annotations_are_as_the_command_takes_them(self, tmp_path: Path) -> None:
        site = sites.load("tinker-board")
        site.write_truth(tmp_path)
        lines = [
            json.loads(line) for line in (tmp_path / "annotations.jsonl").read_text().splitlines()
        ]

        assert {"url", "attribute"} == set.intersection(*(set(line) for line in lines))
        assert all(line.get("absent") or (line["xpath"] and line["text"]) for line in lines)
        assert any(re.search(r"/text\(\)\[\d+\]$", line.get("xpath", "")) for line in lines)

    def test_the_search_log_has_three_fields_a_line(self, tmp_path: Path) -> None:
        sites.load("alpine-shop").write_truth(tmp_path)
        rows = [line.split("\t") for line in (tmp_path / "search-log.tsv").read_text().splitlines()]

        assert {3} == {len(row) for row in rows}
        assert all(
            int(clicks) > 0 and url.startswith("https://alpine-shop.example/")
            for _, url, clicks in rows
        )
