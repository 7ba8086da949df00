"""A demo site's pages in a cluster with a vertical and samples, ready to be annotated."""

from __future__ import annotations

from typing import Any, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Attribute, Sample, Vertical
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.models import Site
from vertex.demo import sites


class Stage(NamedTuple):
    """What there is to be annotated."""

    site: Site
    cluster: Cluster
    pages: list[Page]
    truth: dict[int, Any]  # of each page the values of its attributes


def set_annotating_stage(
    type_name: str = "product",
    *,
    site_name: str = "alpine-shop",
    n_pages: int = 12,
    n_samples: int = 6,
    attributes: int = 8,
    edition: str = "1",
    filling: str = "",
    name: str = "",
) -> Stage:
    """Store some pages of a demo site as one cluster that describes the site's vertical."""
    demo = sites.load(site_name, edition)
    site = site_of(name or f"{site_name}-demo")
    selection = [page for page in demo.pages.values() if page.type == type_name][:n_pages]
    pages = [
        page_of(site, each.path.lstrip("/"), _filled(each.body, filling)) for each in selection
    ]
    cluster = _cluster(site, type_name, pages)
    _describe(site, demo.vertical, attributes)
    _draw(cluster, pages[:n_samples])
    truth = {
        page.pk: dict(demo_page.values) for page, demo_page in zip(pages, selection, strict=True)
    }
    return Stage(site, cluster, pages, truth)


def _filled(body: bytes, filling: str) -> bytes:
    """Return a page that is larger by some text at its end."""
    return body.replace(b"</body>", filling.encode() + b"</body>")


def _cluster(site: Site, name: str, pages: list[Page]) -> Cluster:
    clustering = Clustering.objects.create(
        site=site, is_current=True, algorithm="auto", n_pages=len(pages)
    )
    cluster = Cluster.objects.create(site=site, name=name, title=name.capitalize())
    ClusterFigures.objects.create(clustering=clustering, cluster=cluster, n_pages=len(pages))
    PageMembership.objects.bulk_create(
        PageMembership(clustering=clustering, page=page, found=cluster, cluster=cluster)
        for page in pages
    )
    return cluster


def _describe(site: Site, vertical: dict[str, object], n_attributes: int) -> Vertical:
    listed = vertical["attributes"]
    assert isinstance(listed, list)
    plans = [
        AttributeType(
            each["name"], each.get("type", Attribute.Type.TEXT), is_multi=bool(each.get("multi"))
        )
        for each in listed[:n_attributes]
    ]
    saved = save_vertical(name=str(vertical["name"]), attributes=plans, actor=None)
    assign_vertical(site=site, vertical=saved, actor=None)
    return saved


def _draw(cluster: Cluster, pages: list[Page]) -> None:
    Sample.objects.bulk_create(
        Sample(
            cluster=cluster,
            page=page,
            snapshot=page.latest_snapshot,
            rank=rank,
            gain=100 / rank**2,
            scheme="weighted",
        )
        for rank, page in enumerate(pages, 1)
    )
