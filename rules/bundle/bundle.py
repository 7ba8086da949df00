"""Keep a site's rules as a folder without database and Django, and run it on any source of pages.

The folder holds `bundle.json`, one `CLUSTER.xsl` for each rule, and under `fixtures/` pages with
the records that the rules found on them, laid out as web-poet lays out its fixtures. A source is
a manifest, a WARC, a zip or a folder of HTML; it is read once, page by page, and no tree
outlives its page.

An engine hands out ranges, not pages: a range names a file and which of its items are meant, so
that no HTML goes through the engine. Ranges take items in turn, for the number of pages in an
archive is not known before it was read; reading past the others costs little beside extracting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.assigning import AlgorithmNotInstalled
from clustering.algorithms.grouping import RawPage
from clustering.services.pages.archives import read_pages
from clustering.services.pages.source_pages import Item, NotTaken, SourcePage
from clustering.values.typed_regexes import BadRegex, check_regex
from rules.algorithms.by_hand.sandbox import MAX_STYLESHEET, StylesheetRefused, read_stylesheet
from rules.algorithms.running.matching import clusters_from_json, clusters_to_json
from rules.algorithms.running.record_lines import Line, SiteRules, line_json, line_not_taken
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import StylesheetFailed, compile_stylesheet
from rules.algorithms.running.value_looks import ValueLooks
from rules.bundle.extraction import lines_of
from rules.bundle.scrapy_export import page_type
from vertex.core.services.files.files import UnreadableFile, read_whole

FORMAT: Final = "vertex-bundle"
VERSION: Final = 1
# The package that runs this version; see pyproject.toml beside.
REQUIREMENT: Final = "vertex-rules==0.2.0"
MAX_BUNDLE = 256 * 1024 * 1024
FIRST_ERROR_STATUS = 400  # HTTP statuses from here on are no pages of the site

_CLUSTER = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class BadBundle(Exception):
    """A folder is no bundle that can be run."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A page with what the bundle finds on it."""

    page: RawPage
    lines: Sequence[Mapping[str, Any]]  # as JSON


class Difference(NamedTuple):
    """A fixture on which the bundle finds something else, both sides as JSON."""

    url: str
    expected: str
    extracted: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A site's rules, ready to run."""

    site: str
    root_url: str
    rules: SiteRules
    # Rules as they were learnt, as JSON.
    learnt: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    country: str = ""  # of the site, ISO 3166

    def extract(self, items: Iterable[Item]) -> Iterator[Line]:
        """Yield the lines of pages; a page that cannot be taken is a line with its reason."""
        for item in items:
            yield from self.lines_of_item(item)

    def lines_of_item(self, item: Item) -> list[Line]:
        """Return the lines of one item of a source; what is no page by its nature has none."""
        if isinstance(item, NotTaken):
            return [line_not_taken(item.url, item.place, item.code, item.reason)]
        if not isinstance(item, SourcePage):
            return []
        if item.status >= FIRST_ERROR_STATUS:
            return [
                line_not_taken(item.url, item.place, "http_status", f"its status is {item.status}")
            ]
        page = RawPage(item.url, item.body, item.content_type, item.inbound_xpath)
        return lines_of(page, self.rules, in_child=True)


