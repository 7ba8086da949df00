"""A site's pages in clusters, written row by row: a current clustering with a site model."""

from __future__ import annotations

from typing import Any

from clustering.models import (
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    ClusterReview,
    PageMembership,
)
from vertex.core.models import Site

TITLES = {
    "product-detail": "Product detail",
    "category-list": "Category list",
    "home": "Home",
}
LINK = "/html/body[@class='page']/main[@class='content']/ul[@class='grid']/li/a[@class='tile']"


def add_clusters(site: Site) -> Clustering:
    """Put the site's stored pages into clusters and return the current clustering."""
    pages = list(site.pages.filter(state="stored").order_by("pk").values_list("pk", flat=True))
    parts = {"home": pages[:1], "category-list": pages[1:12], "product-detail": pages[12:-2]}
    clusters = {
        name: Cluster.objects.create(site=site, name=name, title=TITLES[name]) for name in TITLES
    }
    _add_clustering(
        site, "site_model", {"home": pages[:3], "product-detail": pages[3:]}, clusters, model=MODEL
    )
    current = _add_clustering(
        site,
        "auto",
        parts,
        clusters,
        nowhere=pages[-2:],
        is_current=True,
        why="Decided on 214 paths of the pages and 3 kinds of address.",
        map=[[pk, (n * 37 % 100) / 100, (n * 61 % 100) / 100] for n, pk in enumerate(pages)],
    )
    moved = parts["category-list"][:2]
    ClusterChange.objects.create(
        site=site,
        kind="move",
        cluster=clusters["product-detail"],
        detail={"pages": moved, "n_pages": len(moved)},
    )
    ClusterReview.objects.create(
        cluster=clusters["category-list"],
        clustering=current,
        verdict="mixed",
        pages=moved,
        strangers=moved[:1],
    )
    return current


MODEL: dict[str, Any] = {
    "strategy": "densest_first",
    "n_fetched": 9,
    "classes": [
        {"name": name, "members": [], "schema": [LINK]}
        for name in ("home", "product-detail", "0", "1", "2", "3", "4")
    ],
    "links": [
        {"from": "home", "to": name, "path": LINK, "n_links": 12}
        for name in ("product-detail", "0", "1", "2", "3", "4")
    ]
    + [{"from": "product-detail", "to": "home", "path": "/html/body/nav/a", "n_links": 60}],
}


def _add_clustering(
    site: Site,
    algorithm: str,
    parts: dict[str, list[int]],
    clusters: dict[str, Cluster],
    *,
    nowhere: list[int] | None = None,
    **fields: Any,
) -> Clustering:
    lost = nowhere or []
    n_pages = sum(map(len, parts.values())) + len(lost)
    clustering = Clustering.objects.create(
        site=site,
        algorithm=algorithm,
        n_pages=n_pages,
        n_sampled=n_pages,
        n_unassigned=len(lost),
        measures={"coverage": 0.91, "cohesion": 0.963, "unassigned": len(lost) / n_pages},
        evidence={"pages": n_pages, "clustered": n_pages, "links": 120, "clicks": 0},
        params={"sample": n_pages, "seed": 0},
        seconds=1.9,
        **fields,
    )
    placed = [(pk, name) for name, members in parts.items() for pk in members]
    PageMembership.objects.bulk_create(
        PageMembership(
            clustering=clustering,
            page_id=pk,
            found=clusters.get(name),
            cluster=clusters.get(name),
            distance=(n * 13 % 40) / 100,
        )
        for n, (pk, name) in enumerate([*placed, *((pk, "") for pk in lost)])
    )
    ClusterFigures.objects.bulk_create(
        ClusterFigures(
            clustering=clustering,
            cluster=clusters[name],
            group=name,
            n_pages=len(members),
            signature="72426c833c****4c",
            importance=float(len(members)),
            url_pattern=f"{site.root_url}products/outdoor/(.*)/mens/(.*)",
            cohesion=0.96,
            why="Set apart from the nearest cluster by main/h1 (100 %, there 0 %).",
            examples=members[:5],
        )
        for name, members in parts.items()
    )
    return clustering
