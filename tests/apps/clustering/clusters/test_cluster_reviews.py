"""People judge a cluster by a few pages; what they confirm is a truth file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.exceptions import ValidationError

from clustering.models import ClusterReview, PageMembership
from clustering.services.clusters.cluster_changes import merge_clusters, move_pages
from clustering.services.clusters.cluster_reviews import pages_to_review, store_review, truth_lines
from tests.apps.clustering.api_cast import page_of
from tests.apps.clustering.cluster_cast import Shop, clustering_of, shop_of
from tests.apps.core.test_commands import call, fail
from vertex.core.models import AuditEntry, User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

MANY = "abcdefghijklmnopqrstuvwx"


@pytest.fixture
def shop() -> Shop:
    return shop_of({"books": MANY, "news": "YZ"})


def judge(
    shop: Shop, name: str, verdict: str, pages: str, strangers: str = "", **fields: Any
) -> ClusterReview:
    return store_review(
        cluster=shop.clusters[name],
        verdict=verdict,
        pages=shop.pks(pages),
        strangers=shop.pks(strangers),
        comment=fields.get("comment", ""),
        actor=fields.get("actor"),
    )


def letters(memberships: list[PageMembership]) -> str:
    return "".join(membership.page.url[-1] for membership in memberships)


class TestPagesToReview:
    def test_random_ones_are_the_same_for_a_seed_and_each_once(self, shop: Shop) -> None:
        first, same, other = (
            letters(pages_to_review(shop.clusters["books"], seed).random) for seed in (1, 1, 2)
        )

        assert first == same
        assert first != other
        assert 10 == len(set(first)) == len(first)

    def test_the_strangest_are_the_most_distant(self, shop: Shop) -> None:
        for letter, distance in [("k", 0.9), ("c", 0.8), ("f", None)]:
            PageMembership.objects.filter(page=shop.pages[letter]).update(distance=distance)
        strangest = letters(pages_to_review(shop.clusters["books"]).strangest)

        assert "kc" == strangest[:2]
        assert "f" not in strangest
        assert 10 == len(strangest)

    def test_a_small_cluster_is_shown_whole(self, shop: Shop) -> None:
        review = pages_to_review(shop.clusters["news"])
        assert ["YZ", "YZ"] == ["".join(sorted(letters(shown))) for shown in review]

    def test_pages_moved_here_are_measured_against_the_cluster_as_it_is(self) -> None:
        shop = shop_of({"books": "", "news": ""})
        book, note = b"<h1>B</h1><ul><li>b</ul>", b"<table><tr><td>n</table>"
        bodies = dict.fromkeys("abcdefghijkl", book) | dict.fromkeys("YZ", note)
        shop.pages |= {
            letter: page_of(shop.site, letter, body).pk for letter, body in bodies.items()
        }
        clustering_of(shop, {"books": "abcdefghijkl", "news": "YZ"})
        move_pages(site=shop.site, pages=shop.pks("Z"), to=shop.clusters["books"], actor=None)
        strangest = pages_to_review(shop.clusters["books"]).strangest

        assert "Z" == letters(strangest)[0]
        assert strangest[0].distance is not None
        assert strangest[0].distance > 0.5
        assert strangest[1].distance == 0.0

    def test_a_cluster_without_pages_has_none(self, shop: Shop) -> None:
        merge_clusters(cluster=shop.clusters["news"], into=shop.clusters["books"], actor=None)
        assert ([], []) == pages_to_review(shop.clusters["news"])


class TestVerdicts:
    def test_are_kept_with_who_gave_them(self, shop: Shop) -> None:
        olga: User = User.objects.create_user("olga")
        given = judge(shop, "books", "mixed", "abc", "c", comment="c is a list\0", actor=olga)

        assert ("mixed", shop.pks("abc"), shop.pks("c"), "c is a list\ufffd", olga) == (
            given.verdict,
            given.pages,
            given.strangers,
            given.comment,
            given.given_by,
        )
        assert shop.clustering == given.clustering
        assert ("cluster.judged", "olga") == AuditEntry.objects.values_list(
            "action", "actor_name"
        ).get()

    @pytest.mark.parametrize(
        ("verdict", "pages", "strangers", "reason"),
        [
            ("maybe", "a", "", "no verdict; use one of one_type, mixed"),
            ("one_type", "", "", "at least one page"),
            ("one_type", "ab", "c", "among the pages"),
            ("one_type", "aY", "", "not in books any more"),
        ],
    )
    def test_refuse_what_was_not_looked_at(
        self, shop: Shop, verdict: str, pages: str, strangers: str, reason: str
    ) -> None:
        with pytest.raises(ValidationError, match=reason):
            judge(shop, "books", verdict, pages, strangers)
        assert not ClusterReview.objects.exists()


class TestTruth:
    def lines(self, shop: Shop) -> dict[str, str]:
        results = [
            (line["url"].removeprefix(shop.site.root_url), line["type"])
            for line in truth_lines(shop.site)
        ]
        types = sorted({kind for _, kind in results})
        return {kind: "".join(sorted(url for url, its in results if its == kind)) for kind in types}

    def test_is_the_pages_of_clusters_of_one_type_without_strangers(self, shop: Shop) -> None:
        judge(shop, "books", "one_type", "abc", "b")
        judge(shop, "news", "mixed", "YZ")

        assert {"books": MANY.replace("b", "")} == self.lines(shop)

    def test_the_last_verdict_counts_and_what_it_did_not_show_stays_marked(
        self, shop: Shop
    ) -> None:
        judge(shop, "news", "mixed", "YZ")
        judge(shop, "news", "one_type", "YZ", "Z")
        judge(shop, "news", "one_type", "Y")
        assert {"news": "Y"} == self.lines(shop)

        judge(shop, "news", "one_type", "Z")
        assert {"news": "YZ"} == self.lines(shop)
        judge(shop, "news", "mixed", "Z")
        assert {} == self.lines(shop)

    def test_a_stranger_that_was_moved_has_the_type_of_where_it_is(self, shop: Shop) -> None:
        judge(shop, "books", "one_type", "ab", "b")
        judge(shop, "news", "one_type", "YZ")
        move_pages(site=shop.site, pages=shop.pks("b"), to=shop.clusters["news"], actor=None)

        assert {"books": MANY.replace("b", ""), "news": "YZb"} == self.lines(shop)

    def test_is_written_by_a_command(self, shop: Shop, tmp_path: Path) -> None:
        judge(shop, "news", "one_type", "YZ")
        lines, result = call("export_truth", "shop")
        assert [{"url": f"https://shop.example/{page}", "type": "news"} for page in "YZ"] == lines
        assert "2 pages of 1 types" in result

        call("export_truth", "shop", "--output", tmp_path / "truth.jsonl")
        assert lines == [
            orjson.loads(line) for line in (tmp_path / "truth.jsonl").read_bytes().splitlines()
        ]

    def test_of_a_site_without_verdicts_is_empty_and_the_command_says_so(self, shop: Shop) -> None:
        lines, result = call("export_truth", "shop")
        assert [] == lines
        assert "no cluster was judged" in result
        assert "no site 'elsewhere'" in fail("export_truth", "elsewhere")
