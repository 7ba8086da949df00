"""Plans that are applied, also after a worker was killed in the middle of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Sample
from annotation.services.samples.sampling import DRAW_SAMPLES
from clustering.models import Clustering
from monitoring.models import Proposal, SiteChange
from monitoring.services.repair import applying
from monitoring.services.repair.repairing import repair_request, repair_site
from rules.models import Record
from tests.apps.monitoring.monitored_shop import N, archive, check, redesigned, rules_of, shop
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Job
from vertex.core.services.jobs.jobs import JobPutOff, run_job
from vertex.core.services.jobs.requests import JobRequest, enqueue, run_here

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("step", ["_cluster_site", "_publish_rule", "_accept", "_draw_samples"])
def test_a_worker_killed_while_it_accepts_is_followed_by_one_that_ends_it(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = shop()
    source = archive(tmp_path, site, redesigned)
    check(site, source)
    n_clusterings = Clustering.objects.count()
    job = enqueue(repair_request(site=site, source=source, is_accepted=True))

    def die(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(applying, step, die)
        with pytest.raises(SystemExit):
            run_job(job.pk, repair_site)
    done = run_job(job.pk, repair_site)

    assert Job.State.DONE == done.state, done.error
    assert n_clusterings + 1 == Clustering.objects.count(), "a clustering that is there is kept"
    assert ["published"] == [state for _, state in rules_of(site) if state != "retired"]
    assert SiteChange.End.REPAIRED == SiteChange.objects.get().end
    assert {("proposed", "accepted"), ("needs_annotation", "waiting")} == set(
        Proposal.objects.values_list("decision", "state")
    ), "what was planned first is applied; nothing is planned again"
    live = Annotation.objects.live().select_related("page")
    assert {True} == {row.snapshot_id == row.page.latest_snapshot_id for row in live}
    extract(site)
    assert {f"Rope {n}" for n in range(1, N + 1)} == {
        record.values["name"] for record in Record.objects.there()
    }


def test_samples_that_were_put_off_are_drawn_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = shop()
    source = archive(tmp_path, site, redesigned)
    check(site, source)
    job = enqueue(repair_request(site=site, source=source, is_accepted=True))

    def put_off_samples(request: JobRequest, **options: Any) -> Job:
        if request.kind is DRAW_SAMPLES:
            raise JobPutOff("Waits: the database is away")
        return run_here(request, **options)

    with monkeypatch.context() as patched:
        patched.setattr(applying, "run_here", put_off_samples)
        assert Job.State.DUE == run_job(job.pk, repair_site).state
    Job.objects.filter(pk=job.pk).update(due_at=timezone.now())
    n_before = Sample.objects.count()
    done = run_job(job.pk, repair_site)

    assert Job.State.DONE == done.state, done.error
    assert n_before < Sample.objects.count()
