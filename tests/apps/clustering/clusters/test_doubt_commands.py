"""cluster_doubts and settle_doubt as a script meets them."""

from __future__ import annotations

import pytest

from clustering.models import ClusterAnswer
from clustering.services.clusters.clusterings import clustering_request
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster
from tests.apps.clustering.doubting import (
    DOUBTING,
    WHY,
    doubtful_site,
    register_doubting,
)
from tests.apps.core.test_commands import call, fail
from vertex.core.services.jobs.requests import enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_doubting")]


@pytest.fixture
def _doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_doubting(monkeypatch)


class TestClusterDoubts:
    def test_a_line_has_the_keys_of_the_contract(self) -> None:
        site = doubtful_site(n=12)
        lines, _ = call("cluster_doubts", "shop")

        assert 2 == len(lines)
        assert [
            "doubt",
            "probability",
            "joined",
            "left",
            "right",
            "n_left",
            "n_right",
            "why",
        ] == list(lines[0])
        assert (0.42, False, 12, 12, WHY) == tuple(
            lines[0][key] for key in ("probability", "joined", "n_left", "n_right", "why")
        )
        assert (10, 10) == (len(lines[0]["left"]), len(lines[0]["right"]))
        assert lines[0]["left"][0].startswith(f"{site.root_url}books/")

    def test_most_bounds_them(self) -> None:
        doubtful_site()
        lines, _ = call("cluster_doubts", "shop", "--most", 1)
        assert 1 == len(lines)
        assert "at least 1" in fail("cluster_doubts", "shop", "--most", "0")

    def test_a_site_without_doubts_says_so(self) -> None:
        cluster(doubtful_site(), algorithm="common_paths")
        assert ([], True) == (
            (output := call("cluster_doubts", "shop"))[0],
            "nothing needs a look" in output[1],
        )

    def test_a_site_without_clusters_is_an_error_with_the_way_out(self) -> None:
        site_of("shop")
        assert "manage.py cluster_site shop" in fail("cluster_doubts", "shop")


class TestSettleDoubt:
    def test_the_pages_that_moved_are_written(self) -> None:
        site = doubtful_site()
        before = {
            line["url"]: line["cluster"]
            for line in call("cluster_site", "shop", "--algorithm", DOUBTING)[0]
        }
        name = call("cluster_doubts", "shop")[0][0]["doubt"]
        lines, result = call("settle_doubt", "shop", name, "--same")

        moved = [line["url"].removeprefix(site.root_url).split("/")[0] for line in lines]
        assert (3, 1) == (len(moved), len(set(moved)))
        assert {before[f"{site.root_url}books/0"], before[f"{site.root_url}news/0"]} >= {
            line["cluster"] for line in lines
        }
        assert "3 pages moved" in result

    def test_an_answer_that_agrees_moves_nothing_and_lasts(self) -> None:
        doubtful_site()
        name = call("cluster_doubts", "shop")[0][0]["doubt"]

        assert [] == call("settle_doubt", "shop", name, "--different")[0]
        assert name not in [line["doubt"] for line in call("cluster_doubts", "shop")[0]]
        assert f"the doubt {name} is settled" in fail("settle_doubt", "shop", name, "--same")

    def test_undo_moves_them_back(self) -> None:
        doubtful_site()
        name = call("cluster_doubts", "shop")[0][0]["doubt"]
        there, _ = call("settle_doubt", "shop", name, "--same")
        back, _ = call("settle_doubt", "shop", name, "--undo")

        assert {line["url"] for line in there} == {line["url"] for line in back}
        assert "no answer to a doubt" in fail("settle_doubt", "shop", name, "--undo")

    def test_while_a_job_clusters_the_site_the_answer_is_kept(self) -> None:
        site = doubtful_site()
        enqueue(clustering_request(site=site, algorithm="common_paths"))
        name = call("cluster_doubts", "shop")[0][0]["doubt"]

        assert "the answer is kept, but “Cluster shop by common_paths” is already" in fail(
            "settle_doubt", "shop", name, "--same"
        )
        assert 1 == ClusterAnswer.objects.count()

    def test_errors_say_what_to_do(self) -> None:
        doubtful_site()
        assert "cluster_doubts shop" in fail("settle_doubt", "shop", "0123", "--same")
        assert "one of the arguments --same --different" in fail("settle_doubt", "shop", "0123")
        assert "add it with" in fail("settle_doubt", "nowhere", "0123", "--same")
