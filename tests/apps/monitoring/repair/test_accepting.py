"""Accepting a proposal publishes what people saw, as long as what it rests on is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Page, PageMembership
from clustering.services.clusters.arrivals import assign_arrivals
from clustering.services.clusters.cluster_changes import move_to_new_cluster
from clustering.services.clusters.clustering_runs import _Run
from monitoring.models import FetchedPage, Proposal, SavedPlan, SiteChange
from monitoring.services.checks.retention import FETCHED_RETENTION, delete_old_findings
from monitoring.services.repair import accepting, applying, plans, repairing
from monitoring.services.repair.accepting import publish_proposal
from monitoring.services.repair.applying import apply_proposals
from monitoring.services.repair.proposals import (
    accept_proposal,
    end_repaired_changes,
    reject_proposal,
)
from monitoring.services.repair.repairing import repair_request, repair_site
from monitoring.services.repair.saved_plans import changes_since
from rules.models import GoldenRecord, Record, Rule
from rules.services.learning.learning import learn_rule
from rules.services.review.publishing import publish_rule, retire_rule
from tests.apps.clustering.api_cast import caller
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring.monitored_shop import (
    Made,
    N,
    archive,
    check,
    redesigned,
    repair,
    rules_of,
    shop,
)
from tests.apps.rules.review_cast import person
from tests.apps.rules.shop_cast import annotate_product, extract, products_of
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import JobRun, run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NEW_STORY = (
    "<html><head><title>{0}</title></head><body><div class='s'><h1>{0}</h1><ul><li>{0}</li>"
    "<li>read on</li></ul></div></body></html>"
)


def proposed(site: Site) -> Proposal:
    return Proposal.objects.waiting().get(site=site, decision=Proposal.Decision.PROPOSED)


def accepted(proposal: Proposal) -> Job:
    """Accept a proposal and return how the job of the worker ended."""
    return run_job(accept_proposal(proposal=proposal).pk, publish_proposal)


def names_of(site: Site) -> set[str]:
    extract(site)
    return {str(record.values["name"]) for record in Record.objects.there()}


def say_other_names_of_new_pages(site: Site) -> None:
    """Store the new pages; the golden records of the rule in use move to them, with other names."""
    store(site, [redesigned(n) for n in range(1, N + 1)])
    for golden in GoldenRecord.objects.select_related("page"):
        assert golden.page.latest_snapshot is not None
        golden.snapshot = golden.page.latest_snapshot
        for record in golden.records:
            record["record"]["name"] = "Cord"
        golden.save()


def fail(*_: object, **__: object) -> None:
    raise AssertionError("it was planned anew")


@pytest.fixture
def redesign(tmp_path: Path) -> Site:
    """Return a shop for whose redesigned pages a repair is proposed."""
    site = shop()
    source = archive(tmp_path, site, redesigned)
    check(site, source)
    repair(site, source)
    return site


class TestPublishing:
    def test_the_rule_that_was_shown_is_published_and_nothing_is_planned_anew(
        self, redesign: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proposal = proposed(redesign)
        monkeypatch.setattr(repairing, "cluster_fresh", fail)
        monkeypatch.setattr(plans, "relearn", fail)
        done = accepted(proposal)

        assert Job.State.DONE == done.state, done.error
        assert {"proposed": 1, "accepted": 1} == done.result
        rule = Rule.objects.published().get()
        plan = SavedPlan.objects.get(proposal=proposal)
        assert (plan.stylesheet, plan.definition, plan.figures, plan.validation) == (
            rule.stylesheet,
            rule.definition,
            rule.figures,
            rule.validation,
        )
        xpaths = {figure["attribute"]: figure["xpath"] for figure in rule.figures}
        assert xpaths == {name: figures["xpath"] for name, figures in proposal.attributes.items()}
        assert {f"Rope {n}" for n in range(1, N + 1)} == names_of(redesign)

    def test_the_page_of_the_change_counts_while_a_proposal_is_accepted(
        self, redesign: Site, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client.force_login(person("rita", Role.REVIEWER))
        change = SiteChange.objects.get()
        shown: list[str] = []
        report = _Run.report

        def report_and_look(run: _Run, n_done: int, message: str) -> None:
            report(run, n_done, message)
            answer = client.get(reverse("site_change", args=[redesign.name, change.pk]))
            shown.append(answer.content.decode())

        monkeypatch.setattr(_Run, "report", report_and_look)
        done = accepted(proposed(redesign))

        assert Job.State.DONE == done.state, done.error
        assert f"{N} of {N}" in shown[-1]
        assert "clustering the site anew" in shown[-1]
        assert f"Cluster {redesign.name}" in shown[-1]
        assert (N, N) == (done.n_done, done.n_total)

    def test_a_rule_that_changes_constant_values_is_refused_and_the_one_in_use_stays(
        self, redesign: Site
    ) -> None:
        proposal = proposed(redesign)
        say_other_names_of_new_pages(redesign)
        refused = accepted(proposal)

        assert Job.State.FAILED == refused.state
        assert "The rule in use stays" in refused.error
        assert "values that must not change do" in refused.error
        proposal.refresh_from_db()
        assert Proposal.State.WAITING == proposal.state
        assert [(1, "published"), (2, "draft")] == rules_of(redesign)

    def test_a_refused_rule_that_a_person_publishes_ends_the_change_and_accepts_the_proposal(
        self, redesign: Site
    ) -> None:
        proposal = proposed(redesign)
        say_other_names_of_new_pages(redesign)
        accepted(proposal)
        assert 0 == end_repaired_changes()
        rob = caller("rob", Role.REVIEWER).user
        rule = Rule.objects.get(version=2)
        publish_rule(rule=rule, actor=rob, is_forced=True, reason="they are right")

        assert 1 == end_repaired_changes()
        assert [(1, "retired"), (2, "published")] == rules_of(redesign)
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end
        proposal.refresh_from_db()
        assert (Proposal.State.ACCEPTED, rob, rule) == (
            proposal.state,
            proposal.accepted_by,
            proposal.rule,
        )
        assert 0 == end_repaired_changes()

    def test_the_rule_in_use_stays_though_another_proposal_has_no_successor_for_it(
        self, redesign: Site
    ) -> None:
        refused = proposed(redesign)
        split_off = Proposal.objects.create(
            site=redesign, name="split-off", decision=Proposal.Decision.NEEDS_ANNOTATION
        )
        SavedPlan.objects.create(proposal=split_off, rule=refused.plan.rule)
        say_other_names_of_new_pages(redesign)

        def apply_both(run: JobRun) -> dict[str, str]:
            results = apply_proposals(run, redesign, [refused, split_off], {})
            return {"refusal": results[0].refusal}

        done = run_job(accept_proposal(proposal=refused).pk, apply_both)

        assert Job.State.DONE == done.state, done.error
        assert "values that must not change do" in (done.result or {})["refusal"]
        assert [(1, "published"), (2, "draft")] == rules_of(redesign)

    def test_a_reused_rule_serves_the_new_pages(self, tmp_path: Path) -> None:
        site = shop()
        repair(site, archive(tmp_path, site))
        proposal = Proposal.objects.waiting().get(decision=Proposal.Decision.REUSED)

        assert Job.State.DONE == accepted(proposal).state
        proposal.refresh_from_db()
        assert (Proposal.State.ACCEPTED, Rule.objects.get()) == (proposal.state, proposal.rule)

    def test_one_of_two_proposals_leaves_the_other_one_to_be_accepted_later(
        self, tmp_path: Path
    ) -> None:
        site = shop()
        add_rule_of_stories(site)
        stories = [
            (f"news/{n}", NEW_STORY.format(f"Story {n}").encode(), "text/html") for n in range(6)
        ]
        repair(site, archive(tmp_path, site, redesigned, more=stories))
        waiting = Proposal.objects.waiting().filter(decision=Proposal.Decision.PROPOSED)
        first, second = waiting.order_by("n_urls")

        assert Job.State.DONE == accepted(first).state
        assert [] == changes_since(second)
        assert Job.State.DONE == accepted(second).state
        assert [2, 2] == sorted(Rule.objects.published().values_list("version", flat=True))

    @pytest.mark.parametrize(
        "step",
        ["_store_pages", "_cluster_site", "_publish_rule", "_annotate", "_accept", "_draw_samples"],
    )
    def test_a_worker_killed_meanwhile_is_followed_by_one_that_ends_it(
        self, step: str, redesign: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = accept_proposal(proposal=proposed(redesign))

        def die(*_: object) -> None:
            raise SystemExit

        with monkeypatch.context() as patched:
            patched.setattr(applying, step, die)
            with pytest.raises(SystemExit):
                run_job(job.pk, publish_proposal)
        done = run_job(job.pk, publish_proposal)

        assert Job.State.DONE == done.state, done.error
        assert [(1, "retired"), (2, "published")] == rules_of(redesign)
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end
        assert {f"Rope {n}" for n in range(1, N + 1)} == names_of(redesign)


def add_rule_of_stories(site: Site) -> None:
    """Give the shop's articles a rule as well."""
    cluster = Cluster.objects.present().get(site=site, figures__url_pattern__contains="/news/")
    vertical = save_vertical(
        name="story",
        attributes=[AttributeType("headline", is_constant=True, is_mandatory=True)],
        actor=None,
    )
    assign_vertical(site=site, vertical=vertical, cluster=cluster, actor=None)
    for n in (0, 1):
        page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}news/{n}")
        assert page.latest_snapshot is not None
        Annotation.objects.create(
            page=page,
            snapshot=page.latest_snapshot,
            attribute=Attribute.objects.get(name="headline"),
            xpath="/html/body/article/h2",
            text=f"Story {n}",
        )
    publish_rule(rule=learn_rule(cluster=cluster))


