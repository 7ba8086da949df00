"""A small shop whose pages can be annotated."""

from __future__ import annotations

from typing import Any

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute, Vertical
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Clustering, Page, PageMembership
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.models import Site


def shop(**settings: Any) -> Site:
    """Return a site that describes products."""
    site = site_of("shop", **settings)
    product = save_vertical(
        name="product",
        attributes=[
            AttributeType("name"),
            AttributeType("price", "price"),
            AttributeType("colour", is_multi=True),
            AttributeType("image", "image"),
        ],
        actor=None,
    )
    assign_vertical(site=site, vertical=product, actor=None)
    return site


def product_page(
    site: Site, path: str, name: str = "Runner", price: str = "25 EUR", more: str = ""
) -> Page:
    body = (
        f"<html><body><h1>{name}</h1><p>Price: <b>{price}</b></p><img "
        f"src='/{path}.png'>{more}</body></html>"
    )
    return page_of(site, path, body.encode())


def cluster_of(site: Site, name: str, pages: list[Page]) -> Cluster:
    """Return a cluster that has the pages in the site's current clustering."""
    clustering, _ = Clustering.objects.get_or_create(site=site, is_current=True, algorithm="auto")
    cluster = Cluster.objects.create(site=site, name=name, title=name)
    clustering.figures.create(cluster=cluster, n_pages=len(pages))
    PageMembership.objects.bulk_create(
        PageMembership(clustering=clustering, page=page, found=cluster, cluster=cluster)
        for page in pages
    )
    return cluster


def attribute(name: str) -> Attribute:
    return Attribute.objects.get(vertical=Vertical.objects.get(name="product"), name=name)


def said(page: Page, name: str | None) -> list[tuple[str, str, str]]:
    """Return kind, XPath and text of what holds for an attribute on a page."""
    rows = (
        Annotation.objects.live().filter(page=page, attribute__name=name)
        if name
        else (Annotation.objects.live().filter(page=page, attribute=None))
    )
    return list(rows.order_by("position").values_list("kind", "xpath", "text"))
