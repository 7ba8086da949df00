"""Plans that are applied, also after a worker was killed in the middle of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Annotation
from clustering.models import Clustering
from monitoring.models import Proposal, SiteChange
from monitoring.services.repair import applying
from monitoring.services.repair.repairing import repair_request, repair_site
from rules.models import Record
from tests.apps.monitoring.monitored_shop import N, archive, check, redesigned, rules_of, shop
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Job
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import enqueue

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