def write_bundle(folder: Path, bundle: Bundle, fixtures: Sequence[Fixture] = ()) -> list[Path]:
    """Write a bundle into a folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "bundle.json"]
    files[0].write_bytes(
        orjson.dumps(_bundle_to_json(bundle), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    )
    for rule in bundle.rules.rules.values():
        files.append(folder / f"{rule.cluster}.xsl")
        files[-1].write_text(rule.stylesheet, encoding="utf-8")
    for number, fixture in enumerate(fixtures, 1):
        fixtures_folder = folder / "fixtures" / page_type(bundle.site, bundle.root_url)
        files += _write_fixture(fixtures_folder / f"test-{number}", fixture)
    return files


def _bundle_to_json(bundle: Bundle) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_for": REQUIREMENT,
        "site": bundle.site,
        "root_url": bundle.root_url,
        "country": bundle.country,
        "clusters": clusters_to_json(bundle.rules.clusters),
        "borrowed": dict(bundle.rules.lender_by_cluster),
        "rules": [
            {
                "cluster": rule.cluster,
                "version": rule.version,
                "stylesheet": f"{rule.cluster}.xsl",
                "attributes": [attribute.as_json() for attribute in rule.attributes],
                "trust": dict(rule.trust),
                "looks": {name: looks.as_json() for name, looks in rule.looks.items()},
                "ranks": dict(rule.ranks),
                "by_hand": rule.is_by_hand,
                "learnt": bundle.learnt.get(rule.cluster),
            }
            for rule in bundle.rules.rules.values()
        ],
    }


def _write_fixture(folder: Path, fixture: Fixture) -> list[Path]:
    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    headers = [["Content-Type", fixture.page.content_type]] if fixture.page.content_type else []
    info = {
        "url": fixture.page.url,
        "status": 200,
        "headers": headers,
        "_encoding": None,
        "type": "HttpResponse",
    }
    content = {
        inputs / "HttpResponse-body.html": fixture.page.body,
        inputs / "HttpResponse-info.json": orjson.dumps(info),
        folder / "output.json": orjson.dumps(
            {"records": list(fixture.lines)}, option=orjson.OPT_INDENT_2
        ),
    }
    for file, text in content.items():
        file.write_bytes(text)
    return list(content)


def read_bundle(folder: Path) -> Bundle:
    """Return the bundle of a folder; its stylesheets pass the sandbox.

    Raises BadBundle.
    """
    try:
        form = orjson.loads(read_whole(folder / "bundle.json", MAX_BUNDLE))
    except (UnreadableFile, orjson.JSONDecodeError) as error:
        raise BadBundle(f"{folder} holds no bundle: {error}") from None
    if not isinstance(form, dict) or form.get("format") != FORMAT:
        raise BadBundle(f"{folder / 'bundle.json'} is no bundle: its format is not {FORMAT}")
    if form.get("version") != VERSION:
        raise BadBundle(
            f"{folder / 'bundle.json'} has version {form.get('version')}; "
            f"this program reads {VERSION}. "
            f"Install {form.get('made_for', 'another version of vertex-rules')}"
        )
    try:
        country = str(form.get("country", ""))
        rules = {
            rule_form["cluster"]: _read_rule(folder, rule_form, country)
            for rule_form in form["rules"]
        }
        lenders = {
            str(cluster): str(lender) for cluster, lender in form.get("borrowed", {}).items()
        }
        site = SiteRules(clusters_from_json(form["clusters"]), rules, lenders)
        learnt = {
            rule_form["cluster"]: rule_form["learnt"]
            for rule_form in form["rules"]
            if rule_form.get("learnt")
        }
        return Bundle(form["site"], form["root_url"], site, learnt, country)
    except AlgorithmNotInstalled as error:
        raise BadBundle(f"{folder / 'bundle.json'}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise BadBundle(f"{folder / 'bundle.json'} cannot be read: {error!r}") from None


def _read_rule(folder: Path, form: Mapping[str, Any], country: str) -> RunnableRule:
    cluster = str(form["cluster"])
    if not _CLUSTER.fullmatch(cluster):
        raise BadBundle(f"{cluster!r} is no name of a cluster")
    attributes = tuple(AttributeType.from_json(entry) for entry in form["attributes"])
    file = folder / f"{cluster}.xsl"
    try:
        text = read_whole(file, MAX_STYLESHEET)
        read_stylesheet(text)
        rule = RunnableRule(
            cluster,
            int(form["version"]),
            text.decode(),
            attributes,
            dict(form["trust"]),
            is_by_hand=bool(form.get("by_hand")),
            country=country,
            looks={
                name: ValueLooks.from_json(of_name)
                for name, of_name in dict(form.get("looks", {})).items()
            },
            ranks={name: float(rank) for name, rank in dict(form.get("ranks", {})).items()},
        )
        compile_stylesheet(rule.stylesheet)
        for attribute in attributes:
            check_regex(attribute.regex)
    except (
        UnreadableFile,
        StylesheetRefused,
        StylesheetFailed,
        BadRegex,
        UnicodeDecodeError,
    ) as error:
        raise BadBundle(f"{file}: {error}") from None
    return rule


def read_fixtures(folder: Path) -> Iterator[Fixture]:
    """Yield the fixtures of a bundle's folder."""
    for output in sorted(folder.glob("fixtures/*/*/output.json")):
        inputs = output.parent / "inputs"
        info = orjson.loads((inputs / "HttpResponse-info.json").read_bytes())
        content_type = next((value for _, value in info["headers"]), "")
        page = RawPage(info["url"], (inputs / "HttpResponse-body.html").read_bytes(), content_type)
        yield Fixture(page, orjson.loads(output.read_bytes())["records"])


def check_bundle(folder: Path) -> list[Difference]:
    """Return the fixtures on which the bundle finds something else.

    Raises BadBundle.
    """
    bundle = read_bundle(folder)
    differences = []
    for fixture in read_fixtures(folder):
        expected = _sorted_json(fixture.lines)
        extracted = _sorted_json(fixture_lines(fixture.page, bundle.rules))
        if extracted != expected:
            differences.append(Difference(fixture.page.url, expected, extracted))
    return differences


def fixture_lines(page: RawPage, site: SiteRules) -> list[dict[str, Any]]:
    """Return the lines of a page as a fixture holds them."""
    return [line_json(line) for line in lines_of(page, site)]


def _sorted_json(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines as they are compared: by their JSON, whatever the order of keys."""
    return orjson.dumps(lines, option=orjson.OPT_SORT_KEYS).decode()


@dataclass(frozen=True, slots=True)
class FileRange:
    """Each `step`-th item of a page source, from place `first` on; by default the whole source."""

    source: str
    first: int = 0
    step: int = 1


def extract(bundle: Bundle, file_range: FileRange, *, base_url: str = "") -> Iterator[Line]:
    """Yield the lines of a range's pages, in the order of the source.

    Raises UnreadableFile.
    """
    for lines in lines_by_item(bundle, file_range, base_url=base_url):
        yield from lines


def lines_by_item(
    bundle: Bundle, file_range: FileRange, *, base_url: str = ""
) -> Iterator[list[Line]]:
    """Yield the lines of each item of a range; what is no page by its nature has none.

    Raises UnreadableFile.
    """
    items = read_pages(Path(file_range.source), base_url or root_of(bundle))
    for item in islice(items, file_range.first, None, file_range.step):
        yield bundle.lines_of_item(item)


def root_of(bundle: Bundle) -> str:
    """Return what the files of a source without addresses are relative to."""
    return bundle.root_url if bundle.root_url.endswith("/") else f"{bundle.root_url}/"


def ranges_of(sources: Iterable[str], n_parts: int = 1) -> list[FileRange]:
    """Return so many ranges for each source that together hold each item once."""
    return [FileRange(source, part, n_parts) for source in sources for part in range(n_parts)]
