"""Find the cluster whose rule is to serve one page, also where a site has few pages and no clusters yet."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

from annotation.models import Annotation, Vertical
from clustering.models import Cluster, Clustering, Page, PageMembership
from clustering.services.clusters.arrivals import assign_arrivals, is_outgrown
from clustering.services.clusters.cluster_changes import move_to_new_cluster
from clustering.services.clusters.clusterings import cluster_site, request_clustering
from rules.models import Rule
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, JobFailed, JobRun

LONGEST_TITLE = 80


def cluster_for(run: JobRun, page: Page, vertical: Vertical) -> Cluster:
    """Return the page's cluster; a site without clusters is clustered first.

    A page that is in none, or in one that is annotated by another vertical, gets a cluster of its own.
    Raises JobFailed, JobExists where the site is being clustered.
    """
    site = page.site
    if not Clustering.objects.current().filter(site=site).exists():
        with run.kept_alive():
            _cluster(site, run)
    settle_pages(run, site)
    place = PageMembership.objects.current().filter(page=page).select_related("cluster").first()
    if place is None:
        raise JobFailed(f"{page.url} could not be put into a cluster: its bytes are gone")
    if place.cluster is not None and not _is_of_another(place.cluster, page, vertical):
        return place.cluster
    change = move_to_new_cluster(
        site=site, pages=[page.pk], title=title_of(page.url), actor=run.job.created_by
    )
    return change.cluster


def settle_pages(run: JobRun, site: Site) -> None:
    """Put the pages that came since into their clusters; a clustering of very few pages is made anew."""
    current = Clustering.objects.current().filter(site=site).first()
    with run.kept_alive():
        if current is not None and is_outgrown(current):
            with suppress(JobFailed, JobExists):
                _cluster(site, run)
        assign_arrivals(site=site)


def title_of(url: str) -> str:
    """Return a title for the cluster of a list.

    >>> title_of("https://shop.example/en/running-shoes/?page=2")
    'List running-shoes'
    """
    steps = [step for step in urlsplit(url).path.split("/") if step]
    return f"List {steps[-1] if steps else urlsplit(url).netloc}"[:LONGEST_TITLE]


def _cluster(site: Site, run: JobRun) -> None:
    """Cluster a site by a job of its own, done here."""
    job = request_clustering(site=site, actor=run.job.created_by, rings=False)
    done = jobs.run_job(job.pk, cluster_site)
    if done.state != Job.State.DONE:
        raise JobFailed(
            f"the pages of {site.name} could not be clustered: {done.error or done.state}"
        )


def _is_of_another(cluster: Cluster, page: Page, vertical: Vertical) -> bool:
    """Say whether other pages rely on a cluster for another vertical, by its rules or their annotations."""
    if not PageMembership.objects.current().filter(cluster=cluster).exclude(page=page).exists():
        return False
    if Rule.objects.filter(cluster=cluster).exclude(vertical=vertical).exists():
        return True
    said = (
        Annotation.objects.live()
        .of_cluster(cluster)
        .filter(attribute__isnull=False)
        .exclude(page=page)
    )
    return said.exclude(attribute__vertical=vertical).exists()
