"""The clustering a site works with: held while its clusters are changed, and what it found."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ValidationError
from django.db import connection

from clustering.algorithms.published import keyclus
from clustering.models import Cluster, Clustering, PageMembership
from vertex.core.models import Site

# PostgreSQL knows a lock of this kind by two numbers: what is locked, here clusters, and of
# which site.
CLUSTERS: Final = 1


def lock_clusters(site: int) -> None:
    """Wait until nobody else changes a site's clusters; others wait until the transaction ends.

    The row of the site is no such lock: what a crawl stores is counted there, and one change of
    many pages would hold up all crawls of a process. On SQLite one transaction writes at a time.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [CLUSTERS, site])


def locked_clustering(site: Site) -> Clustering:
    """Lock a site's clusters and its current clustering until the transaction ends; return that.

    Whoever changes clusters takes the two locks in this order. Raises ValidationError where there
    is none.
    """
    lock_clusters(site.pk)
    rows = Clustering.objects.select_for_update(no_key=True).without_model()
    clustering = rows.filter(site=site, is_current=True).first()
    if clustering is None:
        raise ValidationError(f"{site.name} has no clusters yet; cluster the site first")
    return clustering


def has_pages(cluster: Cluster, *, at_least: int = 1) -> bool:
    """Return whether a cluster has so many pages in its site's current clustering."""
    pages = PageMembership.objects.of_cluster(cluster).values_list("page", flat=True)
    return len(pages[:at_least]) == at_least


def key_paths_of(site: int) -> list[str]:
    """Return the key paths of a site's clustering, the best first; none unless it is KeyClus's."""
    by_keyclus = Clustering.objects.current().filter(site=site, algorithm=keyclus.CLUSTERER.name)
    key_paths = by_keyclus.values_list("model__key_paths", flat=True).first()
    return [key_path["path"] for key_path in key_paths or []]
