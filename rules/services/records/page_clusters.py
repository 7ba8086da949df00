"""Assign pages to clusters before rules run on them; a site with few pages is clustered for that."""

from __future__ import annotations

from contextlib import suppress

from clustering.models import Clustering
from clustering.services.clusters.arrivals import assign_arrivals, is_outgrown
from clustering.services.clusters.clusterings import cluster_site, request_clustering
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, JobFailed, JobRun


def assign_new_pages(run: JobRun, site: Site) -> None:
    """Assign the pages that came since the current clustering to its clusters.

    A clustering that was made of very few pages is made anew first, unless that fails or is under way.
    """
    current = Clustering.objects.current().filter(site=site).first()
    with run.kept_alive():
        if current is not None and is_outgrown(current):
            with suppress(JobFailed, JobExists):
                cluster_now(run, site)
        assign_arrivals(site=site)


def cluster_now(run: JobRun, site: Site) -> None:
    """Cluster a site by a job of its own, done within this one. Raises JobFailed, JobExists."""
    job = request_clustering(site=site, actor=run.job.created_by, rings=False)
    done = jobs.run_job(job.pk, cluster_site)
    if done.state != Job.State.DONE:
        raise JobFailed(
            f"the pages of {site.name} could not be clustered: {done.error or done.state}"
        )
