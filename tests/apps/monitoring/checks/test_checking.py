"""Checks of bellwethers against newer pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from monitoring.models import Alert, Check, CheckedPage, SiteChange
from monitoring.services.checks.checking import check_request
from monitoring.services.notices.alerts import acknowledge
from tests.apps.clustering.api_cast import site_of
from tests.apps.monitoring.monitored_shop import archive, check, dearer, redesigned, shop, with_ad
from tests.apps.rules.shop_cast import product, products_of
from vertex.core.models import User
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def outcomes(lines: list[dict[str, object]]) -> set[object]:
    return {line["outcome"] for line in lines}


class TestNoAlarm:
    def test_the_same_pages_pass_both_tests(self, tmp_path: Path) -> None:
        site = shop()
        lines, result = check(site, archive(tmp_path, site))

        assert 12 == len(lines)
        assert {"ok"} == outcomes(lines)
        assert (False, [], False) == (
            result["site_changed"],
            result["broken"],
            result["paper_verdict"],
        )

    def test_other_prices_are_content(self, tmp_path: Path) -> None:
        site = shop()
        lines, result = check(site, archive(tmp_path, site, dearer))

        assert {"ok"} == outcomes(lines)
        assert not result["site_changed"]

    def test_an_advertisement_fails_the_shingle_test_only(self, tmp_path: Path) -> None:
        site = shop()
        lines, result = check(site, archive(tmp_path, site, with_ad))

        assert {(False, True)} == {(line["shingle_test"], line["field_test"]) for line in lines}
        assert (False, True) == (result["site_changed"], result["paper_verdict"])
        assert "the values are the same" in result["reason"]
        assert not SiteChange.objects.exists()


class TestRedesign:
    def test_it_is_told_with_the_failed_fields(self, tmp_path: Path) -> None:
        site = shop()
        lines, result = check(site, archive(tmp_path, site, redesigned))

        assert {"changed"} == outcomes(lines)
        assert (True, [products_of(site).name]) == (result["site_changed"], result["broken"])
        first = next(line for line in lines if line["url"].endswith("/p/1"))
        failed = {each["attribute"]: each for each in first["failed"]}
        assert ("Rope 1", None, "null_extraction") == tuple(
            failed["name"][key] for key in ("was", "now", "kind")
        )

    def test_it_leaves_rows_an_alert_and_one_open_change(self, tmp_path: Path) -> None:
        site = shop()
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        check(site, source)

        assert (2, 24) == (Check.objects.count(), CheckedPage.objects.count())
        assert [Alert.Kind.SITE_CHANGED] == [alert.kind for alert in Alert.objects.open()]
        assert products_of(site) == SiteChange.objects.open().get().cluster

    def test_all_ends_when_the_site_is_as_it_was(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path / "new", site, redesigned))
        check(site, archive(tmp_path / "old", site))

        assert SiteChange.End.RECOVERED == SiteChange.objects.get().end
        assert not Alert.objects.open().exists()


class TestUnreachable:
    @pytest.mark.parametrize("status", [404, 503])
    def test_errors_are_no_change(self, tmp_path: Path, status: int) -> None:
        site = shop()
        lines, result = check(site, archive(tmp_path, site, redesigned, status=status))

        assert {("unreachable", None, None)} == {
            (line["outcome"], line["shingle_test"], line["field_test"]) for line in lines
        }
        assert (False, False) == (result["site_changed"], result["paper_verdict"])
        assert [Alert.Kind.UNREACHABLE] == [alert.kind for alert in Alert.objects.open()]

    def test_a_wall_before_all_pages_is_no_change(self, tmp_path: Path) -> None:
        def wall(n: int) -> tuple[str, bytes, str]:
            return (
                f"p/{n}",
                b"<html><body><div>Tervetuloa! Odota hetki, pyynto kasitellaan.</div></body></html>",
                "",
            )

        site = shop()
        lines, result = check(site, archive(tmp_path, site, wall))

        assert {"shared_answer"} == {line["why"] for line in lines}
        assert not result["site_changed"]

    def test_pages_that_the_source_lacks_are_unreachable(self, tmp_path: Path) -> None:
        site = shop()

        def few(n: int) -> tuple[str, bytes, str]:
            return product(n) if n < 4 else (f"other/{n}", b"<p>x</p>", "")

        lines, result = check(site, archive(tmp_path, site, few))

        assert 3 == sum(line["outcome"] == "ok" for line in lines)
        assert {"missing"} == {line["why"] for line in lines if line["outcome"] == "unreachable"}
        assert not result["site_changed"]

    def test_what_cannot_be_reached_ends_no_open_change(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path / "new", site, redesigned))
        check(site, archive(tmp_path / "down", site, status=503))

        assert SiteChange.objects.open().exists()
        assert Alert.objects.open().filter(kind=Alert.Kind.SITE_CHANGED).exists()


def test_a_site_without_rules_cannot_be_checked() -> None:
    with pytest.raises(ValidationError, match="no published rule"):
        create_here(check_request(site=site_of("bare")))


def test_the_first_who_acknowledges_an_alert_counts(tmp_path: Path) -> None:
    site = shop()
    check(site, archive(tmp_path, site, redesigned))
    alert, ada, bob = (
        Alert.objects.get(),
        User.objects.create(username="ada"),
        User.objects.create(username="bob"),
    )
    acknowledge(alert=alert, actor=ada)
    acknowledge(alert=alert, actor=bob)

    assert ada == alert.acknowledged_by
