"""Find the cluster for the page of a list, also where a site has few pages and no clusters yet."""

from __future__ import annotations

from urllib.parse import urlsplit

from annotation.models import Annotation, Vertical
from clustering.models import Cluster, Clustering, Page, PageMembership
from clustering.services.clusters.cluster_changes import move_to_new_cluster
from rules.models import Rule
from rules.services.records.page_clusters import assign_new_pages, cluster_now
from vertex.core.services.jobs.jobs import JobFailed, JobRun

MAX_TITLE_CHARS = 80


def cluster_for(run: JobRun, page: Page, vertical: Vertical) -> Cluster:
    """Return the page's cluster; a site without clusters is clustered first.

    A page that is in none, or in one that is annotated by another vertical, gets a cluster of its
    own. Raises JobFailed, JobExists where the site is being clustered.
    """
    site = page.site
    if not Clustering.objects.current().filter(site=site).exists():
        with run.kept_alive():
            cluster_now(run, site)
    assign_new_pages(run, site)
    membership = (
        PageMembership.objects.current().filter(page=page).select_related("cluster").first()
    )
    if membership is None:
        raise JobFailed(f"{page.url} could not be put into a cluster: its bytes are gone")
    if membership.cluster is not None and not _is_of_another(membership.cluster, page, vertical):
        return membership.cluster
    change = move_to_new_cluster(
        site=site, pages=[page.pk], title=title_of(page.url), actor=run.job.created_by
    )
    return change.cluster


def title_of(url: str) -> str:
    """Return a title for the cluster of a list.

    >>> title_of("https://shop.example/en/running-shoes/?page=2")
    'List running-shoes'
    """
    parts = urlsplit(url)
    steps = [step for step in parts.path.split("/") if step]
    name = steps[-1] if steps else parts.netloc
    return f"List {name}"[:MAX_TITLE_CHARS]


def _is_of_another(cluster: Cluster, page: Page, vertical: Vertical) -> bool:
    """Return whether other pages rely on a cluster for another vertical, by rule or annotation."""
    if not PageMembership.objects.of_cluster(cluster).exclude(page=page).exists():
        return False
    if Rule.objects.filter(cluster=cluster).exclude(vertical=vertical).exists():
        return True
    of_cluster = Annotation.objects.live().of_cluster(cluster)
    of_other_pages = of_cluster.filter(attribute__isnull=False).exclude(page=page)
    return of_other_pages.exclude(attribute__vertical=vertical).exists()
