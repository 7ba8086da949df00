"""Checks and repair on a demo site: small drift, then a redesign that leaves one type alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml.html import document_fromstring

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Page, PageMembership
from rules.services.learning.learning import learn_rule
from rules.services.records.extracting import stored_lines
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.monitoring.monitored_shop import check, repair
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Site
from vertex.demo import sites
from vertex.demo.sites import DemoPage

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NAME = "town-guide"
DESCRIBED = "listing"
N_DESCRIBED, N_OTHER = 36, 9  # pages of the described type, and of each other one
KEPT = ("name", "telephone", "streetAddress", "postalCode", "ratingValue")


def some_pages() -> list[DemoPage]:
    pages = sites.load(NAME).pages.values()
    return [
        page
        for kind in sorted({page.type for page in pages})
        for page in [one for one in pages if one.type == kind][
            : N_DESCRIBED if kind == DESCRIBED else N_OTHER
        ]
    ]


def page_of(site: Site, demo: DemoPage) -> Page | None:
    return (
        Page.objects.select_related("latest_snapshot")
        .filter(site=site, url=site.root_url + demo.path.lstrip("/"))
        .first()
    )


def values_of(demo: DemoPage) -> dict[str, tuple[str, str] | None]:
    """Return what to annotate: values where the page is of the described type, else the heading."""
    if demo.type == DESCRIBED:
        return {
            name: (demo.places[name][0], str(demo.values[name])) if demo.values.get(name) else None
            for name in KEPT
        }
    tree = document_fromstring(demo.body)
    heading = next(tree.iter("h1"))
    return {
        "name": (
            tree.getroottree().getpath(heading),
            " ".join("".join(map(str, heading.itertext())).split()),
        )
    }


def annotate(site: Site, type_: str, n: int) -> Cluster:
    """Annotate so many pages of a type and return the cluster in which most of its pages are."""
    demos = [demo for demo in sites.load(NAME).pages.values() if demo.type == type_]
    stored = [(demo, page_of(site, demo)) for demo in demos]
    pages = [(demo, page) for demo, page in stored if page is not None]
    for demo, page in pages[:n]:
        assert page.latest_snapshot is not None
        for name, said in values_of(demo).items():
            Annotation.objects.create(
                page=page,
                snapshot=page.latest_snapshot,
                attribute=Attribute.objects.get(name=name),
                kind=Annotation.Kind.VALUE if said else Annotation.Kind.ABSENT,
                xpath=said[0] if said else "",
                text=said[1] if said else "",
            )
    membership = PageMembership.objects.current().select_related("cluster").get(page=pages[0][1])
    assert membership.cluster is not None
    return membership.cluster


@pytest.fixture
def guide() -> Site:
    """Return a site with rules for a type that the redesign changes and a type that it keeps."""
    site = site_of(NAME)
    store(site, [(page.path, page.body, page.content_type) for page in some_pages()])
    kinds = {attribute["name"]: attribute for attribute in sites.load(NAME).vertical["attributes"]}
    vertical = save_vertical(
        name="place",
        attributes=[
            AttributeType(
                name,
                kinds[name]["type"],
                is_constant=kinds[name]["constant"],
                is_mandatory=name == "name",
            )
            for name in KEPT
        ],
        actor=None,
    )
    assign_vertical(site=site, vertical=vertical, actor=None)
    cluster(site)
    for type_ in (DESCRIBED, sites.load(NAME).untouched):
        publish_rule(rule=learn_rule(cluster=annotate(site, type_, 3)))
    return site


def archive(folder: Path, site: Site, edition: str) -> str:
    """Write an edition of the same pages, and return the manifest."""
    manifest = sites.load(NAME, edition).write(folder / edition, site.root_url.rstrip("/"))
    urls = {site.root_url + page.path.lstrip("/") for page in some_pages()}
    lines = [line for line in manifest.read_text().splitlines() if json.loads(line)["url"] in urls]
    manifest.write_text("\n".join(lines))
    return str(manifest)


def test_drift_is_no_change_and_a_redesign_is_repaired(guide: Site, tmp_path: Path) -> None:
    drift = check(guide, archive(tmp_path, guide, "1b"))[1]
    lines, redesign = check(guide, archive(tmp_path, guide, "2"))

    assert ([], False) == (drift["broken"], drift["site_changed"])
    assert redesign["site_changed"]
    (broken,) = redesign["broken"]
    # The redesign dropped some pages.
    reached = [line for line in lines if line.get("why") != "missing"]
    assert {"changed"} == {line["outcome"] for line in reached if line["cluster"] == broken}
    assert {True} == {line["field_test"] for line in reached if line["cluster"] != broken}

    healed = repair(guide, archive(tmp_path, guide, "2"), accept=True)
    decisions = [line["decision"] for line in healed if line["from_cluster"]]
    extract(guide)

    assert ["proposed", "reused"] == sorted(decisions)
    truth = sites.load(NAME, "2").pages
    result = {str(line["url"]): line["record"] for line in stored_lines(guide)}
    pages = [
        truth[page.path] for page in some_pages() if page.type == DESCRIBED and page.path in truth
    ]
    right = [
        page.values[name] == result[guide.root_url + page.path.lstrip("/")].get(name)
        for page in pages
        for name in KEPT
        if page.values.get(name)
    ]
    assert len(right) > 100
    assert sum(right) / len(right) >= 0.97
