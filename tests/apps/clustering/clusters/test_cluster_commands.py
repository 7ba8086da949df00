"""cluster_site and evaluate_clusters as a script meets them."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from clustering.models import Clustering
from clustering.services.clusters.clusterings import clustering_request
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import demo_site, shop, store, truth_of
from tests.apps.core.test_commands import call, fail
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    )
    return path


@pytest.mark.django_db
class TestClusterSite:
    def test_each_stored_page_has_a_line(self) -> None:
        site = shop()
        lines, result = call("cluster_site", "shop")

        assert 12 == len(lines)
        assert {"url", "cluster"} == set(lines[0])
        assert {f"{site.root_url}p/{n}" for n in range(6)} <= {line["url"] for line in lines}
        assert "2 clusters of 12 pages, 0 in none" in result

    def test_a_page_in_no_cluster_has_null(self) -> None:
        shop()
        lines, _ = call("cluster_site", "shop", "--algorithm", "shingles", "--sample", 1)

        assert {None} == {line["cluster"] for line in lines}

    def test_a_file_can_be_asked_for(self, tmp_path: Path) -> None:
        shop()
        call("cluster_site", "shop", "--output", tmp_path / "clusters.jsonl.gz")

        assert 12 == len(
            gzip.decompress((tmp_path / "clusters.jsonl.gz").read_bytes()).splitlines()
        )

    def test_a_comparison_is_kept_beside(self) -> None:
        site = shop()
        call("cluster_site", "shop")
        call("cluster_site", "shop", "--algorithm", "common_paths", "--compare")

        assert ["common_paths", "auto"] == [
            clustering.algorithm for clustering in Clustering.objects.filter(site=site)
        ]
        assert "auto" == Clustering.objects.current().get(site=site).algorithm

    @pytest.mark.parametrize(("options", "n_asked"), [([], 1), (["--compare"], 0)])
    def test_a_worker_is_asked_for_the_pictures_of_the_current_clusters(
        self, options: list[str], n_asked: int
    ) -> None:
        shop()
        call("cluster_site", "shop", *options)

        drawing = Job.objects.unfinished().filter(task="clustering.draw_thumbnails")
        assert n_asked == drawing.count()

    def test_a_site_without_pages_is_an_error(self) -> None:
        site_of("bare")

        assert "bare has no stored pages; import pages or crawl the site first" == fail(
            "cluster_site", "bare"
        )

    def test_an_algorithm_without_its_evidence_is_an_error(self) -> None:
        shop()

        assert "uxclust needs the links" in fail("cluster_site", "shop", "--algorithm", "uxclust")

    def test_what_is_no_algorithm_is_wrong_usage(self) -> None:
        with pytest.raises(CommandError, match="invalid choice: 'magic'"):
            call("cluster_site", "shop", "--algorithm", "magic")

    def test_parameters_are_set_by_name(self) -> None:
        shop()
        call("cluster_site", "shop", "--algorithm", "shingles", "--set", "shingle_length=3")

        assert {"shingle_length": 3} == Clustering.objects.get().parameters

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ("shingle_length=0", "must be a whole number from 1 to 100, not 0"),
            ("shingle_length=x", "must be a whole number from 1 to 100, not x"),
            ("l=3", "shingles has no parameter 'l'; there are: shingle_length"),
            ("shingle_length", "NAME=VALUE"),
        ],
    )
    def test_a_parameter_that_cannot_be_set_is_wrong_usage(
        self, setting: str, message: str
    ) -> None:
        shop()
        with pytest.raises(CommandError, match=message) as error:
            call("cluster_site", "shop", "--algorithm", "shingles", "--set", setting)

        assert 2 == error.value.returncode
        assert not Job.objects.exists()

    def test_a_sample_of_nothing_is_an_error(self) -> None:
        shop()

        assert "at least 1" in fail("cluster_site", "shop", "--sample", 0)

    def test_a_run_that_was_killed_is_taken_up(self) -> None:
        site = shop()
        left = create_here(clustering_request(site=site))
        call("cluster_site", "shop")

        clusterings = Job.objects.filter(task=left.task)
        assert [left.pk] == list(clusterings.values_list("pk", flat=True))

    def test_one_that_does_something_else_is_in_the_way(self) -> None:
        create_here(clustering_request(site=shop(), algorithm="shingles"))

        assert "already" in fail("cluster_site", "shop")

    def test_one_that_was_killed_is_not_in_the_way_of_another(self) -> None:
        left = create_here(clustering_request(site=shop(), algorithm="shingles"))
        jobs.claim_job(left.pk)
        Job.objects.filter(pk=left.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        call("cluster_site", "shop")
        left.refresh_from_db()

        assert Job.State.CANCELLED == left.state
        assert "auto" == Clustering.objects.current().get().algorithm

    def test_one_page_is_a_cluster(self) -> None:
        store(site_of("tiny"), [("", b"<html><h1>Hello</h1></html>", "text/html")])
        lines, _ = call("cluster_site", "tiny")

        assert [{"url": "https://tiny.example/", "cluster": "home-page"}] == lines

    def test_empty_pages_end_well(self) -> None:
        store(site_of("empty"), [(f"p/{n}", b" ", "text/html") for n in range(4)])

        assert 4 == len(call("cluster_site", "empty")[0])


@pytest.mark.django_db
def test_what_one_command_writes_the_other_reads(tmp_path: Path) -> None:
    site = demo_site("town-guide", n=90)
    assignments, truth = tmp_path / "assignments.jsonl.zst", tmp_path / "truth.jsonl"
    call("cluster_site", site.name, "--output", assignments)
    write(truth, [{"url": url, "type": type_} for url, type_ in truth_of(site).items()])
    (figures,), result = call("evaluate_clusters", "--assignments", assignments, "--truth", truth)

    assert figures["adjusted_rand"] > 0.9
    assert 90 == figures["n_pages"]
    assert "0 page(s) without a type, 184 without an assignment" in result


class TestEvaluateClusters:
    def evaluate(self, tmp_path: Path, clusters: list[Any], types: list[Any]) -> Any:
        assignments, truth = (
            write(tmp_path / "a.jsonl", clusters),
            write(tmp_path / "t.jsonl", types),
        )
        return call("evaluate_clusters", "--assignments", assignments, "--truth", truth)

    def test_the_figures_are_those_of_the_contract(self, tmp_path: Path) -> None:
        clusters = [{"url": f"http://a/{n}", "cluster": "x" if n < 3 else "y"} for n in range(4)]
        types = [{"url": f"http://a/{n}", "type": "x" if n < 2 else "y"} for n in range(4)]
        (figures,), result = self.evaluate(tmp_path, clusters, types)

        assert [
            "adjusted_rand",
            "f_star",
            "purity",
            "entropy",
            "pair_precision",
            "pair_recall",
            "n_clusters",
            "n_types",
            "n_pages",
        ] == list(figures)
        assert (0.0, 0.75, 1 / 3, 0.5) == pytest.approx(
            tuple(
                figures[name]
                for name in ("adjusted_rand", "purity", "pair_precision", "pair_recall")
            )
        )
        assert (2, 2, 4) == (figures["n_clusters"], figures["n_types"], figures["n_pages"])
        assert "" == result

    def test_a_page_in_no_cluster_is_alone_and_counts_for_no_cluster(self, tmp_path: Path) -> None:
        types = [{"url": f"http://a/{n}", "type": "x"} for n in range(3)]
        clusters = [{"url": f"http://a/{n}", "cluster": None} for n in range(2)] + [
            {"url": "http://a/2", "cluster": "x"}
        ]
        (figures,), _ = self.evaluate(tmp_path, clusters, types)

        assert (1, 0.0) == (figures["n_clusters"], figures["pair_recall"])

    def test_an_address_may_be_written_in_two_ways(self, tmp_path: Path) -> None:
        (figures,), result = self.evaluate(
            tmp_path,
            [
                {"url": "http://shop.example/", "cluster": "x"},
                {"url": "http://shop.example/b", "cluster": "x"},
            ],
            [
                {"url": "HTTP://Shop.Example:80", "type": "t"},
                {"url": "http://shop.example/b#top", "type": "t"},
            ],
        )

        assert (2, "") == (figures["n_pages"], result)

    def test_bad_lines_are_told_and_the_good_ones_count(self, tmp_path: Path, capsys: Any) -> None:
        good = {"url": "http://a/1", "cluster": "x"}
        assignments = write(
            tmp_path / "a.jsonl", [good, "{", {"url": "http://a/2"}, {"url": 7, "cluster": None}]
        )
        truth = write(
            tmp_path / "t.jsonl",
            [
                {"url": "http://a/1", "type": "t", "more": 1},
                {"url": "http://a/1", "type": "u"},
                {"url": "b", "type": None},
            ],
        )
        output = tmp_path / "figures.jsonl"
        error = fail(
            "evaluate_clusters", "--assignments", assignments, "--truth", truth, "--output", output
        )

        assert "5 bad line(s), see above; all others were taken" == error
        assert 1 == json.loads(output.read_text())["n_pages"]

    def test_nothing_in_common_is_an_error(self, tmp_path: Path) -> None:
        assignments = write(tmp_path / "a.jsonl", [{"url": "http://a/1", "cluster": "x"}])
        truth = write(tmp_path / "t.jsonl", [{"url": "http://b/1", "type": "t"}])

        assert f"none of the 1 URL(s) of {assignments} is among the 1 of {truth}" == fail(
            "evaluate_clusters", "--assignments", assignments, "--truth", truth
        )

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        truth = write(tmp_path / "t.jsonl", [])

        assert "nowhere.jsonl" in fail(
            "evaluate_clusters", "--assignments", tmp_path / "nowhere.jsonl", "--truth", truth
        )

    def test_only_one_file_can_be_standard_input(self) -> None:
        assert "only one" in fail("evaluate_clusters", "--assignments", "-", "--truth", "-")
