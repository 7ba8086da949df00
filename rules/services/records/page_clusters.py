"""Assign pages to clusters before rules run on them; a site of few pages is clustered for that."""

from __future__ import annotations

from contextlib import suppress

from clustering.models import Clustering
from clustering.services.clusters.arrivals import assign_arrivals, is_outgrown
from clustering.services.clusters.clusterings import reclustering_request
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobExists, JobFailed, JobNotClaimed, JobRun
from vertex.core.services.jobs.requests import run_here


def assign_new_pages(run: JobRun, site: Site) -> None:
    """Assign the pages that came since the current clustering to its clusters.

    A clustering that was made of very few pages is made anew first, unless that fails or
    is under way.
    """
    current = Clustering.objects.current().filter(site=site).first()
    with run.kept_alive():
        if current is not None and is_outgrown(current):
            with suppress(JobFailed, JobExists, JobNotClaimed):
                cluster_now(run, site)
        assign_arrivals(site=site)


def cluster_now(run: JobRun, site: Site) -> None:
    """Cluster a site by a job of its own, done within this one.

    Raises JobFailed, and JobExists or JobNotClaimed where the site is being clustered.
    """
    try:
        run_here(reclustering_request(site=site), actor=run.job.created_by)
    except JobFailed as error:
        raise JobFailed(f"the pages of {site.name} could not be clustered: {error}") from None
