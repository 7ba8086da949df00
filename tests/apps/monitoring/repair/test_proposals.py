"""What people and policies decide about repairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from annotation.services.verticals.policies import change_policy
from monitoring.models import FetchedPage, Proposal, Schedule, SiteChange
from monitoring.services.checks.checking import check_request, run_checks
from monitoring.services.checks.schedules import change_schedule, make_default_schedules
from monitoring.services.repair.accepting import publish_proposal
from monitoring.services.repair.proposals import (
    accept_proposal,
    accepts_alone,
    end_repaired_changes,
    propose_repairs,
    reject_proposal,
)
from monitoring.services.repair.repairing import needs_no_person, repair_site
from rules.models import Record, Rule
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.monitoring.monitored_shop import (
    N,
    archive,
    check,
    redesigned,
    repair,
    rules_of,
    shop,
)
from tests.apps.monitoring.shop_on_host import Shop
from tests.apps.rules.shop_cast import extract
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
KINDS = Proposal.Decision


def proposed(site: Site) -> Proposal:
    return Proposal.objects.waiting().get(site=site, decision=KINDS.PROPOSED)


@pytest.fixture
def on_host(loopback: None) -> Iterator[Shop]:
    shop = Shop()
    with shop.host:
        yield shop


class TestDecisions:
    def test_one_that_is_accepted_comes_into_force_and_the_others_wait(
        self, tmp_path: Path
    ) -> None:
        site = shop()
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        repair(site, source)
        rob = caller("rob", Role.REVIEWER)
        answer = rob.post(f"proposals/{proposed(site).pk}/accept/")
        assert 202 == answer.status_code, answer.content
        done = run_job(answer.json()["id"], publish_proposal)

        assert Job.State.DONE == done.state, done.error
        proposal = Proposal.objects.get(decision=KINDS.PROPOSED)
        assert (Proposal.State.ACCEPTED, rob.user) == (proposal.state, proposal.accepted_by)
        assert [(1, "retired"), (2, "published")] == rules_of(site)
        assert not SiteChange.objects.open().exists()
        assert Proposal.objects.waiting().filter(decision=KINDS.NEEDS_ANNOTATION).exists()

    def test_a_rejected_one_is_decided_on(self, tmp_path: Path) -> None:
        site = shop()
        repair(site, archive(tmp_path, site, redesigned))
        proposal = proposed(site)
        reject_proposal(proposal=proposal, comment="wait for the shop")

        assert (Proposal.State.REJECTED, "wait for the shop") == (proposal.state, proposal.comment)
        with pytest.raises(ValidationError, match="rejected already"):
            accept_proposal(proposal=proposal)

    def test_nothing_is_published_against_the_field_test(self, tmp_path: Path) -> None:
        site = shop()
        repair(site, archive(tmp_path, site, redesigned))
        proposal = proposed(site)
        proposal.field_test = False
        with pytest.raises(ValidationError, match="fails the field test"):
            accept_proposal(proposal=proposal)

    def test_a_rule_that_somebody_publishes_ends_the_change(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path, site, redesigned))
        assert 0 == end_repaired_changes()
        rule = Rule.objects.get()
        assert rule.published_at is not None
        change = SiteChange.objects.get()
        SiteChange.objects.update(
            found_at=rule.published_at - (change.found_at - rule.published_at)
        )

        assert 1 == end_repaired_changes()
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end


class TestOverNight:
    def test_a_change_is_followed_by_a_proposal_whose_pages_are_kept(self, on_host: Shop) -> None:
        site = on_host.open()
        make_default_schedules()
        on_host.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        assert 1 == propose_repairs()
        assert 0 == propose_repairs()
        run_job(Job.objects.get(task="monitoring.heal_site").pk, repair_site)
        on_host.make = None  # the site is gone in the morning
        remaining = FetchedPage.objects.exclude(snapshot=None)
        assert N == remaining.filter(page__url__contains="/p/").count()
        done = run_job(accept_proposal(proposal=proposed(site)).pk, publish_proposal)

        assert Job.State.DONE == done.state, done.error
        assert [(1, "retired"), (2, "published")] == rules_of(site)
        extract(site)
        names = {record.values["name"] for record in Record.objects.there()}
        assert {f"Rope {n}" for n in range(1, N + 1)} == names

    def test_a_policy_may_accept_what_passes_everywhere(self, on_host: Shop) -> None:
        site = on_host.open()
        make_default_schedules()
        Schedule.objects.update(repair=Schedule.Repair.ACCEPT)
        on_host.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        propose_repairs()
        run_job(Job.objects.get(task="monitoring.heal_site").pk, repair_site)

        assert [(1, "retired"), (2, "published")] == rules_of(site)
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end

    def test_a_person_looks_at_what_is_told_by_its_looks(self) -> None:
        figures: dict[str, Any] = {"name": {"xpath": "//h1"}, "price": {"xpath": "//b"}}
        proposal = Proposal(decision=KINDS.PROPOSED, field_test=True, attributes=figures)
        assert needs_no_person(proposal)
        figures["price"]["certainty"] = 0.99
        assert not needs_no_person(proposal)


class TestSecondPerson:
    """A site may ask for a second person before a rule comes into force."""

    @pytest.mark.parametrize(
        ("publishing", "passing"),
        [
            ("anybody", ["accept", "alone"]),
            ("where_possible", ["accept", "alone"]),
            ("second", ["alone"]),
        ],
    )
    def test_it_wins_over_a_schedule_unless_that_says_otherwise(
        self, publishing: str, passing: list[str]
    ) -> None:
        site = site_of("shop")
        change_policy(site=site, publishing=publishing, second_share=10, actor=None)
        ways = [
            way
            for way in Schedule.Repair.values
            if accepts_alone(change_schedule(site=site, repair=way))
        ]

        assert passing == ways

    def test_only_an_administrator_lets_repairs_pass_without_one(self) -> None:
        site = site_of("shop")
        operator = caller("olga", Role.OPERATOR)
        body = {"every": 1, "repair": "alone"}
        refused = operator.put(f"sites/{site.name}/schedule/", body)
        allowed = caller("ada", Role.ADMINISTRATOR).put(f"sites/{site.name}/schedule/", body)
        answer = operator.put(f"sites/{site.name}/schedule/", body | {"every": 2})

        assert (400, 200, 200) == (refused.status_code, allowed.status_code, answer.status_code)
        assert "Only an administrator" in refused.content.decode()
