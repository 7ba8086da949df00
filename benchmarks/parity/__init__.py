"""Whether every engine that runs a site's rules finds the same raw values on all stored pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lxml import etree

from benchmarks.parity.tree_as_xml import tree_as_xml
from benchmarks.report import markdown_table
from benchmarks.rule_learning import DETAIL_TYPES
from clustering.dom.page import parse_page
from rules.algorithms.running.records import RawRecord
from rules.algorithms.running.run_rule import read_result, transform
from vertex.demo import sites
from vertex.demo.sites import DemoSite

TITLE = "Parity"
ROOT = Path(__file__).resolve().parent.parent.parent
N_ANNOTATED = 2
ENGINES = ("bundle", "lxml", "xsltproc on the tree", "xsltproc --html")

Line = dict[str, Any]


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    if shutil.which("xsltproc") is None:
        return "Left out: xsltproc is not installed."
    rows, totals = [], Counter[str]()
    for name in sites.NAMES:
        with tempfile.TemporaryDirectory() as folder:
            counts = Parity(sites.load(name), Path(folder)).count()
        totals += counts
        rows.append(_row(name, counts))
    return (
        f"All stored pages of the demo sites' first edition; rules of the clusters of details from "
        f"{N_ANNOTATED} annotated pages each, learnt, run and exported by the commands. "
        "Share of the raw "
        "values that `extract_records` stores which the other engines find too, "
        "in the same order: the "
        "bundle without Django, lxml on a fresh parse, xsltproc on that tree written as XML. "
        "Bar: 100 %. "
        "`xsltproc --html` parses the stored bytes by itself, "
        "with another version of libxml2 and no "
        "knowledge of the page's encoding.\n\n"
        + markdown_table(["site", "pages", "values", *ENGINES], [*rows, _row("**all**", totals)])
    )


def _row(name: str, counts: Counter[str]) -> list[object]:
    shares = [f"{counts[engine] / max(1, counts['values']):.2%}" for engine in ENGINES]
    return [name, counts["pages"], counts["values"], *shares]


class Parity:
    """A demo site in an installation of its own, with rules that were learnt by the commands."""

    def __init__(self, site: DemoSite, folder: Path) -> None:
        self.site, self.folder = site, folder
        self.page_by_url = {site.default_url + path: page for path, page in site.pages.items()}
        self.environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}

    def count(self) -> Counter[str]:
        """Return how many raw values there are, and on how many of them each engine agrees."""
        stored = self.extracted()
        bundle = self.folder / "bundle"
        self.command("export_rules", self.site.name, "--output", str(bundle))
        arguments = [str(bundle), str(self.folder / "pages.jsonl")]
        run_by_bundle = [sys.executable, "-m", "rules.bundle", *arguments]
        by_bundle = _raw_by_url(_lines(_run(run_by_bundle, self.environment)))
        counts = Counter(pages=len(self.page_by_url))
        for url, lines in stored.items():
            wanted = [_as_lists(line["raw"]) for line in lines]
            counts["values"] += _size(wanted)
            counts["bundle"] += _agreeing(wanted, by_bundle.get(url, []))
            stylesheet = bundle / f"{lines[0]['cluster']}.xsl"
            for engine, found in self.by_engine(url, stylesheet):
                counts[engine] += _agreeing(wanted, found)
        return counts

    def extracted(self) -> dict[str, list[Line]]:
        """Import, cluster, annotate, learn and extract; return lines with records by address."""
        self._write_pages()
        name = self.site.name
        self.command("load_vertical", str(self.folder / "vertical.json"))
        vertical = self.site.vertical.get("name") or self.site.vertical["vertical"]
        self.command("add_site", name, "--url", self.site.default_url, "--vertical", str(vertical))
        self.command("import_pages", name, str(self.folder / "pages.jsonl"))
        self.command("cluster_site", name)
        samples = _lines(self.command("draw_samples", name))
        (self.folder / "marks.jsonl").write_text("".join(self._annotations(samples)))
        self.command("import_annotations", name, str(self.folder / "marks.jsonl"))
        self.command("learn_rules", name)
        result: dict[str, list[Line]] = defaultdict(list)
        for line in _lines(self.command("extract_records", name)):
            if line.get("raw"):
                result[line["url"]].append(line)
        return result

    def _write_pages(self) -> None:
        (self.folder / "vertical.json").write_text(json.dumps(self.site.vertical))
        with (self.folder / "pages.jsonl").open("w") as lines:
            for number, (url, page) in enumerate(self.page_by_url.items()):
                (self.folder / f"{number}.html").write_bytes(page.body)
                entry = {"url": url, "file": f"{number}.html", "status": page.status}
                lines.write(json.dumps(entry | {"content_type": page.content_type}) + "\n")

    def _annotations(self, samples: Iterable[Line]) -> Iterable[str]:
        """Yield what an editor says of the first samples of the clusters of details."""
        n_by_cluster = Counter[str]()
        for sample in samples:
            page = self.page_by_url[sample["url"]]
            if (
                page.type not in DETAIL_TYPES[self.site.name]
                or n_by_cluster[sample["cluster"]] == N_ANNOTATED
            ):
                continue
            n_by_cluster[sample["cluster"]] += 1
            for name, value in page.values.items():
                head = {"url": sample["url"], "attribute": name}
                if not value:
                    yield json.dumps(head | {"absent": True}) + "\n"
                for text, place in zip(_as_list(value), page.places.get(name) or [], strict=False):
                    yield json.dumps(head | {"xpath": place, "text": text}) + "\n"

    def by_engine(
        self, url: str, stylesheet: Path
    ) -> Iterable[tuple[str, list[dict[str, list[str]]]]]:
        """Yield what each engine finds with a stylesheet on the bytes of a page."""
        page = self.page_by_url[url]
        tree = parse_page(page.body, page.content_type).tree
        if tree is not None:
            xml, html = self.folder / "page.xml", self.folder / "page.html"
            xml.write_bytes(tree_as_xml(tree))
            html.write_bytes(page.body)
            yield "xsltproc on the tree", _by_xsltproc(stylesheet, xml)
            yield "xsltproc --html", _by_xsltproc(stylesheet, html, "--html")
            yield (
                "lxml",
                _values_in(read_result(transform(stylesheet.read_text("utf-8"), tree).getroot())),
            )

    def command(self, *arguments: str) -> bytes:
        return _run([sys.executable, "manage.py", *arguments], self.environment)


def _run(called: list[str], environment: dict[str, str]) -> bytes:
    done = subprocess.run(called, cwd=ROOT, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(called[1:4])} failed: {done.stderr.decode()[-2000:]}")
    return done.stdout


def _lines(told: bytes) -> list[Line]:
    return [json.loads(line) for line in told.splitlines()]


def _by_xsltproc(stylesheet: Path, page: Path, *options: str) -> list[dict[str, list[str]]]:
    done = subprocess.run(
        ["xsltproc", *options, stylesheet, page], capture_output=True, check=False
    )
    try:
        return _values_in(read_result(etree.fromstring(done.stdout)))
    except etree.XMLSyntaxError:
        return []


def _values_in(records: Iterable[RawRecord]) -> list[dict[str, list[str]]]:
    return [
        {name: [entry.text for entry in some] for name, some in record.values.items()}
        for record in records
    ]


def _raw_by_url(lines: Iterable[Line]) -> dict[str, list[dict[str, list[str]]]]:
    result: dict[str, list[dict[str, list[str]]]] = defaultdict(list)
    for line in lines:
        if line.get("raw"):
            result[line["url"]].append(_as_lists(line["raw"]))
    return result


def _as_list(value: Any) -> list[str]:
    if isinstance(value, list):
        return value
    return [value] if value else []


def _as_lists(raw: dict[str, Any]) -> dict[str, list[str]]:
    return {name: _as_list(value) for name, value in raw.items()}


def _size(records: Iterable[dict[str, list[str]]]) -> int:
    return sum(len(values) for record in records for values in record.values())


def _agreeing(wanted: list[dict[str, list[str]]], found: list[dict[str, list[str]]]) -> int:
    """Return how many values of attributes are the same; a record that is missing has none."""
    return sum(
        len(values)
        for record, other in zip(wanted, found, strict=False)
        for name, values in record.items()
        if other.get(name, [])[: len(values)] == values
    )
