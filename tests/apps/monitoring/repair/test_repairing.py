"""Reuse and repair of rules after a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Annotation
from clustering.models import PageMembership, Snapshot
from clustering.services.clusters.arrivals import assign_arrivals
from monitoring.models import Proposal, SiteChange
from rules.models import Record, Rule
from rules.services.records.extracting import stored_lines
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring.monitored_shop import archive, check, redesigned, repair, shop, with_ad
from tests.apps.rules.shop_cast import extract, products_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def line_of(lines: list[dict[str, object]], end: str) -> dict[str, object]:
    """Return the line of the cluster that has an address with this end."""
    return next(line for line in lines if any(str(url).endswith(end) for url in line["urls"]))  # type: ignore[attr-defined]  # a list


class TestReuse:
    def test_an_untouched_cluster_keeps_its_rule(self, tmp_path: Path) -> None:
        site = shop()
        line = line_of(repair(site, archive(tmp_path, site)), "/p/1")

        assert ("reused", products_of(site).name, 1.0) == (
            line["decision"],
            line["from_cluster"],
            line["url_share"],
        )
        assert {"name", "price", "weight"} == set(line["attributes"])  # type: ignore[call-overload]  # a dict

    def test_so_does_one_with_an_advertisement(self, tmp_path: Path) -> None:
        site = shop()
        source = archive(tmp_path, site, with_ad)
        line = line_of(repair(site, source, accept=True), "/p/1")

        assert ("reused", True) == (line["decision"], line["accepted"])
        assert 1 == Rule.objects.count()
        extract(site)
        assert 12 == Record.objects.there().count()

    def test_a_cluster_that_never_had_a_rule_needs_annotation(self, tmp_path: Path) -> None:
        site = shop()
        line = line_of(repair(site, archive(tmp_path, site)), "/news/1")

        assert ("needs_annotation", None, {}) == (
            line["decision"],
            line["from_cluster"],
            line["attributes"],
        )


class TestRepair:
    def test_golden_values_are_found_again_and_nothing_changes_yet(self, tmp_path: Path) -> None:
        site = shop()
        n_snapshots = Snapshot.objects.count()
        line = line_of(repair(site, archive(tmp_path, site, redesigned)), "/p/1")

        assert ("proposed", True) == (line["decision"], line["field_test"])
        assert {"name": 1.0, "price": 1.0, "weight": 1.0} == {
            name: attribute["precision"]
            for name, attribute in line["attributes"].items()  # type: ignore[attr-defined]  # a dict
        }
        assert (n_snapshots, 1) == (Snapshot.objects.count(), Rule.objects.count())
        assert Proposal.State.WAITING == Proposal.objects.get(decision="proposed").state

    def test_pages_that_a_crawl_brought_before_the_repair_still_count(self, tmp_path: Path) -> None:
        site = shop()
        products = products_of(site)
        extract(site)
        store(site, [redesigned(n) for n in range(1, 13)])
        assign_arrivals(site=site)
        assert not PageMembership.objects.current().filter(cluster=products).exists()
        line = line_of(repair(site, archive(tmp_path, site, redesigned), accept=True), "/p/1")

        assert ("proposed", products.name, True) == (
            line["decision"],
            line["from_cluster"],
            line["accepted"],
        )
        extract(site)
        assert {"Rope 1", "Rope 12"} <= {record.values["name"] for record in Record.objects.there()}

    def test_accepted_it_serves_the_new_pages(self, tmp_path: Path) -> None:
        site = shop()
        extract(site)
        source = archive(tmp_path, site, redesigned)
        check(site, source)
        line = line_of(repair(site, source, accept=True), "/p/1")
        extract(site)

        result = {str(stored_line["url"]): stored_line for stored_line in stored_lines(site)}
        assert {"name": "Rope 2", "price": "2.50 EUR", "weight": "25 g"} == result[
            f"{site.root_url}p/2"
        ]["record"]
        assert ["weight"] == result[f"{site.root_url}p/3"]["missing"]
        assert f"{line['cluster']}@2" == result[f"{site.root_url}p/2"]["rule"]
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end
        assert not check(site, source)[1]["site_changed"]

    def test_accepted_annotations_stand_on_the_new_snapshots(self, tmp_path: Path) -> None:
        site = shop()
        repair(site, archive(tmp_path, site, redesigned), accept=True)

        live = Annotation.objects.live().select_related("page")
        assert {True} == {row.snapshot_id == row.page.latest_snapshot_id for row in live}
        assert {Annotation.Source.SUGGESTION} == {row.source for row in live}

    def test_a_second_run_finds_nothing_to_do(self, tmp_path: Path) -> None:
        site = shop()
        source = archive(tmp_path, site, redesigned)
        repair(site, source, accept=True)

        assert "reused" == line_of(repair(site, source, accept=True), "/p/1")["decision"]
        assert 2 == Rule.objects.count()


class TestNothingIsPublishedAgainstTheFieldTest:
    def test_where_the_values_are_gone_the_rule_retires_and_somebody_annotates(
        self, tmp_path: Path
    ) -> None:
        def other(n: int) -> tuple[str, bytes, str]:
            path, body, kind = redesigned(n)
            return path, body.replace(b"Rope", b"Cord").replace(b" EUR", b" tokens"), kind

        site = shop()
        extract(site)
        line = line_of(repair(site, archive(tmp_path, site, other), accept=True), "/p/1")

        assert line["decision"] in {"needs_annotation", "proposed"}
        assert not line["accepted"]
        assert not Rule.objects.published().exists()
