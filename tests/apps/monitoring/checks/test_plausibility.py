"""Values that are wrong and look right: on the bellwethers, and among the records that come in."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from monitoring.models import Alert
from monitoring.services.checks.coverage import measure_site
from monitoring.services.checks.plausibility import readings_at
from rules.models import Record, RecordVersion
from tests.apps.monitoring.monitored_shop import Made, archive, check, dearer, shop
from tests.apps.rules.shop_cast import extract, product, products_of
from vertex.core.models import Site

pytestmark = pytest.mark.django_db


def with_the_price_of_shipping(n: int) -> Made:
    """Return a product where the rule finds another price; the right one stands further down."""
    path, body, kind = product(n, price=f"9{n}.00")
    return path, body.replace(b"</body>", f"<p>Today {n}.50 EUR only</p></body>".encode()), kind


def wrong_records(site: Site) -> None:
    """Let all prices of the last hour be weights, and the right ones stand in the history."""
    week_ago = timezone.now() - timedelta(days=8)
    for record in Record.objects.filter(site=site):
        RecordVersion.objects.create(record=record, values=record.values, since=week_ago)
        record.first_seen_at = week_ago
        record.values = {**record.values, "price": f"{record.pk} g"}
        record.save(update_fields=["values", "first_seen_at"])


class TestBellwethers:
    def test_another_price_of_the_page_is_an_alert(self, tmp_path: Path) -> None:
        site = shop()
        _, result = check(site, archive(tmp_path, site, with_the_price_of_shipping))

        assert not result["site_changed"]
        assert ["price"] == [each["attribute"] for each in result["suspicious"]]
        alert = Alert.objects.open().get(kind=Alert.Kind.IMPLAUSIBLE)
        assert [products_of(site).name] == alert.clusters
        assert "while the former ones still stand on the page" in alert.text

    def test_other_prices_at_once_are_a_warning(self, tmp_path: Path) -> None:
        site = shop()
        _, result = check(site, archive(tmp_path, site, dearer))

        assert "suspicious" not in result
        assert any("values of price: 100% of 12" in warning for warning in result["warnings"])
        assert not Alert.objects.open().filter(kind=Alert.Kind.IMPLAUSIBLE).exists()

    def test_the_alert_ends_when_the_values_are_right_again(self, tmp_path: Path) -> None:
        site = shop()
        check(site, archive(tmp_path / "wrong", site, with_the_price_of_shipping))
        check(site, archive(tmp_path / "right", site))

        assert not Alert.objects.open().filter(kind=Alert.Kind.IMPLAUSIBLE).exists()


class TestStream:
    def test_records_unlike_those_of_a_week_ago_are_an_alert(self) -> None:
        site = shop()
        extract(site)
        wrong_records(site)
        measure_site(site)

        alert = Alert.objects.open().get(kind=Alert.Kind.DRIFT)
        assert "values of price" in alert.text

    def test_records_as_they_were_are_none(self) -> None:
        site = shop()
        extract(site)
        measure_site(site)

        assert not Alert.objects.open().filter(kind=Alert.Kind.DRIFT).exists()


class TestHistory:
    def test_a_reading_is_what_a_record_said_then(self) -> None:
        site = shop()
        extract(site)
        wrong_records(site)
        cluster, now = products_of(site), timezone.now()
        then = {
            each.url: each.record["price"] for each in readings_at(cluster, now - timedelta(days=7))
        }
        url = f"{site.root_url}p/1"

        today = {each.url: each.record["price"] for each in readings_at(cluster, now)}

        assert ("1.50 EUR", True) == (then[url], str(today[url]).endswith(" g"))

    def test_a_record_that_came_later_said_nothing(self) -> None:
        site = shop()
        extract(site)

        assert [] == readings_at(products_of(site), timezone.now() - timedelta(days=1))
