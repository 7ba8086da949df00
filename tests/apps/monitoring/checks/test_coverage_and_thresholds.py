"""Coverage of what comes in, thresholds of a site, and both over the API."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from monitoring.models import Alert, Coverage
from monitoring.services.checks.coverage import measure_coverage
from monitoring.services.checks.thresholds import choose_thresholds, thresholds_of
from rules.models import Extraction, Rule
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.monitoring.monitored_shop import N, archive, check, redesigned, shop
from tests.apps.rules.shop_cast import extract, products_of
from vertex.core.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
LATER = timedelta(minutes=1)


class TestCoverage:
    def test_each_extraction_is_counted_once(self) -> None:
        site = shop()
        extract(site)
        now = timezone.now() + LATER
        n_pages = Extraction.objects.count()

        assert n_pages == measure_coverage(now)
        assert 0 == measure_coverage(now)
        own = Coverage.objects.get(rule=Rule.objects.get())
        assert (N, N, N, {"name": N, "price": N, "weight": 8}) == (
            own.n_pages,
            own.n_served,
            own.n_records,
            own.fields,
        )
        assert n_pages - N == Coverage.objects.get(rule=None).n_pages

    def test_a_fall_against_what_was_usual_is_an_alert_that_recovers(self) -> None:
        site = shop()
        extract(site)
        now, rule = timezone.now() + LATER, Rule.objects.get()
        usual = {
            "n_pages": 200,
            "n_served": 200,
            "n_records": 200,
            "fields": {"name": 200, "weight": 200},
        }
        Coverage.objects.create(
            site=site, rule=rule, day=(now - timedelta(days=10)).date(), **usual
        )
        today = Coverage.objects.create(
            site=site,
            rule=rule,
            day=(now - timedelta(days=1)).date(),
            n_pages=200,
            n_served=200,
            n_records=200,
        )
        measure_coverage(now)
        alert = Alert.objects.get(kind=Alert.Kind.COVERAGE)
        assert [products_of(site).name] == alert.clusters
        assert "records with weight fell from 100% to 4% of 212" in alert.text

        Coverage.objects.filter(pk=today.pk).update(fields={"name": 200, "weight": 200})
        extraction = Extraction.objects.order_by("-pk").first()
        assert extraction is not None
        extraction.pk = extraction.pk + 1
        Extraction.objects.all().delete()
        extraction.save(force_insert=True)
        measure_coverage(now)
        assert not Alert.objects.open().exists()

    def test_it_is_read_over_the_api(self) -> None:
        site = shop()
        extract(site)
        measure_coverage(timezone.now() + LATER)
        result = caller("ada", Role.VIEWER).get(f"sites/{site.name}/coverage/").json()

        assert ([N], []) == ([day["n_served"] for day in result["days"]], result["drops"])


class TestThresholds:
    def test_chosen_ones_hold_for_their_site_and_its_next_check(self, tmp_path: Path) -> None:
        site = shop()
        choose_thresholds(site=site, pages=1.0)
        _, result = check(site, archive(tmp_path, site, redesigned))

        assert not result["site_changed"] or "shingle" in result["reason"]
        assert (1.0, 0.5) == (thresholds_of(site).pages, thresholds_of(site_of("other")).pages)

    @pytest.mark.parametrize("wrong", [{"pages": 1.5}, {"pages": -0.1}, {"mood": 0.5}])
    def test_what_is_no_share_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            choose_thresholds(site=site_of(), **wrong)

    def test_others_are_judged_by_the_history(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path, site))
        check(site, archive(tmp_path / "new", site, redesigned))
        ada = caller("ada", Role.OPERATOR)
        path = f"sites/{site.name}/thresholds/"
        same = ada.get(f"{path}hindsight/").json()
        quiet = ada.get(f"{path}hindsight/?pages=1").json()

        assert (2, 1, 1, []) == tuple(
            same[key] for key in ("n_checks", "n_changed_then", "n_changed_now", "others")
        )
        assert [products_of(site).name] == quiet["others"][0]["no_longer"]
        assert 0.7 == ada.patch(path, {"pages": 0.7}).json()["thresholds"]["pages"]
        assert 0.5 == ada.delete(path).json()["thresholds"]["pages"]


class TestRoutes:
    def test_a_schedule_is_changed_and_its_next_slot_told(self) -> None:
        site = site_of("shop")
        ada = caller("ada", Role.OPERATOR)
        assert 404 == ada.get("sites/shop/schedule/").status_code
        wanted = {
            "every": 6,
            "unit": "hours",
            "time_zone": "Europe/Vienna",
            "window_start": "22:00",
            "window_end": "06:00",
        }
        answer = ada.put("sites/shop/schedule/", wanted)

        assert 200 == answer.status_code, answer.content
        assert answer.json()["next_at"] == ada.get("sites/shop/schedule/").json()["next_at"]
        assert 400 == ada.put("sites/shop/schedule/", wanted | {"time_zone": "Mars"}).status_code
        assert 400 == ada.put("sites/shop/schedule/", wanted | {"every": 30}).status_code
        assert site.schedule.every == 6

    def test_a_check_is_shown_with_its_pages_and_an_alert_is_taken_up(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path, site, redesigned))
        ada = caller("ada", Role.OPERATOR)
        (row,) = ada.get("checks/?changed=true").json()["results"]
        answer = ada.get(f"checks/{row['id']}/").json()

        assert (True, 1.0, N) == (
            answer["site_changed"],
            answer["rules_share"],
            len(answer["pages"]),
        )
        assert all(page["snapshot"] for page in answer["pages"])
        (change,) = ada.get("site-changes/?open=true").json()["results"]
        assert row["id"] == change["check_id"]
        (alert,) = ada.get("alerts/?state=open").json()["results"]
        path = f"alerts/{alert['id']}/"
        assert "ada" == ada.post(f"{path}acknowledge/").json()["acknowledged_by"]
        until = (timezone.now() + timedelta(hours=2)).isoformat()
        assert ada.post(f"{path}snooze/", {"until": until}).json()["snoozed_until"]
        assert [alert["id"]] == [
            result["id"] for result in ada.get("alerts/?state=snoozed").json()["results"]
        ]
        assert 400 == ada.post(f"{path}release/").status_code
        assert "dismissed" == ada.post(f"site-changes/{change['id']}/dismiss/").json()["end"]
        assert [] == ada.get("alerts/?state=open").json()["results"]

    def test_a_channel_shows_its_secret_once_and_its_target_never(self) -> None:
        site_of("shop")
        ada = caller("ada", Role.OPERATOR)
        hook = {"kind": "webhook", "target": "https://receiver.example/hook"}
        answer = ada.post("sites/shop/channels/", hook).json()

        assert answer["secret"].startswith("whsec_")
        (shown,) = ada.get("channels/").json()["results"]
        assert {"secret", "target"}.isdisjoint(shown)
        assert not ada.post(f"channels/{answer['id']}/pause/").json()["is_active"]
        assert ada.post(f"channels/{answer['id']}/resume/").json()["is_active"]
        assert 204 == ada.delete(f"channels/{answer['id']}/").status_code
