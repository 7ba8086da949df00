"""The commands as a script calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from monitoring.models import Slot
from monitoring.services.checks.checking import check_request
from monitoring.services.checks.schedules import change_schedule
from tests.apps.clustering.api_cast import site_of
from tests.apps.monitoring.monitored_shop import archive, redesigned, shop
from tests.apps.rules.shop_cast import products_of
from vertex.core.models import Job
from vertex.core.services.jobs.requests import enqueue

pytestmark = pytest.mark.django_db


def lines_of(command: str, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    output = folder / "output.jsonl"
    call_command(command, *arguments, "--output", str(output))
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_a_redesign_is_told_and_mended(tmp_path: Path) -> None:
    site = shop()
    source = archive(tmp_path / "new", site, redesigned)
    name = products_of(site).name
    *pages, result = lines_of("run_checks", tmp_path, site.name, "--source", source)

    assert {
        "cluster",
        "url",
        "outcome",
        "shingle_test",
        "field_test",
        "structure_test",
        "failed",
    } == set(pages[0])
    assert {"site", "site_changed", "state", "broken", "reason", "paper_verdict"} == set(result)
    assert "redesigned" == result["state"]
    assert ("shop", True, [name]) == (result["site"], result["site_changed"], result["broken"])

    healed = lines_of("heal_site", tmp_path, site.name, "--source", source, "--accept")
    repaired = next(line for line in healed if line["from_cluster"] == name)
    assert {"cluster", "decision", "from_cluster", "url_share", "urls", "attributes"} <= set(
        repaired
    )
    assert "proposed" == repaired["decision"]

    records = lines_of("extract_records", tmp_path, site.name)
    assert {"Rope 1", "Rope 12"} <= {line["record"].get("name") for line in records}
    assert not lines_of("run_checks", tmp_path, site.name, "--source", source)[-1]["site_changed"]


def test_a_check_that_waits_for_a_worker_is_done_by_the_command(tmp_path: Path) -> None:
    site = shop()
    waiting = enqueue(check_request(site=site))
    lines = lines_of(
        "run_checks", tmp_path, site.name, "--source", archive(tmp_path / "same", site)
    )[-1]

    waiting.refresh_from_db()
    assert (False, Job.State.CANCELLED) == (lines["site_changed"], waiting.state)


@pytest.mark.parametrize("command", ["run_checks", "heal_site"])
def test_what_cannot_be_done_is_told_in_one_line(command: str, tmp_path: Path) -> None:
    site_of("bare")

    with pytest.raises(CommandError, match="no published rule"):
        call_command(command, "bare")
    with pytest.raises(CommandError, match="there is no site"):
        call_command(command, "nowhere")
    with pytest.raises(CommandError, match="missing"):
        call_command(command, shop().name, "--source", str(tmp_path / "missing"))


class TestSchedules:
    def test_a_schedule_is_made_changed_and_paused(self, tmp_path: Path) -> None:
        site_of("shop")
        (created,) = lines_of(
            "schedule_checks", tmp_path, "shop", "--hours", "22:00-06:00", "--every", "2"
        )
        (changed,) = lines_of(
            "schedule_checks", tmp_path, "shop", "--unit", "hours", "--repair", "alone"
        )
        (paused,) = lines_of("schedule_checks", tmp_path, "shop", "--pause")

        assert ("22:00", "06:00", 2, "days") == tuple(
            created[name] for name in ("window_start", "window_end", "every", "unit")
        )
        assert ("22:00", 2, "hours", "alone") == tuple(
            changed[name] for name in ("window_start", "every", "unit", "repair")
        )
        assert (False, None, "alone") == (paused["is_active"], paused["next_at"], paused["repair"])
        assert [paused] == lines_of("list_schedules", tmp_path)

    def test_the_slots_of_a_site_are_listed(self, tmp_path: Path) -> None:
        site = site_of("shop")
        schedule = change_schedule(site=site)
        Slot.objects.create(
            schedule=schedule, at=timezone.now(), state=Slot.State.SKIPPED, why="no rule"
        )
        _, slot = lines_of("list_schedules", tmp_path, "shop")

        assert ("skipped", 0, "no rule") == (slot["state"], slot["missed"], slot["why"])

    def test_what_cannot_be_is_refused_with_the_reason(self) -> None:
        site_of("shop")
        with pytest.raises(CommandError, match="Must be from 1 to 24"):
            call_command("schedule_checks", "shop", "--every", "25", "--unit", "hours")
        with pytest.raises(CommandError, match="no time zone"):
            call_command("schedule_checks", "shop", "--time-zone", "Mars/Olympus")
        with pytest.raises(CommandError, match="must be like 22:00-06:00"):
            call_command("schedule_checks", "shop", "--hours", "ten to six")
        assert not Slot.objects.exists()
