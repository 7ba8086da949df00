"""What people and services see and change of the stream and of the chain."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from monitoring.models import ChainStep, FreshnessGoal, Revisit
from monitoring.services.stream.planning import plan_goals
from rules.models import Record
from rules.services.records.extracting import extract_records, extraction_request
from tests.apps.clustering.api_cast import caller
from tests.apps.monitoring.monitored_shop import N, shop
from vertex.core.models import Membership, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    site = shop()
    run_job(create_here(extraction_request(site=site)).pk, extract_records)
    plan_goals()
    return site


def browser(site: Site, role: Role) -> Client:
    user = User.objects.create_user(f"a-{role}", password="secret")
    Membership.objects.create(user=user, site=site, role=role)
    client = Client()
    client.force_login(user)
    return client


def cluster_of_goal() -> str:
    name: str = FreshnessGoal.objects.get().cluster.name
    return name


def test_a_viewer_sees_the_row_and_the_steps(site: Site) -> None:
    text = browser(site, Role.VIEWER).get(reverse("site_stream", args=[site.name])).text

    for words in ("24 h", "Requests saved", "Next visit", "Assign to clusters", "100.0 %"):
        assert words in text
    assert "Pause</button>" not in text


def test_records_from_before_a_redesign_are_not_called_fresh(site: Site) -> None:
    records = Record.objects.filter(site=site)
    now = timezone.now()
    records.filter(page=records.earliest("pk").page).update(stale_since=now - timedelta(hours=1))
    client = browser(site, Role.VIEWER)
    for name in ("site_stream", "site_monitoring"):
        text = " ".join(client.get(reverse(name, args=[site.name])).text.split())
        assert "1 record</a> is from before a redesign" in text
        assert "100.0 %" in text, "it may be stale for the time of the goal"

    records.update(stale_since=now - timedelta(hours=25))
    FreshnessGoal.objects.update(planned_at=None)
    plan_goals()
    text = " ".join(client.get(reverse("site_stream", args=[site.name])).text.split())
    assert f"{N} records</a> are from before a redesign" in text
    assert 0 == FreshnessGoal.objects.get().reached_share


def test_a_site_without_a_rule_says_what_to_do() -> None:
    site = Site.objects.create(name="new", root_url="https://new.example/")
    text = browser(site, Role.VIEWER).get(reverse("site_stream", args=[site.name])).text

    assert "Once a rule is published" in text


def test_an_operator_chooses_a_goal(site: Site) -> None:
    client = browser(site, Role.OPERATOR)
    entered = {"cluster": cluster_of_goal(), "goal_hours": "6", "requests_per_day": "40"}
    answer = client.post(reverse("save_goal", args=[site.name]), entered)
    goal = FreshnessGoal.objects.get()
    assert (302, 6, 40) == (answer.status_code, goal.goal_hours, goal.requests_per_day)

    wrong = client.post(reverse("save_goal", args=[site.name]), entered | {"goal_hours": "0"})
    assert (400, True) == (wrong.status_code, "greater than or equal to 1" in wrong.text)


def test_an_operator_pauses_a_step_and_lets_it_go_on(site: Site) -> None:
    client = browser(site, Role.OPERATOR)
    address = reverse("switch_step", args=[site.name])
    client.post(address, {"step": "extract", "paused": "yes"})
    assert ChainStep.objects.get(site=site, step="extract").is_paused
    assert "Go on</button>" in client.get(reverse("site_stream", args=[site.name])).text

    client.post(address, {"step": "extract", "paused": "no"})
    client.post(address, {"step": "\0", "paused": "yes"})
    assert not ChainStep.objects.filter(is_paused=True).exists()


def test_the_overview_and_the_page_of_a_site_have_the_row(site: Site) -> None:
    client = browser(site, Role.VIEWER)

    overview = client.get(reverse("monitoring")).text
    assert ">100.0 %</a>" in overview
    assert 'title="Goal 24 h; 0 requests saved; next visit' in overview
    assert "time>" not in overview.partition('title="Goal 24 h')[2].partition(">")[0]
    assert "fresh within 24 hours" in client.get(reverse("site_monitoring", args=[site.name])).text


def test_the_api_shows_and_changes_the_stream(site: Site) -> None:
    ada = caller("ada", Role.ADMINISTRATOR)
    shown = ada.get(f"sites/{site.name}/stream/").json()
    assert (24, 1.0, 0, N) == (
        shown["goal_hours"],
        shown["reached_share"],
        shown["requests"],
        shown["clusters"][0]["n_pages"],
    )
    assert shown["next_visit_at"]

    body = {"cluster": cluster_of_goal(), "goal_hours": 48}
    assert 48 == ada.put(f"sites/{site.name}/stream/", body).json()["clusters"][0]["goal_hours"]
    assert 404 == ada.put(f"sites/{site.name}/stream/", body | {"cluster": "none"}).status_code


def test_the_api_shows_and_pauses_steps(site: Site) -> None:
    ada = caller("ada", Role.ADMINISTRATOR)
    steps = ada.get(f"sites/{site.name}/chain/").json()["steps"]
    state_by_step = {step["step"]: step["state"] for step in steps}
    assert ("done", "done", "idle") == (
        state_by_step["extract"],
        state_by_step["publish"],
        state_by_step["repair"],
    )

    ada.put(f"sites/{site.name}/chain/", {"step": "crawl", "is_paused": True})
    assert ChainStep.objects.get(site=site).is_paused
    answer = ada.put(f"sites/{site.name}/chain/", {"step": "publish", "is_paused": True})
    assert 400 == answer.status_code


def test_the_command_shows_and_changes_both(site: Site) -> None:
    out = StringIO()
    call_command(
        "stream",
        site.name,
        "--cluster",
        cluster_of_goal(),
        "--hours",
        "12",
        "--requests",
        "9",
        "--pause",
        "check",
        stdout=out,
        stderr=StringIO(),
    )
    lines = [json.loads(line) for line in out.getvalue().splitlines()]

    assert (12, 9) == (lines[0]["goal_hours"], lines[0]["requests_per_day"])
    assert {"step": "check", "state": "paused"}.items() <= lines[-2].items()
    for wrong in (["--cluster", "none", "--hours", "1"], ["--requests", "4"]):
        with pytest.raises(CommandError):
            call_command("stream", site.name, *wrong, stdout=out, stderr=StringIO())


def test_the_metrics_say_how_long_a_visit_waits(site: Site) -> None:
    Revisit.objects.update(next_at="2025-01-01T00:00Z")
    text = Client().get(reverse("metrics"), REMOTE_ADDR="127.0.0.1").text
    lag = next(line for line in text.splitlines() if line.startswith("vertex_stream_lag_seconds"))

    assert float(lag.split()[1]) > 3600
    assert f"vertex_stream_pages {N}.0" in text
