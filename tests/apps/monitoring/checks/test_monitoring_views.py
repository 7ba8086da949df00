"""Monitoring in the browser: the overview, a site, its checks, how it is watched, the history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from monitoring.models import (
    Alert,
    Channel,
    CheckedPage,
    Coverage,
    Proposal,
    Schedule,
    SiteThresholds,
)
from monitoring.services.notices.alerts import settle_alert
from monitoring.services.notices.trial_notices import try_channel
from monitoring.views.checks.overview_rows import CAUSES
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.monitoring.watched_sites import changed, checked, ruled, watched
from tests.apps.rules.review_cast import person
from vertex.core.models import Job, Membership, Role
from vertex.core.services.jobs.jobs import run_job

pytestmark = pytest.mark.django_db
MOST_QUERIES = 34
HTMX = {"HX-Request": "true"}


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(person(role.value, role))
    return client


@pytest.fixture
def ops() -> Client:
    return client_of(Role.OPERATOR)


@pytest.fixture
def at_noon() -> Iterator[None]:
    """Stop the clock at noon, so that 1.01 and 1.2 days ago are the same day."""
    noon = timezone.localtime().replace(hour=12, minute=0, second=0, microsecond=0)
    with time_machine.travel(noon, tick=False):
        yield


def text(client: Client, name: str, *args: Any, status: int = 200, **query: Any) -> str:
    answer = client.get(reverse(name, args=args), query)
    assert status == answer.status_code
    return answer.content.decode()


class TestOverview:
    def test_says_what_to_do_where_there_is_nothing(self, ops: Client) -> None:
        assert "Nothing to watch yet" in text(ops, "monitoring")
        assert "No extraction of the last six weeks" in text(ops, "coverage_chart")
        assert "No rule is published" in text(ops, "monitoring_work")

    def test_groups_alerts_by_their_cause_and_leads_to_the_change(self, ops: Client) -> None:
        change = changed(watched("shop"))
        settle_alert(
            site=watched("town"), kind=Alert.Kind.UNREACHABLE, text="12 of 12 cannot be reached"
        )
        page = text(ops, "monitoring")

        assert page.index("Site changed") < page.index("12 of 12 cannot be reached")
        assert reverse("site_change", args=["shop", change.pk]) in page

    @pytest.mark.usefixtures("at_noon")
    def test_a_strip_letters_each_day_by_its_worst(self, ops: Client) -> None:
        site = watched("shop", days=2)
        checked(site, 1.2, is_broken=True)
        page = text(ops, "monitoring")

        assert 'aria-label="Last 28 days: 1 as it was, 1 site changed, 26 not checked"' in page

    @pytest.mark.parametrize(
        ("shown", "name"),
        [("changed", "shop"), ("unreachable", "town"), ("unwatched", "wild"), ("watched", "calm")],
    )
    def test_sites_are_narrowed_by_health(self, ops: Client, shown: str, name: str) -> None:
        changed(watched("shop"))
        settle_alert(site=watched("town"), kind=Alert.Kind.UNREACHABLE, text="down")
        watched("calm")
        site_of("wild")
        page = text(ops, "monitoring", show=shown).partition('id="sites-heading"')[2]

        assert [name] == [
            each
            for each in ("shop", "town", "wild", "calm")
            if f">{each}</a>" in page.partition("coverage-heading")[0]
        ]

    def test_shows_nothing_of_sites_that_are_not_ones_own(self) -> None:
        own, other = watched("shop"), watched("secret-shop")
        changed(other)
        client = Client()
        user = person("vic")
        Membership.objects.all().delete()
        Membership.objects.create(user=user, site=own, role=Role.VIEWER)
        client.force_login(user)

        for name in ("monitoring", "monitoring_work", "site_changes", "monitoring_history"):
            assert "secret-shop" not in text(client, name)

    def test_every_kind_of_alert_has_its_cause_in_words(self) -> None:
        assert set(Alert.Kind) == set(CAUSES)

    def test_asks_as_often_for_many_sites_as_for_few(self, ops: Client) -> None:
        changed(watched("shop"))
        with CaptureQueriesContext(connection) as few:
            text(ops, "monitoring")
        for number in range(8):
            changed(watched(f"shop-{number}"))
        with CaptureQueriesContext(connection) as many:
            text(ops, "monitoring")

        assert len(many) <= min(len(few) + 1, MOST_QUERIES)

    def test_the_coverage_chart_marks_site_changes(self, ops: Client) -> None:
        change = changed(watched("shop"))
        page = text(ops, "coverage_chart")

        assert "90.0 %" in page
        assert (
            f'href="{reverse("site_change", args=["shop", change.pk])}" class="chart-mark"' in page
        )

    def test_figures_of_the_work(self, ops: Client) -> None:
        changed(watched("shop"))
        Job.objects.create(
            task="x",
            queue="check",
            title="Check shop",
            state="done",
            n_done=7,
            finished_at=timezone.now(),
        )
        page = text(ops, "monitoring_work")

        assert "1 site change found" in page
        assert "up to a week" in page


class TestAlerts:
    def test_one_is_taken_up(self, ops: Client) -> None:
        changed(watched("shop"))
        alert = Alert.objects.get()
        answer = ops.post(
            reverse("acknowledge_alert", args=["shop", alert.pk]), headers=HTMX
        ).content.decode()

        assert "Taken up" in answer
        assert "operator" == str(Alert.objects.get().acknowledged_by)

    def test_one_is_snoozed_for_a_day(self, ops: Client) -> None:
        changed(watched("shop"))
        ops.post(reverse("snooze_alert", args=["shop", Alert.objects.get().pk]))

        until = Alert.objects.get().snoozed_until
        assert until is not None
        assert timedelta(hours=23) < until - timezone.now() <= timedelta(hours=24)

    def test_a_change_is_not_ended_by_hand(self, ops: Client) -> None:
        changed(watched("shop"))
        address = reverse("release_alert", args=["shop", Alert.objects.get().pk])
        assert "is over when its cause is" in ops.post(address, headers=HTMX).content.decode()
        assert Alert.objects.open().exists()

    def test_viewers_only_look(self) -> None:
        changed(watched("shop"))
        viewer = client_of(Role.VIEWER)
        assert "data-act=" not in text(viewer, "monitoring")
        assert (
            403
            == viewer.post(
                reverse("snooze_alert", args=["shop", Alert.objects.get().pk])
            ).status_code
        )


class TestSite:
    def test_a_repair_that_cannot_be_accepted_leads_to_annotating(self) -> None:
        site, reviewer = watched("shop"), client_of(Role.REVIEWER)
        repair = Proposal.objects.create(site=site, name="products", decision="proposed")
        assert "Publish the rule" in text(reviewer, "site_monitoring", "shop")

        Proposal.objects.filter(pk=repair.pk).update(field_test=False)
        shown = text(reviewer, "site_monitoring", "shop")
        assert "Publish the rule" not in shown
        assert f'href="{reverse("annotate_site", args=["shop"])}">Annotate</a>' in shown

    def test_says_what_is_missing_before_a_rule_is_published(self, ops: Client) -> None:
        site_of("shop")
        assert "Nothing to check yet" in text(ops, "site_monitoring", "shop")

    def test_shows_clusters_over_checks_and_the_open_change(self, ops: Client) -> None:
        change = changed(watched("shop"))
        page = text(ops, "site_monitoring", "shop")

        assert (
            'aria-label="redesigned: of 12 bellwethers 100% fail the shingle test, '
            '100% the field test"' in page
        )
        assert reverse("site_change", args=["shop", change.pk]) in page
        assert "Check now" in page

    def test_shows_bellwethers_one_by_one(self, ops: Client) -> None:
        site = watched("shop", days=1)
        cluster = site.clusters.get()
        page = page_of(site, "p/1")
        check = checked(site)
        CheckedPage.objects.create(
            check_run=check, cluster=cluster, page=page, outcome="unreachable", why="forbidden"
        )
        assert "not reached: forbidden" in text(ops, "bellwethers", "shop", cluster="products")
        assert "No page of this cluster" in text(ops, "bellwethers", "shop", cluster="none\0")

    def test_a_check_is_asked_for(self, ops: Client) -> None:
        watched("shop")
        ops.post(reverse("check_site", args=["shop"]))
        assert "monitoring.run_checks" == Job.objects.latest("pk").task
        assert "Check shop" in text(ops, "site_monitoring", "shop")

    def test_the_site_itself_tells_of_its_checks(self, ops: Client) -> None:
        watched("shop")
        assert "12/12" in text(ops, "site", "shop")

    def test_one_that_is_away_may_have_moved_and_is_repaired(self, ops: Client) -> None:
        site = watched("shop")
        assert "Did its addresses change?" not in text(ops, "site_monitoring", "shop")
        settle_alert(site=site, kind=Alert.Kind.UNREACHABLE, text="12 of 12 cannot be reached")
        assert "Did its addresses change?" in text(ops, "site_monitoring", "shop")
        assert "Did its addresses change?" not in text(
            client_of(Role.VIEWER), "site_monitoring", "shop"
        )

        ops.post(reverse("repair_site", args=["shop"]))

        assert "monitoring.heal_site" == Job.objects.latest("pk").task


class TestCheck:
    def test_shows_each_page_with_its_tests_and_both_verdicts(self, ops: Client) -> None:
        site = watched("shop", days=1)
        check = checked(site, is_broken=True)
        failed = [{"attribute": "name", "was": "Rope <1>", "now": None, "kind": "null_extraction"}]
        CheckedPage.objects.create(
            check_run=check,
            cluster=site.clusters.get(),
            page=page_of(site, "p/1"),
            outcome="changed",
            shingle_test=False,
            field_test=False,
            failed=failed,
        )
        page = text(ops, "check", "shop", check.pk)

        assert "Rope &lt;1&gt;" in page
        assert "comes out empty" in page
        assert "the same as ours" in page
        assert "None of its pages is like this" in text(
            ops, "check", "shop", check.pk, outcome="ok"
        )

    def test_one_of_another_site_is_not_there(self, ops: Client) -> None:
        check = checked(watched("shop"))
        site_of("town")
        text(ops, "check", "town", check.pk, status=404)


class TestWatching:
    SCHEDULE = {
        "every": 12,
        "unit": "hours",
        "window_start": "22:00",
        "window_end": "06:00",
        "time_zone": "Europe/Vienna",
        "repair": "accept",
        "is_active": "on",
    }

    def test_a_schedule_is_saved(self, ops: Client) -> None:
        watched("shop")
        ops.post(reverse("save_schedule", args=["shop"]), self.SCHEDULE)
        assert "every 12 hours, 22:00 to 06:00 Europe/Vienna" == str(Schedule.objects.get())

    def test_a_wrong_one_says_why_and_keeps_what_was_entered(self, ops: Client) -> None:
        watched("shop")
        wrong = self.SCHEDULE | {"time_zone": "Mars/Base"}
        answer = ops.post(reverse("save_schedule", args=["shop"]), wrong)

        assert 400 == answer.status_code
        assert "is no time zone" in answer.content.decode()
        assert 'value="Mars/Base"' in answer.content.decode()

    def test_thresholds_are_chosen_and_explained_over_the_history(self, ops: Client) -> None:
        site = watched("shop", days=1)
        check = checked(site, is_broken=True)
        for n in range(4):
            CheckedPage.objects.create(
                check_run=check,
                cluster=site.clusters.get(),
                page=page_of(site, f"p/{n}"),
                outcome="changed",
                field_test=n > 2,
            )
        shares = dict.fromkeys(("quorum", "coverage_drop", "reachable", "rules", "crawl_drop"), 10)
        result = text(ops, "what_if_thresholds", "shop", pages=90, **shares)
        assert "no longer a change of products" in result
        ops.post(reverse("choose_thresholds", args=["shop"]), shares | {"pages": 90})
        assert 0.9 == SiteThresholds.objects.get().pages
        ops.post(reverse("reset_thresholds", args=["shop"]))
        assert not SiteThresholds.objects.exists()

    def test_a_webhook_shows_its_secret_once(self, ops: Client) -> None:
        watched("shop")
        sent = {
            "kind": "webhook",
            "target": "https://receiver.example/x",
            "alert_kinds": ["site_changed"],
        }
        assert "whsec_" in ops.post(reverse("add_channel", args=["shop"]), sent).content.decode()
        page = text(ops, "watching", "shop")
        assert "receiver.example" in page
        assert "whsec_" not in page

    def test_a_test_notice_that_does_not_arrive_says_why(self, ops: Client) -> None:
        site = watched("shop")
        channel = Channel.objects.create(
            site=site, kind="webhook", target="http://127.0.0.1:9/x", secret="s"
        )
        answer = ops.post(reverse("try_channel", args=["shop", channel.pk]), follow=True)
        assert "Test is on its way" in answer.content.decode()
        again = ops.post(reverse("try_channel", args=["shop", channel.pk]), follow=True)
        assert 200 == again.status_code
        done = run_job(Job.objects.get(task="monitoring.try_channel").pk, try_channel)
        assert Job.State.FAILED == done.state
        page = text(ops, "watching", "shop")
        assert "Test did not arrive" in page
        assert "The test notice did not arrive at http://127.0.0.1:9/x" in page

    def test_one_that_is_taken_says_so(self, ops: Client) -> None:
        channel = Channel.objects.create(
            site=watched("shop"), kind="email", target="ops@example.com"
        )
        ops.post(reverse("try_channel", args=["shop", channel.pk]))
        run_job(Job.objects.get(task="monitoring.try_channel").pk, try_channel)

        assert "Test was taken" in text(ops, "watching", "shop")
        assert ["ops@example.com"] == mail.outbox[0].to

    def test_a_channel_is_paused_and_removed(self, ops: Client) -> None:
        site = watched("shop")
        channel = Channel.objects.create(
            site=site, kind="webhook", target="https://receiver.example/x"
        )
        ops.post(reverse("switch_channel", args=["shop", channel.pk]))
        assert not Channel.objects.get().is_active
        ops.post(reverse("remove_channel", args=["shop", channel.pk]))
        assert not Channel.objects.exists()


class TestHistory:
    def test_says_so_where_nothing_happened(self, ops: Client) -> None:
        page = text(ops, "monitoring_history")
        assert "No rule broke" in page
        assert "No repair was run yet" in page

    def test_counts_coverage_drops_broken_rules_and_reuse(self, ops: Client) -> None:
        site = watched("shop", days=3)
        today = timezone.now().date()
        Coverage.objects.create(site=site, rule=None, day=today, n_pages=30)
        changed(site)
        job = Job.objects.create(
            task="monitoring.heal_site", queue="learn", title="Repair", site=site
        )
        for decision, n, variant in (("reused", 30, "page_match"), ("proposed", 10, "")):
            Proposal.objects.create(
                site=site, job=job, name=decision, decision=decision, n_urls=n, variant=variant
            )
        page = text(ops, "monitoring_history")

        assert "Total changes" in page
        assert "75.0 %" in page
        assert "1 of 2 clusters reuse a rule" in page
        assert "1 of them by their signature" in page


def test_site_changes_are_listed_and_narrowed(ops: Client) -> None:
    changed(watched("shop"))
    assert "shop" in text(ops, "site_changes", show="open")
    assert "No site change is like this" in text(ops, "site_changes", show="repaired")
    assert "No site change is like this" in text(ops, "site_changes", day="2001-01-01")
    assert ruled(site_of("town")).pk
