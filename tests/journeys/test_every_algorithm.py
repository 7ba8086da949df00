"""A site goes the whole way, from its pages to a repair, whichever algorithm clusters it."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.models import PageMembership
from vertex.core.models import Site
from vertex.demo import sites
from vertex.demo.demo import main_cluster
from vertex.demo.sites import DemoPage
from vertex.demo.sites.site import annotation_lines

pytestmark = pytest.mark.django_db
NAME, DESCRIBED = "town-guide", "listing"
ROOT = "https://town-guide.example"
# Pages of the described type, of the lists that link to them, and of each other type.
N_DESCRIBED, N_LISTS, N_OTHER = 40, 30, 8
N_ANNOTATED = 3
# Where all pages of the redesign are in one cluster, only the fields that are surely found again
# are accepted.
LEAST_REPAIRED_SHARE = {"pq_grams": 0.5}
KEPT = ("name", "telephone", "streetAddress", "postalCode", "ratingValue")  # after the redesign


def run(command: str, *arguments: str) -> list[dict[str, Any]]:
    """Run a command and return its lines."""
    stdout = StringIO()
    call_command(command, *arguments, stdout=stdout, stderr=StringIO())
    return [json.loads(line) for line in stdout.getvalue().splitlines()]


def some_pages() -> list[DemoPage]:
    n_by_type: Counter[str] = Counter()
    some = []
    for page in sites.load(NAME).pages.values():
        n_by_type[page.type] += 1
        if n_by_type[page.type] <= {DESCRIBED: N_DESCRIBED, "list": N_LISTS}.get(
            page.type, N_OTHER
        ):
            some.append(page)
    return some


def url_of(page: DemoPage) -> str:
    return ROOT + page.path


def archive(folder: Path, edition: str) -> str:
    """Write the pages as they are in an edition, and return the manifest."""
    manifest = sites.load(NAME, edition).write(folder / edition, ROOT)
    urls = {url_of(page) for page in some_pages()}
    lines = [line for line in manifest.read_text().splitlines() if json.loads(line)["url"] in urls]
    manifest.write_text("\n".join(lines))
    return str(manifest)


def stored_site(folder: Path) -> Site:
    """Add the site with its vertical, pages and search log."""
    demo = sites.load(NAME)
    attributes = [
        attribute | {"mandatory": attribute["name"] == "name"}
        for attribute in demo.vertical["attributes"]
        if attribute["name"] in KEPT
    ]
    vertical = folder / "vertical.json"
    vertical.write_text(json.dumps({"name": "place", "attributes": attributes}))
    log = folder / "search-log.tsv"
    log.write_text(demo.search_log(ROOT))
    run("load_vertical", str(vertical))
    run("add_site", NAME, "--url", f"{ROOT}/", "--vertical", "place")
    run("import_pages", NAME, archive(folder, "1"))
    run("import_search_log", NAME, str(log))
    return Site.objects.get(name=NAME)


def annotation_file(folder: Path, urls: set[str]) -> str:
    """Write what is true of the first things among some pages, and return the file."""
    things = [page for page in some_pages() if page.values and url_of(page) in urls]
    lines = [
        {"url": url_of(page)} | line
        for page in things[:N_ANNOTATED]
        for line in annotation_lines(page)
        if line["attribute"] in KEPT
    ]
    file = folder / "annotations.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


def urls_of(site: Site, cluster: str) -> set[str]:
    members = PageMembership.objects.of_site(site).filter(cluster__name=cluster)
    return set(members.values_list("page__url", flat=True))


def true_values(edition: str, urls: set[str]) -> set[tuple[str, str, str]]:
    """Return address, attribute and value of all things among some pages."""
    pages = sites.load(NAME, edition).pages.values()
    return {
        (url_of(page), name, str(page.values[name]))
        for page in pages
        if url_of(page) in urls
        for name in KEPT
        if page.values.get(name)
    }


def values_of(lines: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {
        (line["url"], name, str(value))
        for line in lines
        for name, value in line.get("record", {}).items()
    }


def share_of_right(edition: str, lines: list[dict[str, Any]]) -> float:
    """Return how many of the values are given that things show which a rule serves."""
    expected = true_values(edition, {line["url"] for line in lines if line.get("rule")})
    assert expected
    return len(expected & values_of(lines)) / len(expected)


@pytest.mark.parametrize("algorithm", CLUSTERERS)
def test_from_pages_to_a_repair(algorithm: str, tmp_path: Path) -> None:
    site = stored_site(tmp_path)
    run("cluster_site", NAME, "--algorithm", algorithm)
    cluster = main_cluster(site)
    assert cluster is not None
    urls = urls_of(site, cluster.name)
    assert run("draw_samples", NAME, "--cluster", cluster.name)
    run("import_annotations", NAME, annotation_file(tmp_path, urls))
    run("learn_rules", NAME, "--cluster", cluster.name)

    records = run("extract_records", NAME)
    run("export_rules", NAME, "--output", str(tmp_path / "bundle"))
    of_bundle = run("extract_bundle", str(tmp_path / "bundle"), archive(tmp_path, "1"))

    of_cluster = {line["url"] for line in records if line["cluster"] == cluster.name}
    assert urls == of_cluster
    assert all(line["rule"] for line in records if line["url"] in of_cluster)
    assert share_of_right("1", records) > 0.99
    assert true_values("1", urls) & values_of(records) <= values_of(of_bundle)

    *pages, verdict = run("run_checks", NAME, "--source", archive(tmp_path, "1"))

    assert {"ok"} == {page["outcome"] for page in pages}
    assert (False, []) == (verdict["site_changed"], verdict["broken"])

    plans = run("heal_site", NAME, "--source", archive(tmp_path, "2"), "--accept")
    served = [plan for plan in plans if plan["decision"] in {"reused", "proposed"}]
    described = {url for url, _, _ in true_values("2", urls)}
    planned = described & {url for plan in served for url in plan["urls"]}

    assert {cluster.name} == {plan["from_cluster"] for plan in served}
    assert len(planned) > 0.5 * len(described)
    repaired = run("extract_records", NAME)
    values = {(url, name, value) for url, name, value in values_of(repaired) if url in described}
    least = LEAST_REPAIRED_SHARE.get(algorithm, 0.95)

    assert {value for value in values if value[1] in KEPT} <= true_values("2", urls)
    assert share_of_right("2", repaired) > least
