"""No wrong constant value is stored while a site seems to have changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustering.models import Cluster
from monitoring.models import Alert, SiteChange
from monitoring.services.checks.changes import dismiss_change
from monitoring.services.checks.schedules import make_default_schedules
from monitoring.services.notices.alerts import release
from rules.models import Record
from rules.services.learning.learning import learn_rule
from rules.services.records import extracting
from rules.services.records.extracting import extract_pages, extract_records, extraction_request
from rules.services.records.storing import ExtractedPage
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring.monitored_shop import N, archive, check, redesigned, repair, shop
from tests.apps.rules.shop_cast import extract, list_page, listing, product, products_of
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def shop_with_records() -> Site:
    site = shop()
    extract(site)
    return site


def other_names(n: int) -> tuple[str, bytes, str]:
    return product(n, name=f"Free delivery {n}")


def with_banner(n: int) -> tuple[str, bytes, str]:
    """Return the redesigned page with a heading where the old rule looks for the name."""
    path, body, kind = redesigned(n)
    return path, body.replace(b"<main>", b"<main><h1 class='name'>Free delivery</h1>"), kind


def offers(page: int) -> bytes:
    """Return a list page whose items are within others, with other names."""
    written = (
        list_page(page)
        .replace("<li class='item'>", "<li class='item'><em>")
        .replace("Item", "Offer")
    )
    return written.replace("</li>", "</em></li>").encode()


def extract_now(site: Site) -> dict[str, Any]:
    return run_job(create_here(extraction_request(site=site)).pk, extract_records).result or {}


def names_read_by(service: Caller) -> set[str]:
    rows = service.get("records/?site=shop&limit=100").json()["results"]
    return {row["values"]["name"] for row in rows}


def names() -> set[str]:
    """Return the names that a service reads."""
    return names_read_by(caller("ada", Role.VIEWER))


RIGHT = {f"Rope {n}" for n in range(1, N + 1)}


def leave_out(source: str, *numbers: int) -> None:
    """Take pages out of an archive."""
    left_out = tuple(f'p/{n}"' for n in numbers)
    lines = Path(source).read_text().splitlines()
    Path(source).write_text(
        "\n".join(line for line in lines if not any(p in line for p in left_out))
    )


class TestOpenChange:
    def test_the_records_stay_as_they_were_until_it_is_mended(self, tmp_path: Path) -> None:
        site = shop_with_records()
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        store(site, [other_names(n) for n in range(1, N + 1)])

        assert N == extract_now(site)["held"]
        assert RIGHT == names()
        assert N == SiteChange.objects.get().n_held
        assert [Alert.Kind.SITE_CHANGED] == [alert.kind for alert in Alert.objects.open()]

    def test_mended_the_records_flow_again(self, tmp_path: Path) -> None:
        site = shop_with_records()
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        repair(site, source, accept=True)

        assert "held" not in extract_now(site)
        assert RIGHT == names()
        change = SiteChange.objects.get()
        assert (SiteChange.End.REPAIRED, N) == (change.end, change.report["n_pages"])
        assert "found again" in change.report["text"]
        assert not Alert.objects.open().exists()

    def test_mended_the_pages_not_fetched_since_keep_their_records(self, tmp_path: Path) -> None:
        site, service = shop_with_records(), caller("service", Role.VIEWER)
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        leave_out(source, N - 1, N)
        repair(site, source, accept=True)

        assert 2 == extract_now(site)["held"]
        assert RIGHT == names_read_by(service)
        stale = Record.objects.there().filter(stale_since__isnull=False)
        assert {f"Rope {N - 1}", f"Rope {N}"} == {record.values["name"] for record in stale}
        store(site, [redesigned(n) for n in (N - 1, N)])
        assert "held" not in extract_now(site)
        assert RIGHT == names_read_by(service)
        assert not stale.all().exists()

    def test_pages_that_a_visit_stores_during_the_extraction_keep_their_records(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site, service = shop_with_records(), caller("service", Role.VIEWER)
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        leave_out(source, N - 1, N)
        repair(site, source, accept=True)

        def extract_while_visited(*arguments: Any) -> list[ExtractedPage]:
            pages = extract_pages(*arguments)
            store(site, [redesigned(n) for n in (N - 1, N)])
            return pages

        monkeypatch.setattr(extracting, "extract_pages", extract_while_visited)
        assert 2 == extract_now(site)["held"]
        assert RIGHT == names_read_by(service)
        monkeypatch.undo()
        assert "held" not in extract_now(site)
        assert RIGHT == names_read_by(service)

    def test_dismissed_it_holds_nothing_back(self, tmp_path: Path) -> None:
        site = shop_with_records()
        check(site, archive(tmp_path, site, redesigned))
        dismiss_change(change=SiteChange.objects.get())
        store(site, [product(n, price="1.00") for n in range(1, N + 1)])

        assert N == extract_now(site)["changed"]


class TestRedesignThatTheCrawlBringsFirst:
    """The crawl stores the new pages, and they are extracted before any check ran."""

    def test_no_wrong_name_is_ever_read(self) -> None:
        site = shop_with_records()
        make_default_schedules()
        service = caller("service", Role.VIEWER)
        new_pages, known_pages = [N + 1, N + 2], list(range(1, N + 1))

        for n in [*new_pages, *known_pages]:
            store(site, [with_banner(n)])
            extract_now(site)
            assert RIGHT == names_read_by(service), f"after page {n}"

        assert Alert.objects.open().filter(kind=Alert.Kind.HELD).exists()

    def test_new_pages_like_the_others_are_read_at_once(self) -> None:
        site = shop_with_records()
        make_default_schedules()
        store(site, [product(N + 1), product(N + 2)])
        extract_now(site)

        assert {f"Rope {N + 1}", f"Rope {N + 2}"} < names()

    def test_new_pages_that_all_have_one_name_wait(self) -> None:
        site = shop_with_records()
        make_default_schedules()
        store(site, [product(n, name="Sign in to see this") for n in (N + 1, N + 2)])
        extract_now(site)

        assert RIGHT == names()

    def test_they_pass_once_a_check_has_found_the_site_as_it_was(self, tmp_path: Path) -> None:
        site = shop_with_records()
        make_default_schedules()
        store(site, [product(n, name="Rope of the month") for n in (N + 1, N + 2)])
        extract_now(site)
        check(site, archive(tmp_path, site))
        extract_now(site)

        assert "Rope of the month" in names()

    def test_items_of_a_list_with_other_names_wait(self) -> None:
        site = listing()
        rule = learn_rule(cluster=Cluster.objects.present().get(site=site))
        publish_rule(rule=rule)
        extract(site)
        make_default_schedules()
        store(site, [(f"list/{page}", offers(page), "text/html") for page in (1, 2)])
        extract_now(site)

        assert not [
            record for record in Record.objects.there() if record.values["name"].startswith("Offer")
        ]


class TestBeforeAnyCheck:
    def test_constants_that_change_on_many_pages_are_held_and_a_check_is_begun(self) -> None:
        site = shop_with_records()
        store(site, [other_names(n) for n in range(1, N + 1)])

        assert N == extract_now(site)["held"]
        assert RIGHT == names()
        alert = Alert.objects.get(kind=Alert.Kind.HELD)
        assert [products_of(site).name] == alert.clusters
        assert Job.objects.filter(task="monitoring.run_checks", state=Job.State.DUE).exists()

    def test_a_check_that_finds_nothing_lets_them_pass(self, tmp_path: Path) -> None:
        site = shop_with_records()
        store(site, [other_names(n) for n in range(1, N + 1)])
        extract_now(site)
        Job.objects.filter(task="monitoring.run_checks").delete()
        check(site, archive(tmp_path, site))

        assert not Alert.objects.open().exists()
        assert N == extract_now(site)["changed"]

    def test_so_does_a_person(self) -> None:
        site = shop_with_records()
        store(site, [other_names(n) for n in range(1, N + 1)])
        extract_now(site)
        release(alert=Alert.objects.get())

        assert N == extract_now(site)["changed"]

    def test_other_prices_pass(self) -> None:
        site = shop_with_records()
        store(site, [product(n, price="9.99") for n in range(1, N + 1)])

        assert {"pages": N, "changed": N} == {k: v for k, v in extract_now(site).items() if v}

    def test_one_corrected_name_passes_where_nobody_watches(self) -> None:
        site = shop_with_records()
        store(site, [other_names(1)])

        assert 1 == extract_now(site)["changed"]

    def test_where_somebody_does_it_waits_for_the_next_check(self, tmp_path: Path) -> None:
        site = shop_with_records()
        make_default_schedules()
        store(site, [other_names(1)])
        assert 1 == extract_now(site)["held"]
        check(site, archive(tmp_path, site))

        assert 1 == extract_now(site)["changed"]
        assert 1 == Record.objects.filter(values__name="Free delivery 1").count()
