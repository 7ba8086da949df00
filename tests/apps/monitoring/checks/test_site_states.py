"""The state of watching of a site, the same everywhere, and records from before a redesign."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from monitoring.models import Alert, Check, Schedule, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.checks.site_states import counts_by_state, figures_of, of_state
from monitoring.services.notices.alerts import settle_alert
from rules.models import Extraction, Record
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring.monitored_shop import N, archive, check, redesigned, shop
from tests.apps.monitoring.watched_sites import changed, checked, watched
from tests.apps.rules.shop_cast import extract, product, products_of
from vertex.core.models import Role, Site
from vertex.running.metrics import DatabaseFigures

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def state(site: Site) -> str:
    return figures_of([site.pk])[site.pk].state.key


def in_every_state() -> dict[str, Site]:
    sites = {key: watched(key.replace("_", "-")) for key in ("changed", "unreachable", "overdue")}
    changed(sites["changed"])
    kinds = {"unreachable": Alert.Kind.UNREACHABLE, "overdue": Alert.Kind.OVERDUE}
    for key, kind in kinds.items():
        settle_alert(site=sites[key], kind=kind, text="down")
    sites["paused"] = watched("paused")
    Schedule.objects.filter(site=sites["paused"]).update(is_active=False, next_at=None)
    sites["unwatched"] = site_of("unwatched")
    sites["never_checked"] = watched("never-checked", days=0)
    sites["second_look"] = watched("second-look")
    Check.objects.filter(pk=checked(sites["second_look"]).pk).update(verdict="undecided")
    sites["doubtful"] = watched("doubtful")
    settle_alert(site=sites["doubtful"], kind=Alert.Kind.DRIFT, text="odd")
    sites["watched"] = watched("calm")
    return sites


def test_each_state_is_one_of_its_own_and_the_same_for_lists_and_metrics() -> None:
    sites = in_every_state()

    assert {key: key for key in sites} == {key: state(site) for key, site in sites.items()}
    for key, site in sites.items():
        assert [site.name] == [row.name for row in of_state(Site.objects.all(), key)]
    counts = counts_by_state(Site.objects.all())
    assert dict.fromkeys(sites, 1) == {key: n for key, n in counts.items() if n}
    figures = {figure.name: figure for figure in DatabaseFigures().collect()}
    samples = figures["vertex_sites_by_state"].samples
    assert counts == {sample.labels["state"]: sample.value for sample in samples}


def test_a_check_that_will_look_twice_waits_for_its_second_look() -> None:
    site = watched("shop", days=0)
    Check.objects.create(site=site, state=Check.State.RUNNING, n_rounds=2)

    assert "second_look" == state(site)


def test_the_overview_is_calm_only_where_each_watched_site_was_checked(client: Client) -> None:
    watched("calm")
    client.force_login(caller("ada", Role.VIEWER).user)
    calm = client.get(reverse("monitoring")).content.decode()
    watched("new", days=0)
    new = client.get(reverse("monitoring")).content.decode()

    assert "All quiet" in calm
    assert "All quiet" not in new
    assert "1 site never checked" in new


def test_the_overview_and_the_api_say_the_same() -> None:
    site = watched("shop", days=0)
    ada = caller("ada", Role.VIEWER)
    answer = ada.get("sites/shop/state/").json()
    client = Client()
    client.force_login(ada.user)

    assert ("never_checked", None) == (answer["state"], answer["checked_at"])
    assert answer["again_at"] is not None
    for page in (reverse("monitoring"), reverse("site_monitoring", args=[site.name])):
        assert "Never checked" in client.get(page).content.decode()


class TestStale:
    def test_records_of_a_changed_cluster_are_stale_until_their_pages_come_anew(
        self, tmp_path: Path
    ) -> None:
        site = shop()
        extract(site)
        Schedule.objects.update_or_create(
            site=site, defaults={"next_at": timezone.now() + timedelta(days=1)}
        )
        before = timezone.now()
        check(site, archive(tmp_path, site, redesigned))
        records = Record.objects.filter(cluster=products_of(site))

        assert all(record.stale_since and record.stale_since >= before for record in records)
        ada = caller("ada", Role.VIEWER)
        assert all(row["stale_since"] for row in ada.get("records/?site=shop").json()["results"])
        client = Client()
        client.force_login(ada.user)
        listed = client.get(reverse("records", args=["shop"]) + "?state=stale").content.decode()
        assert "from before a" in listed
        download = client.get(reverse("download_records", args=["shop"]) + "?format=csv")
        body = b"".join(download.streaming_content).decode()  # type: ignore[attr-defined]
        assert all(row["stale_since"] for row in csv.DictReader(io.StringIO(body)))

        SiteChange.objects.update(ended_at=timezone.now(), end=SiteChange.End.REPAIRED)
        Alert.objects.update(ended_at=timezone.now())
        assert "stale" == state(site)
        Extraction.objects.all().delete()  # all pages are due
        extract(site)
        assert "stale" == state(site)  # what is stored is from before it
        store(site, [product(n) for n in range(1, N + 1)])
        Extraction.objects.all().delete()
        extract(site)
        assert not Record.objects.filter(stale_since__isnull=False).exists()

    def test_a_change_that_was_none_leaves_no_record_stale(self, tmp_path: Path) -> None:
        site = shop()
        extract(site)
        check(site, archive(tmp_path, site, redesigned))
        end_change(cluster=products_of(site), end=SiteChange.End.RECOVERED)

        assert not Record.objects.filter(stale_since__isnull=False).exists()
