"""The queue, the page to annotate and what has to be done before."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Assignment, Sample
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.page.page_states import neighbours_of, share_covered
from annotation.services.samples.next_samples import keep_next_sample
from annotation.services.samples.queue import queue_of
from clustering.models import Cluster, Page, Snapshot
from tests.apps.annotation.cast import attribute, cluster_of, product_page, shop
from vertex.core.models import Job, Membership, Role, Site, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def pages(site: Site) -> list[Page]:
    return [product_page(site, f"p/{n}", f"Runner {n}") for n in range(4)]


@pytest.fixture
def cluster(site: Site, pages: list[Page]) -> Cluster:
    return cluster_of(site, "product", pages)


@pytest.fixture
def ada() -> User:
    user: User = User.objects.create_user("ada")
    Membership.objects.create(user=user, role=Role.EDITOR)
    return user


@pytest.fixture
def browser(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def draw(cluster: Cluster, pages: list[Page]) -> None:
    for rank, page in enumerate(pages, 1):
        gain = 8 / 2**rank
        assert page.latest_snapshot is not None
        Sample.objects.create(
            cluster=cluster,
            page=page,
            snapshot=page.latest_snapshot,
            rank=rank,
            gain=gain,
            scheme="weighted",
        )


def say(page: Page, name: str, xpath: str = "/html/body/h1", text: str = "Runner") -> None:
    assert page.latest_snapshot is not None
    annotate(
        snapshot=page.latest_snapshot,
        attribute=attribute(name),
        marks=[AnnotatedValue(Anchor(xpath, text))],
        actor=None,
    )


def shown(browser: Client, path: str, status: int = 200) -> str:
    answer = browser.get(path)
    assert status == answer.status_code
    return answer.content.decode()


SAMPLE = "/sites/shop/clusters/product/samples/1/"


class TestQueue:
    def test_pages_times_missing_fields_decide(
        self, site: Site, cluster: Cluster, pages: list[Page], ada: User
    ) -> None:
        other = cluster_of(site, "other", [product_page(site, "o/1")])
        draw(cluster, pages)
        for name in ("name", "price", "colour"):
            say(pages[0], name)
        rows = queue_of(ada)
        assert [("product", 4), ("other", 4)] == [(row.cluster.name, row.worth) for row in rows]
        assert ["image"] == rows[0].missing
        assert (4, 1, 2) == (rows[0].n_samples, rows[0].n_annotated, rows[0].next_rank)
        assert other == rows[1].cluster

    def test_what_is_done_comes_last(
        self, cluster: Cluster, pages: list[Page], ada: User, site: Site
    ) -> None:
        small = cluster_of(site, "small", [product_page(site, "s/1")])
        draw(cluster, pages)
        for name in ("name", "price", "colour", "image"):
            say(pages[0], name)
        assert [(small.name, "draw"), ("product", "done")] == [
            (row.cluster.name, row.step) for row in queue_of(ada)
        ]

    def test_a_cluster_that_nobody_described_asks_for_a_vertical(
        self, cluster: Cluster, ada: User
    ) -> None:
        Assignment.objects.all().delete()
        assert [("describe", None)] == [(row.step, row.vertical) for row in queue_of(ada)]

    @pytest.mark.both_databases
    def test_the_page_lists_and_searches(self, browser: Client, cluster: Cluster) -> None:
        assert "Draw samples" in shown(browser, "/annotate/")
        assert "product" in shown(browser, "/sites/shop/annotate/?q=prod")
        assert "No cluster like that" in shown(browser, "/annotate/?q=nothing")

    def test_an_empty_queue_says_what_to_do(self, browser: Client, site: Site) -> None:
        assert "Nothing to annotate yet" in shown(browser, "/annotate/")

    def test_sites_of_others_are_not_listed(self, cluster: Cluster) -> None:
        eve = User.objects.create_user("eve")
        assert [] == queue_of(eve)


class TestBefore:
    def test_samples_are_drawn_from_here(self, browser: Client, cluster: Cluster) -> None:
        assert "No samples yet" in shown(browser, SAMPLE)
        answer = browser.post("/sites/shop/clusters/product/draw-samples/")
        assert SAMPLE == answer["Location"]
        assert ["annotation.draw_samples"] == list(Job.objects.values_list("task", flat=True))
        assert "Samples are being drawn" in shown(browser, SAMPLE)

    def test_a_vertical_is_assigned_from_here(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        Assignment.objects.all().delete()
        draw(cluster, pages)
        assert "What do these pages describe?" in shown(browser, SAMPLE)
        browser.post("/sites/shop/clusters/product/vertical/", {"vertical": "product"})
        assert "data-annotate" in shown(browser, SAMPLE)

    def test_a_broken_snapshot_says_so_and_names_others(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        Snapshot.objects.filter(page=pages[0]).update(problem="truncated")
        page = shown(browser, SAMPLE)
        assert "snapshot of the page is truncated" in page
        assert "Sample 2" in page

    def test_a_page_without_snapshot_says_so(self, browser: Client, site: Site) -> None:
        page = product_page(site, "p/9")
        Page.objects.filter(pk=page.pk).update(latest_snapshot=None)
        assert "has no snapshot" in shown(browser, f"/sites/shop/pages/{page.pk}/annotate/")

    def test_there_is_no_sample_beyond_the_last(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        shown(browser, "/sites/shop/clusters/product/samples/9/", status=404)

    def test_viewers_may_not_annotate(self, cluster: Cluster) -> None:
        eve = User.objects.create_user("eve")
        Membership.objects.create(user=eve, role=Role.VIEWER)
        client = Client()
        client.force_login(eve)
        shown(client, SAMPLE, status=403)


class TestPage:
    def test_it_shows_the_attributes_with_their_keys(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        say(pages[0], "name", text="Runner 0")
        page = shown(browser, SAMPLE)
        assert 'data-key="n" data-key-id="attribute:name"' in page
        assert "Runner 0" in page
        assert "Sample 1 of 4" in page
        assert "page-frame-view" in page

    def test_a_part_has_no_page_around_it(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        part = browser.get(SAMPLE, headers={"X-Part": "sample"}).content.decode()
        assert "data-sample" in part
        assert "<html" not in part

    def test_any_page_can_be_annotated(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        assert "not among the samples" in shown(
            browser, f"/sites/shop/pages/{pages[2].pk}/annotate/"
        )

    def test_a_value_that_moved_or_went_is_marked(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        say(pages[0], "name", xpath="/html/body/h4", text="Runner 0")
        say(pages[0], "price", xpath="/html/body/h4", text="99 EUR")
        page = shown(browser, SAMPLE)
        assert "lost" in page
        assert "99 EUR" in page

    def test_neighbours_follow_the_order_of_the_samples(
        self, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        say(pages[1], "name")
        around = neighbours_of(cluster, pages[0])
        assert (None, 2, 3) == (
            around.before,
            around.after and around.after.rank,
            around.unannotated[0].rank,
        )
        last = neighbours_of(cluster, pages[3])
        assert (3, None, 1) == (
            last.before and last.before.rank,
            last.after,
            last.unannotated[0].rank,
        )

    def test_the_share_that_samples_cover_grows_to_all(
        self, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        shares = [share_covered(sample) or 0 for sample in Sample.objects.order_by("rank")]
        assert shares == sorted(shares)
        assert 1 == pytest.approx(shares[-1])


class TestNodes:
    def at(self, page: Page, part: str) -> str:
        return f"/sites/shop/pages/{page.pk}/snapshots/{page.latest_snapshot_id}/{part}/"

    def test_the_outline_names_every_element(self, browser: Client, pages: list[Page]) -> None:
        answer = browser.get(self.at(pages[0], "outline")).json()
        assert len(answer["parents"]) == len(answer["label_of"]) == 6
        assert "Runner 0" == answer["texts"]["2"]

    def test_a_node_tells_what_it_holds(self, browser: Client, pages: list[Page]) -> None:
        assert "/p/0.png" in shown(browser, f"{self.at(pages[0], 'node')}?number=5")
        shown(browser, f"{self.at(pages[0], 'node')}?number=99", status=404)
        shown(browser, f"{self.at(pages[0], 'node')}?number=x", status=404)

    def test_suggestions_carry_where_they_are_drawn(
        self, browser: Client, cluster: Cluster, pages: list[Page]
    ) -> None:
        answer = browser.get(self.at(pages[0], "suggestions")).json()
        prices = [mark for each in answer["price"] for mark in each["marks"]]
        assert 4 in {mark["number"] for mark in prices}


class TestNextSample:
    def test_the_queue_leads_to_the_sample_that_is_wanted_most(
        self, ada: User, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        keep_next_sample(cluster=cluster, rank=3)
        assert [3] == [row.next_rank for row in queue_of(ada)]

    def test_one_that_is_annotated_by_now_is_passed_over(
        self, ada: User, cluster: Cluster, pages: list[Page]
    ) -> None:
        draw(cluster, pages)
        keep_next_sample(cluster=cluster, rank=1)
        say(pages[0], "name")
        assert [2] == [row.next_rank for row in queue_of(ada)]


def test_the_rail_says_that_one_annotates(
    browser: Client, cluster: Cluster, pages: list[Page]
) -> None:
    draw(cluster, pages)
    text = shown(browser, "/sites/shop/clusters/product/samples/1/")
    assert ["Annotate"] == [
        link.partition('rail-word">')[2].partition("<")[0]
        for link in text.split('<a class="rail-link"')[1:]
        if 'aria-current="true"' in link.partition(">")[0]
    ]


@pytest.mark.parametrize("body", ["[" * 100_000, "no json", "[]", '"text"'])
def test_a_gesture_that_is_none_is_refused(
    body: str, browser: Client, site: Site, pages: list[Page], cluster: Cluster
) -> None:
    address = reverse("gesture", args=[site.name, pages[0].pk, pages[0].latest_snapshot_id])
    answer = browser.post(address, body, content_type="application/json")

    assert 400 == answer.status_code
