"""A site that is built anew at new addresses is repaired by the values of its things."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustering.models import Page
from monitoring.models import Proposal, SavedPlan, SiteChange
from monitoring.services.repair.accepting import publish_proposal
from monitoring.services.repair.proposals import accept_proposal
from monitoring.services.repair.repairing import repair_request, repair_site
from rules.models import Record, Rule
from tests.apps.clustering.demo_sites import store
from tests.apps.clustering.fake_host import Answer
from tests.apps.monitoring.monitored_shop import (
    Made,
    N,
    archive,
    check,
    redesigned,
    repair,
    shop,
)
from tests.apps.monitoring.shop_on_host import Shop
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NAMES = {f"Rope {n}" for n in range(1, N + 1)}


def moved(n: int) -> Made:
    path, body, kind = redesigned(n)
    return path.replace("p/", "things/"), body, kind


def of_others(n: int) -> Made:
    """Return a page like the new ones, with none of the things of before."""
    path, body, kind = moved(n)
    return path, body.replace(b"Rope", b"Kettle").replace(b" g<", b" kg<"), kind


def let_weights_stay(site: Site) -> None:
    """Let the weights of things be constant as well: it takes two values to know a thing by."""
    rule = Rule.objects.get()
    rule.schema = [
        line | {"is_constant": line["is_constant"] or line["name"] == "weight"}
        for line in rule.schema
    ]
    rule.save(update_fields=["schema"])
    extract(site)


def names_at(part: str) -> set[str]:
    records = Record.objects.there().filter(page__url__contains=part)
    return {str(values["name"]) for values in records.values_list("values", flat=True)}


def test_the_rule_is_learnt_from_the_things_at_their_new_addresses(tmp_path: Path) -> None:
    site = shop()
    let_weights_stay(site)
    check(site, archive(tmp_path / "before", site, redesigned))
    assert SiteChange.objects.open().exists()
    repair(site, archive(tmp_path, site, moved), accept=True)

    proposal = Proposal.objects.get(decision=Proposal.Decision.PROPOSED)
    plan = SavedPlan.objects.get(proposal=proposal)
    addresses = [*plan.urls, *plan.annotated, *plan.unannotated, *plan.values, *proposal.evidence]
    assert plan.annotated
    assert [] == [url for url in addresses if "/p/" in url]
    assert Proposal.State.ACCEPTED == proposal.state
    before = dict(Page.objects.filter(url__contains="/p/").values_list("url", "latest_snapshot"))
    assert all(before.values())
    assert not Page.objects.filter(
        url__contains="/p/", latest_snapshot__final_url__contains="things"
    )
    extract(site)
    assert NAMES == names_at("/things/")
    assert 1 == Rule.objects.published().count()
    assert SiteChange.End.REPAIRED == SiteChange.objects.get().end


def test_other_things_bear_no_witness(tmp_path: Path) -> None:
    site = shop()
    let_weights_stay(site)
    repair(site, archive(tmp_path, site, of_others))
    assert not Proposal.objects.filter(decision=Proposal.Decision.PROPOSED).exists()


def test_over_the_network_what_was_found_last_is_looked_at_where_the_known_pages_are_gone(
    loopback: None,
) -> None:
    host = Shop()
    with host.host:
        site = host.open()
        let_weights_stay(site)
        host.make, host.status = None, 404
        pages = [moved(n) for n in range(1, N + 1)]
        for path, body, kind in pages:
            host.routes[f"/{path}"] = Answer(body, headers={"Content-Type": kind})
        store(site, pages)
        job = create_here(repair_request(site=site, is_patient=False))
        done = run_job(job.pk, repair_site)
        assert Job.State.DONE == done.state, done.error
        proposal = Proposal.objects.get(decision=Proposal.Decision.PROPOSED)
        accepted = run_job(accept_proposal(proposal=proposal).pk, publish_proposal)

    assert Job.State.DONE == accepted.state, accepted.error
    extract(site)
    assert NAMES == names_at("/things/")
