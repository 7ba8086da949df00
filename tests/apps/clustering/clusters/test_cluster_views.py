"""Clusters in the browser: listed, mapped, opened, changed by hand, reviewed, compared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.models import (
    ClusterChange,
    Clustering,
    ClusterReview,
    Link,
    PageMembership,
    SearchClick,
)
from tests.apps.clustering.cluster_cast import Shop, clustering_of, pages_by_cluster, shop_of
from vertex.core.models import Job, Membership, Role, Site, User
from vertex.core.services.jobs.jobs import cancel_job

pytestmark = pytest.mark.django_db
BODIES = {"products": "<h1>Trail Runner</h1><img src=a.png>", "lists": "<ul><li>a<li>b</ul>"}


def browser(role: Role) -> Client:
    user = User.objects.create_user(f"the-{role}")
    Membership.objects.create(user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def viewer() -> Client:
    return browser(Role.VIEWER)


@pytest.fixture
def editor() -> Client:
    return browser(Role.EDITOR)


@pytest.fixture
def operator() -> Client:
    return browser(Role.OPERATOR)


@pytest.fixture
def shop() -> Shop:
    created = shop_of({"products": "abcd", "lists": "ef", None: "z"}, bodies=BODIES)
    Site.objects.filter(pk=created.site.pk).update(n_pages=7)
    Clustering.objects.filter(is_current=False).delete()
    created.clustering.n_pages, created.clustering.n_unassigned = 7, 1
    created.clustering.map = [[pk, 0.1 * n, 0.5] for n, pk in enumerate(created.pages.values())]
    created.clustering.why = "Decided on 42 paths."
    created.clustering.save()
    return created


def shown(client: Client, view: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(view, args=args), query)
    assert 200 == answer.status_code
    return answer.content.decode()


def post(client: Client, view: str, *args: object, **fields: Any) -> HttpResponse:
    answer: Any = client.post(reverse(view, args=args), fields)
    assert 302 == answer.status_code
    return answer  # type: ignore[no-any-return]


def told(client: Client) -> str:
    """Return what the toasts of the next page say."""
    answer = client.get(reverse("sites"))
    return " ".join(str(message) for message in answer.context["messages"])


def undo(client: Client) -> None:
    """Press the undo button of the toast on the next page."""
    messages = list(client.get(reverse("sites")).context["messages"])
    way_back = json.loads(messages[-1].extra_tags)
    client.post(way_back["url"], dict(way_back["fields"]))


class TestClusters:
    def test_they_are_listed_largest_first(self, viewer: Client, shop: Shop) -> None:
        page = shown(viewer, "clusters", "shop")

        assert page.index("/clusters/products/") < page.index("/clusters/lists/")
        assert "Decided on 42 paths." in page

    def test_the_share_in_none_leads_to_those_pages(self, viewer: Client, shop: Shop) -> None:
        assert "14.3 %" in shown(viewer, "clusters", "shop")
        assert f"/pages/{shop.pages['z']}/" in shown(viewer, "unassigned_pages", "shop")
        assert f"/pages/{shop.pages['a']}/" not in shown(viewer, "unassigned_pages", "shop")

    @pytest.mark.both_databases
    def test_they_are_found_by_words(self, viewer: Client, shop: Shop) -> None:
        page = shown(viewer, "clusters", "shop", q="LIST")

        assert "/clusters/lists/" in page
        assert 'id="cluster-' + str(shop.clusters["products"].pk) not in page
        assert "No cluster matches" in shown(viewer, "clusters", "shop", q="nothing")

    def test_the_number_of_queries_does_not_grow(self, viewer: Client, shop: Shop) -> None:
        def count() -> int:
            with CaptureQueriesContext(connection) as queries:
                shown(viewer, "clusters", "shop")
            return len(queries)

        before = count()
        letters = "ghijklmn"
        other = shop_of({f"type-{letter}": letter for letter in letters}, name="other", bodies={})
        with CaptureQueriesContext(connection) as queries:
            shown(viewer, "clusters", other.site.name)

        assert len(queries) <= before

    def test_a_site_without_clusters_says_what_to_do(self, operator: Client) -> None:
        Site.objects.create(name="new", root_url="https://new.example/", n_pages=5)
        Site.objects.create(name="empty", root_url="https://empty.example/")

        assert "The pages are not grouped yet" in shown(operator, "clusters", "new")
        assert "No pages yet" in shown(operator, "clusters", "empty")

    def test_a_failure_is_told(self, viewer: Client, shop: Shop) -> None:
        Job.objects.create(
            task="clustering.cluster_site",
            queue="learn",
            title="Cluster shop by auto",
            site=shop.site,
            state=Job.State.FAILED,
            error="the disk is full",
            finished_at=timezone.now(),
        )

        assert "the disk is full" in shown(viewer, "clusters", "shop")

    def test_the_page_of_the_site_shows_them(self, viewer: Client, shop: Shop) -> None:
        page = shown(viewer, "site", "shop")

        assert "/clusters/products/" in page
        assert "14.3 % of the pages in none" in page


class TestMap:
    def test_it_tells_place_cluster_and_address_of_each_page(
        self, viewer: Client, shop: Shop
    ) -> None:
        drawn = json.loads(shown(viewer, "cluster_map", "shop"))

        numbers = {
            point["url"].removeprefix(shop.site.root_url): point["number"]
            for point in drawn["points"]
        }
        assert {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1, "f": 1, "z": None} == numbers
        assert ["products", "lists"] == [cluster["title"] for cluster in drawn["clusters"]]

    def test_what_people_moved_is_where_they_put_it(
        self, viewer: Client, editor: Client, shop: Shop
    ) -> None:
        post(editor, "move_pages", "shop", pages=shop.pks("z"), to="lists")

        points = json.loads(shown(viewer, "cluster_map", "shop"))["points"]

        assert [1] == [point["number"] for point in points if point["url"].endswith("/z")]

    def test_without_clusters_there_is_none(self, viewer: Client) -> None:
        Site.objects.create(name="new", root_url="https://new.example/")

        assert 404 == viewer.get(reverse("cluster_map", args=["new"])).status_code


class TestStart:
    def test_every_algorithm_is_offered_with_a_sentence(self, operator: Client, shop: Shop) -> None:
        page = shown(operator, "cluster_site", "shop")

        assert all(f'value="{name}"' in page for name in CLUSTERERS)
        assert "functools" not in page

    def test_what_the_site_lacks_closes_an_algorithm_with_the_reason(
        self, operator: Client, shop: Shop
    ) -> None:
        Link.objects.all().delete()

        def closed() -> set[str]:
            answer = operator.get(reverse("cluster_site", args=["shop"]))
            return {choice.name for choice in answer.context["choices"] if choice.refusal}

        assert {"keyclus", "uxclust"} <= closed()
        SearchClick.objects.create(site=shop.site, query="boots", url="u", url_hash=b"h", clicks=1)
        assert "keyclus" not in closed()
        Link.objects.create(
            page_id=shop.pages["a"], position=0, xpath="/a", url="u", url_hash=b"h" * 16, text="x"
        )
        assert set() == closed()

    def test_it_starts_a_job_that_can_be_cancelled_from_the_page(
        self, operator: Client, shop: Shop
    ) -> None:
        post(operator, "cluster_site", "shop", algorithm="shingles", n_sample="5", compare="on")

        job = Job.objects.get()
        params = {
            "algorithm": "shingles",
            "n_sample": 5,
            "compare": True,
            "parameters": {"shingle_length": 10},
        }
        assert ("clustering.cluster_site", params) == (job.task, job.params)
        page = shown(operator, "clusters", "shop")
        assert reverse("cancel_job", args=[job.pk]) in page
        cancel_job(job=job, actor=None)
        assert reverse("cancel_job", args=[job.pk]) not in shown(operator, "clusters", "shop")

    def test_each_parameter_has_a_field_with_its_default_and_a_sentence(
        self, operator: Client, shop: Shop
    ) -> None:
        page = shown(operator, "cluster_site", "shop")

        for clusterer in CLUSTERERS.values():
            for parameter in clusterer.parameters:
                assert f'name="{clusterer.name}-{parameter.name}"' in page
                assert escape(parameter.sentence) in page
        assert 'name="shingles-shingle_length" value="10"' in page

    def test_the_parameters_of_the_chosen_algorithm_are_taken(
        self, operator: Client, shop: Shop
    ) -> None:
        entered = {"shingles-shingle_length": "3", "common_paths-threshold": "nonsense"}
        post(operator, "cluster_site", "shop", algorithm="shingles", **entered)

        assert {"shingle_length": 3} == Job.objects.get().params["parameters"]

    def test_a_switch_that_is_off_is_off(self, operator: Client, shop: Shop) -> None:
        post(operator, "cluster_site", "shop", algorithm="keyclus")
        assert Job.objects.get().params["parameters"]["splits_tabs"] is False

    def test_a_bad_parameter_is_told_at_its_field(self, operator: Client, shop: Shop) -> None:
        entered = {"algorithm": "shingles", "shingles-shingle_length": "0"}
        answer = operator.post(reverse("cluster_site", args=["shop"]), entered)

        assert (400, 0) == (answer.status_code, Job.objects.count())
        assert "Enter a whole number from 1 to 100." in answer.content.decode()

    def test_a_second_one_leads_to_the_first(self, operator: Client, shop: Shop) -> None:
        post(operator, "cluster_site", "shop", algorithm="auto")

        answer = post(operator, "cluster_site", "shop", algorithm="shingles")

        assert reverse("job", args=[Job.objects.get().pk]) == answer.headers["Location"]

    def test_an_unknown_algorithm_is_refused(self, operator: Client, shop: Shop) -> None:
        answer = operator.post(reverse("cluster_site", args=["shop"]), {"algorithm": "magic"})

        assert (400, 0) == (answer.status_code, Job.objects.count())

    def test_an_editor_may_not(self, editor: Client, shop: Shop) -> None:
        assert (
            403
            == editor.post(
                reverse("cluster_site", args=["shop"]), {"algorithm": "auto"}
            ).status_code
        )


class TestCluster:
    def test_it_shows_figures_pages_and_examples(self, viewer: Client, shop: Shop) -> None:
        page = shown(viewer, "cluster", "shop", "products")

        assert "57.1 % of 7" in page
        assert all(f"/pages/{pk}/" in page for pk in shop.pks("abcd"))
        assert page.count('class="thumbnail') == 4

    @pytest.mark.both_databases
    def test_its_pages_are_searched_and_sorted(self, viewer: Client, shop: Shop) -> None:
        PageMembership.objects.filter(page=shop.pages["c"]).update(distance=0.9)

        page = shown(viewer, "cluster", "shop", "products")
        result = shown(viewer, "cluster", "shop", "products", q="/b")

        assert page.index(f'id="page-{shop.pages["c"]}"') < page.index(
            f'id="page-{shop.pages["a"]}"'
        )
        assert f'id="page-{shop.pages["b"]}"' in result
        assert f'id="page-{shop.pages["a"]}"' not in result

    def test_a_viewer_sees_no_way_to_change_it(self, viewer: Client, shop: Shop) -> None:
        page = shown(viewer, "cluster", "shop", "products")

        assert reverse("rename_cluster", args=["shop", "products"]) not in page
        assert 'name="pages"' not in page

    def test_a_cluster_that_lost_its_pages_says_so(self, viewer: Client, shop: Shop) -> None:
        clustering_of(shop, {"lists": "abcdef"})

        assert "It has no pages now" in shown(viewer, "cluster", "shop", "products")

    def test_an_unknown_one_is_not_there(self, viewer: Client, shop: Shop) -> None:
        assert 404 == viewer.get(reverse("cluster", args=["shop", "nothing"])).status_code


class TestChanges:
    def now(self, shop: Shop) -> dict[str, str]:
        return pages_by_cluster(shop, shop.clustering)

    def test_pages_move_and_undo_moves_them_back(self, editor: Client, shop: Shop) -> None:
        before = self.now(shop)

        post(editor, "move_pages", "shop", pages=shop.pks("ab"), to="lists")
        assert {"products": "cd", "lists": "abef"}.items() <= self.now(shop).items()
        undo(editor)
        assert before == self.now(shop)
        undo(editor)
        assert "abef" == self.now(shop)["lists"]

    def test_pages_move_to_a_new_cluster(self, editor: Client, shop: Shop) -> None:
        post(editor, "move_pages", "shop", pages=shop.pks("ab"), to="", title="Old products")

        assert "ab" == self.now(shop)["old-products"]

    def test_clusters_merge(self, editor: Client, shop: Shop) -> None:
        answer = post(editor, "merge_clusters", "shop", "lists", into="products")

        assert "abcdef" == self.now(shop)["products"]
        assert reverse("cluster", args=["shop", "products"]) == answer.headers["Location"]

    def test_a_split_is_a_job(self, editor: Client, shop: Shop) -> None:
        post(editor, "split_cluster", "shop", "products")

        assert "clustering.split_cluster" == Job.objects.get().task

    def test_a_new_title_and_the_old_one_again(self, editor: Client, shop: Shop) -> None:
        post(editor, "rename_cluster", "shop", "products", title="Shoes")
        shop.clusters["products"].refresh_from_db()
        assert "Shoes" == shop.clusters["products"].title
        undo(editor)
        shop.clusters["products"].refresh_from_db()
        assert "products" == shop.clusters["products"].title

    @pytest.mark.parametrize(
        "fields",
        [
            {"to": "lists"},
            {"pages": ["1"], "to": ""},
            {"pages": ["x"], "to": "lists"},
            {"pages": ["9" * 30], "to": "lists"},
            {"pages": ["999999"], "to": "lists"},
            {"pages": [str(n) for n in range(1, 600)], "to": "lists"},
        ],
        ids=["no pages", "no title", "no number", "huge number", "unknown page", "too many"],
    )
    def test_what_makes_no_sense_changes_nothing_and_says_why(
        self, editor: Client, shop: Shop, fields: dict[str, Any]
    ) -> None:
        post(editor, "move_pages", "shop", **fields)

        assert told(editor).endswith(".")
        assert 0 == ClusterChange.objects.count()

    def test_one_comes_back_to_where_one_was_and_nowhere_else(
        self, editor: Client, shop: Shop
    ) -> None:
        here = reverse("cluster", args=["shop", "products"])
        own = post(editor, "move_pages", "shop", pages=shop.pks("a"), to="lists", next=here)
        foreign = post(
            editor,
            "move_pages",
            "shop",
            pages=shop.pks("b"),
            to="lists",
            next="https://evil.example/",
        )

        assert [here, reverse("clusters", args=["shop"])] == [
            own.headers["Location"],
            foreign.headers["Location"],
        ]

    def test_the_history_offers_undo_and_redo(self, editor: Client, shop: Shop) -> None:
        post(editor, "move_pages", "shop", pages=shop.pks("ab"), to="lists")
        change = ClusterChange.objects.get()

        assert reverse("undo_change", args=["shop", change.pk]) in shown(
            editor, "cluster_changes", "shop"
        )
        post(editor, "undo_change", "shop", change.pk)
        assert reverse("redo_change", args=["shop", change.pk]) in shown(
            editor, "cluster", "shop", "lists"
        )

    def test_the_history_tells_how_many_without_reading_which(
        self, editor: Client, shop: Shop
    ) -> None:
        post(editor, "move_pages", "shop", pages=shop.pks("ab"), to="lists")
        products, lists = (shop.clusters[name] for name in ("products", "lists"))
        groups = {"a": products.pk, "b": lists.pk}
        detail = {"parts": {str(products.pk): [1]}, "groups": groups, "n_pages": 9}
        ClusterChange.objects.create(
            site=shop.site, kind="split", cluster=shop.clusters["products"], detail=detail
        )

        with CaptureQueriesContext(connection) as queries:
            page_text = shown(editor, "cluster_changes", "shop") + shown(
                editor, "cluster", "shop", "products"
            )

        assert 2 == page_text.count("split: 1 part taken out")
        assert "2 pages moved to" in page_text
        assert not [
            query["sql"]
            for query in queries
            if '"detail", "clustering_clusterchange"' in query["sql"]
        ]

    def test_a_viewer_changes_nothing(self, viewer: Client, shop: Shop) -> None:
        answer = viewer.post(
            reverse("move_pages", args=["shop"]), {"pages": shop.pks("a"), "to": "lists"}
        )

        assert (403, 0) == (answer.status_code, ClusterChange.objects.count())


class TestReview:
    def test_it_shows_each_page_once(self, editor: Client, shop: Shop) -> None:
        page = shown(editor, "review_cluster", "shop", "products")

        assert [1] * 4 == [page.count(f'id="card-{pk}"') for pk in shop.pks("abcd")]

    def test_a_verdict_leads_to_the_next_cluster(self, editor: Client, shop: Shop) -> None:
        answer = post(
            editor,
            "review_cluster",
            "shop",
            "products",
            verdict="one_type",
            pages=shop.pks("abcd"),
            strangers=shop.pks("d"),
            comment="d is a guide",
        )

        given = ClusterReview.objects.get()
        assert (shop.pks("d"), "d is a guide") == (given.strangers, given.comment)
        assert reverse("review_cluster", args=["shop", "lists"]) == answer.headers["Location"]

    def test_several_types_lead_to_the_cluster_to_be_split(
        self, editor: Client, shop: Shop
    ) -> None:
        answer = post(
            editor, "review_cluster", "shop", "products", verdict="mixed", pages=shop.pks("ab")
        )

        assert reverse("cluster", args=["shop", "products"]) == answer.headers["Location"]
        assert "Several types" in shown(editor, "clusters", "shop")

    def test_what_was_found_to_be_mixed_offers_the_split_until_it_is_split(
        self, editor: Client, shop: Shop
    ) -> None:
        offer = "Split it"
        assert offer not in shown(editor, "cluster", "shop", "products")
        post(editor, "review_cluster", "shop", "products", verdict="mixed", pages=shop.pks("ab"))
        assert offer in shown(editor, "cluster", "shop", "products")

        ClusterChange.objects.create(
            site=shop.site, kind="split", cluster=shop.clusters["products"]
        )
        assert offer not in shown(editor, "cluster", "shop", "products")

    def test_the_last_verdict_leads_back_to_the_list(self, editor: Client, shop: Shop) -> None:
        post(editor, "review_cluster", "shop", "lists", verdict="one_type", pages=shop.pks("ef"))

        answer = post(
            editor, "review_cluster", "shop", "products", verdict="one_type", pages=shop.pks("ab")
        )

        assert reverse("clusters", args=["shop"]) == answer.headers["Location"]

    def test_no_verdict_is_kept_about_nothing(self, editor: Client, shop: Shop) -> None:
        for fields in (
            {"verdict": "one_type"},
            {"pages": shop.pks("a")},
            {"verdict": "x", "pages": ["1"]},
        ):
            post(editor, "review_cluster", "shop", "products", **fields)

        assert 0 == ClusterReview.objects.count()

    def test_the_truth_file_has_the_pages_of_one_type(self, editor: Client, shop: Shop) -> None:
        fields = {"verdict": "one_type", "pages": shop.pks("abcd"), "strangers": shop.pks("d")}
        post(editor, "review_cluster", "shop", "products", **fields)

        answer = editor.get(reverse("truth_file", args=["shop"]))

        assert answer.streaming
        lines = [json.loads(line) for line in b"".join(answer).splitlines()]
        assert {(f"{shop.site.root_url}{letter}", "products") for letter in "abc"} == {
            (line["url"], line["type"]) for line in lines
        }
        assert "shop-truth.jsonl" in answer.headers["Content-Disposition"]


class TestRuns:
    def test_each_is_listed_and_opens(self, viewer: Client, shop: Shop) -> None:
        assert "Decided on 42 paths." in shown(viewer, "clustering", "shop", shop.clustering.pk)
        assert f"/clusterings/{shop.clustering.pk}/" in shown(viewer, "clusterings", "shop")

    def test_its_parameters_are_shown_beside_those_of_the_paper(
        self, viewer: Client, shop: Shop
    ) -> None:
        created = Clustering.objects.create(
            site=shop.site, algorithm="shingles", parameters={"shingle_length": 3}
        )
        page = " ".join(shown(viewer, "clustering", "shop", created.pk).split())

        assert '<dd> 3 <span class="muted">instead of 10</span> </dd>' in page

    def test_another_one_becomes_current_and_undo_brings_the_first_back(
        self, operator: Client, shop: Shop
    ) -> None:
        newer = clustering_of(shop, {"products": "abcdef"})

        post(operator, "make_current", "shop", shop.clustering.pk)
        shop.clustering.refresh_from_db()
        assert shop.clustering.is_current
        undo(operator)
        newer.refresh_from_db()
        assert newer.is_current

    def test_one_that_is_not_current_is_dropped_and_the_current_one_is_not(
        self, operator: Client, shop: Shop
    ) -> None:
        newer = clustering_of(shop, {"products": "abcdef"})

        post(operator, "drop_clustering", "shop", newer.pk)
        assert "Not dropped" in told(operator)
        post(operator, "drop_clustering", "shop", shop.clustering.pk)
        assert [newer] == list(shop.site.clusterings.all())

    def test_two_are_compared(self, viewer: Client, shop: Shop) -> None:
        clustering_of(shop, {"products": "abcde", "lists": "f"})

        answer = viewer.get(reverse("compare_clusterings", args=["shop"]))

        grid = answer.context["grid"]
        cells = {row.name: [cell.n for cell in row.cells] for row in grid.rows}
        assert ["products", "lists"] == [name for name, *_ in grid.columns]
        assert {"products": [4, 1], "lists": [0, 1]} == cells
        assert shop.site.root_url in answer.content.decode()

    def test_one_alone_has_nothing_to_be_compared_with(self, viewer: Client, shop: Shop) -> None:
        assert "nothing to compare yet" in shown(viewer, "compare_clusterings", "shop")

    def test_what_is_not_of_the_site_is_not_shown(self, viewer: Client, shop: Shop) -> None:
        Site.objects.create(name="other", root_url="https://other.example/")

        address = reverse("clustering", args=["other", shop.clustering.pk])

        assert 404 == viewer.get(address).status_code


class TestSiteModel:
    MODEL = {
        "strategy": "densest_first",
        "n_fetched": 3,
        "classes": [
            {"name": "0", "members": ["a"], "schema": []},
            {"name": "1", "members": ["b"], "schema": []},
        ],
        "links": [
            {"from": "0", "to": "1", "path": "/html/body/<script>/a", "n_links": 12},
            {"from": "1", "to": "0", "path": "/html/a", "n_links": 1},
            {"from": "1", "to": "1", "path": "/html/b", "n_links": 2},
        ],
    }

    def test_classes_and_their_links_are_drawn_and_listed(self, viewer: Client, shop: Shop) -> None:
        shop.clustering.algorithm, shop.clustering.model = "site_model", self.MODEL
        shop.clustering.save()
        shop.clustering.figures.filter(cluster__name="products").update(group="1")

        answer = viewer.get(reverse("site_model", args=["shop"]))

        graph, page = answer.context["graph"], answer.content.decode()
        assert ["Class 0", "products"] == [node.title for node in graph.nodes]
        assert {("0", "1", True), ("1", "0", False)} == {
            (edge.source, edge.target, edge.is_trunk) for edge in graph.edges
        }
        assert "&lt;script&gt;" in page
        assert "/<script>/" not in page

    def test_without_one_the_page_offers_to_compute_it(self, operator: Client, shop: Shop) -> None:
        assert "Compute site model" in shown(operator, "site_model", "shop")


class TestWhatPagesSay:
    def test_hostile_titles_and_patterns_are_text(self, editor: Client, shop: Shop) -> None:
        hostile = "<script>alert(1)</script>"
        shop.clustering.figures.update(url_pattern=hostile, why=hostile)
        post(editor, "rename_cluster", "shop", "products", title=hostile)
        clustering_of(shop, {"products": "abcde", "lists": "f"})

        pages = [
            shown(editor, view, "shop", *args)
            for view, *args in (
                ["clusters"],
                ["cluster", "products"],
                ["review_cluster", "products"],
                ["compare_clusterings"],
                ["clusterings"],
                ["site"],
            )
        ]

        assert [False] * len(pages) == [hostile in page for page in pages]
        assert "&lt;script&gt;alert" in pages[0]