def publish_another_rule(site: Site) -> None:
    rule = learn_rule(cluster=products_of(site))
    publish_rule(rule=rule, is_forced=True)


def retire(_site: Site) -> None:
    retire_rule(rule=Rule.objects.published().get(), why="nobody needs it")


def delete_rule(_site: Site) -> None:
    Rule.objects.all().delete()


def annotate_a_page(site: Site) -> None:
    annotate_product(site, 5)


def clear_an_annotation(site: Site) -> None:
    page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}p/1")
    assert page.latest_snapshot is not None
    attribute = Attribute.objects.get(name="weight")
    marks: list[AnnotatedValue] = []
    annotate(snapshot=page.latest_snapshot, attribute=attribute, marks=marks, actor=None)


def move_its_pages(site: Site) -> None:
    members = PageMembership.objects.of_cluster(products_of(site))
    pages = list(members.values_list("page", flat=True))[: N - 1]
    move_to_new_cluster(site=site, pages=pages, title="Ropes", actor=None)


def delete_archive(site: Site) -> None:
    proposal = proposed(site)
    assert proposal.job is not None
    Path(proposal.job.params["source"]).unlink()


class TestWhatItRestsOn:
    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (publish_another_rule, "@2 was published."),
            (retire, "@1 is not published any more."),
            (delete_rule, "The rule that it follows was deleted."),
            (annotate_a_page, "Some of its pages were annotated."),
            (clear_an_annotation, "Some of its pages were annotated."),
            (move_its_pages, "Most of its pages are in "),
            (delete_archive, "The archive that it was made from is gone"),
        ],
    )
    def test_what_changed_is_said_and_nothing_is_done(
        self, change: Callable[[Site], None], sentence: str, redesign: Site
    ) -> None:
        proposal = proposed(redesign)
        assert [] == changes_since(proposal)
        change(redesign)
        rules = rules_of(redesign)
        answer = caller("rob", Role.REVIEWER).post(f"proposals/{proposal.pk}/accept/")

        assert 400 == answer.status_code
        assert sentence in answer.content.decode()
        assert "Run the repair again" in answer.content.decode()
        assert rules == rules_of(redesign)
        assert Proposal.State.WAITING == proposed(redesign).state
        assert not Job.objects.filter(task="monitoring.accept_proposal").exists()

    def test_what_changes_before_the_worker_begins_is_no_less_a_reason(
        self, redesign: Site
    ) -> None:
        job = accept_proposal(proposal=proposed(redesign))
        annotate_product(redesign, 5)
        done = run_job(job.pk, publish_proposal)

        assert Job.State.FAILED == done.state
        assert "Some of its pages were annotated. Run the repair again" in done.error
        assert [(1, "published")] == rules_of(redesign)

    def test_an_archive_with_other_pages_is_not_published_from(
        self, redesign: Site, tmp_path: Path
    ) -> None:
        def renamed(n: int) -> Made:
            path, body, kind = redesigned(n)
            return path, body.replace(b"Rope", b"Cord"), kind

        archive(tmp_path, redesign, renamed)
        done = accepted(proposed(redesign))

        assert Job.State.FAILED == done.state
        assert "The pages that it was made from have changed." in done.error
        assert [(1, "published")] == rules_of(redesign)

    def test_planned_anew_it_can_be_accepted(self, redesign: Site, tmp_path: Path) -> None:
        annotate_product(redesign, 5)
        with pytest.raises(ValidationError, match="out of date"):
            accept_proposal(proposal=proposed(redesign))
        repair(redesign, archive(tmp_path, redesign, redesigned))

        assert Job.State.DONE == accepted(proposed(redesign)).state
        assert [(1, "retired"), (2, "published")] == rules_of(redesign)

    def test_a_crawl_that_brings_the_new_pages_is_no_reason_to_plan_anew(
        self, redesign: Site
    ) -> None:
        store(redesign, [redesigned(n) for n in range(1, N + 1)])
        assign_arrivals(site=redesign)
        extract(redesign)
        assert [] == changes_since(proposed(redesign))

        assert Job.State.DONE == accepted(proposed(redesign)).state
        assert ["published", "retired"] == sorted(state for _, state in rules_of(redesign))
        assert {f"Rope {n}" for n in range(1, N + 1)} == names_of(redesign)

    def test_a_decision_made_meanwhile_is_respected(self, redesign: Site) -> None:
        proposal = proposed(redesign)
        job = accept_proposal(proposal=proposal)
        reject_proposal(proposal=proposal)
        done = run_job(job.pk, publish_proposal)

        assert Job.State.FAILED == done.state
        assert "decided on the proposal meanwhile" in done.error

    def test_nobody_rejects_what_is_being_published(
        self, redesign: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proposal = proposed(redesign)
        refusals: list[str] = []

        def reject_meanwhile(*arguments: Any) -> Any:
            with pytest.raises(ValidationError) as refused:
                reject_proposal(proposal=proposal)
            refusals.extend(refused.value.messages)
            return apply_proposals(*arguments)

        monkeypatch.setattr(accepting, "apply_proposals", reject_meanwhile)
        assert Job.State.DONE == accepted(proposal).state
        proposal.refresh_from_db()
        assert (Proposal.State.ACCEPTED, None) == (proposal.state, proposal.rejected_at)
        assert "is being published this moment" in refusals[0]


class TestProposalsWithoutAPlan:
    """Those that were made before plans were saved."""

    def test_the_site_is_planned_anew(self, redesign: Site) -> None:
        SavedPlan.objects.all().delete()
        done = accepted(proposed(redesign))

        assert Job.State.DONE == done.state, done.error
        assert [(1, "retired"), (2, "published")] == rules_of(redesign)
        assert {f"Rope {n}" for n in range(1, N + 1)} == names_of(redesign)

    def test_another_plan_is_not_what_was_accepted(self, redesign: Site, tmp_path: Path) -> None:
        SavedPlan.objects.all().delete()
        archive(tmp_path, redesign)  # the shop is as it was again, so its rule serves it
        done = accepted(proposed(redesign))

        assert Job.State.FAILED == done.state
        assert "It would be planned otherwise now." in done.error
        assert [(1, "published")] == rules_of(redesign)

    def test_a_job_of_that_time_accepts_nothing(self, redesign: Site) -> None:
        source = str(getattr(proposed(redesign).job, "params", {})["source"])
        job = create_here(repair_request(site=redesign, source=source, is_accepted=True))
        Job.objects.filter(pk=job.pk).update(
            params=job.params | {"only": [proposed(redesign).name], "pages_of": None}
        )
        done = run_job(job.pk, repair_site)

        assert Job.State.FAILED == done.state
        assert "Accept the proposal again" in done.error
        assert [(1, "published")] == rules_of(redesign)


def test_plans_are_kept_until_some_days_after_the_decision(redesign: Site) -> None:
    SavedPlan.objects.update(
        made_at=SavedPlan.objects.latest("made_at").made_at - 2 * FETCHED_RETENTION
    )
    delete_old_findings()
    assert SavedPlan.objects.filter(proposal=proposed(redesign)).exists()
    for proposal in Proposal.objects.waiting():
        reject_proposal(proposal=proposal)
    delete_old_findings()

    assert not SavedPlan.objects.exists()
    assert not FetchedPage.objects.exists()
