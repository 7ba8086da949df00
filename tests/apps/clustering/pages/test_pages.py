"""A visit becomes a page, a snapshot and links; told twice, it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries, Settings

from clustering.dom.addresses import url_hash
from clustering.models import Link, Page, Snapshot
from clustering.services.pages.pages import StoredVisit, Visit, prepare_visits, store_visits
from vertex.core.models import Job, Refusal, Site
from vertex.core.storage import DiskFull, page_store

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOP = "http://shop.example"
LIST = b"<ul><li><a href=/red>Red</a><li><a href=/blue>Blue</a></ul>"
RED = b"<h1>Red shoes</h1>"


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url=f"{SHOP}/")


def visit(path: str = "/", body: bytes = RED, *, hours: float = 0, **more: object) -> Visit:
    url = path if "://" in path else SHOP + path
    return Visit(url, body, NOON + timedelta(hours=hours), **more)  # type: ignore[arg-type]


def store(site: Site, *visits: Visit, job: Job | None = None) -> list[StoredVisit]:
    prepared = prepare_visits(visits)
    with transaction.atomic():
        return store_visits(site=site, prepared=prepared, job=job)


def words(stored: Sequence[StoredVisit]) -> list[str]:
    return [each.snapshot for each in stored]


def rows() -> dict[str, list[tuple[object, ...]]]:
    """Return all that visits write, without the numbers that depend on the way there."""
    pages = Page.objects.order_by("url").values_list(
        "url", "given_url", "state", "status", "reason", "visited_at", "redirects_to__url",
        "latest_snapshot__fetched_at", "latest_snapshot__body",
    )  # fmt: skip
    snapshots = Snapshot.objects.order_by("page__url", "fetched_at", "body").values_list(
        "page__url",
        "body",
        "n_bytes",
        "status",
        "encoding",
        "problem",
        "fetched_at",
        "seen_at",
        "requested_url",
    )
    links = Link.objects.order_by("page__url", "position").values_list(
        "page__url", "position", "xpath", "url", "text"
    )
    sites = Site.objects.values_list("name", "n_pages", "last_snapshot_at")
    return {
        "pages": list(pages),
        "snapshots": list(snapshots),
        "links": list(links),
        "sites": list(sites),
    }


class TestNewPage:
    def test_has_a_snapshot_and_links(self, shop: Site) -> None:
        (stored,) = store(
            shop,
            visit(
                "/list;jsessionid=1#top",
                LIST,
                content_type="text/html; charset=utf-8",
                is_given=True,
            ),
        )
        page = Page.objects.get()
        assert (f"{SHOP}/list;jsessionid=1#top", page.pk, "new", "") == (
            stored.url,
            stored.page_id,
            stored.snapshot,
            stored.reason,
        )
        assert (f"{SHOP}/list", f"{SHOP}/list;jsessionid=1#top") == (page.url, page.given_url)
        assert (url_hash(page.url), Page.State.STORED, 200, NOON) == (
            bytes(page.url_hash), page.state, page.status, page.visited_at,
        )  # fmt: skip
        snapshot = Snapshot.objects.get()
        assert snapshot == page.latest_snapshot
        assert (len(LIST), 200, "text/html; charset=utf-8", "utf-8", "") == (
            snapshot.n_bytes, snapshot.status, snapshot.content_type, snapshot.encoding,
            snapshot.problem,
        )  # fmt: skip
        assert (page.url, page.url, NOON, NOON) == (
            snapshot.requested_url, snapshot.final_url, snapshot.fetched_at, snapshot.seen_at,
        )  # fmt: skip
        assert LIST == page_store().read(snapshot.body)
        assert [
            (1, "/html/body/ul/li[1]/a", f"{SHOP}/red", "Red"),
            (2, "/html/body/ul/li[2]/a", f"{SHOP}/blue", "Blue"),
        ] == list(page.links.order_by("position").values_list("position", "xpath", "url", "text"))
        assert [url_hash(f"{SHOP}/red"), url_hash(f"{SHOP}/blue")] == [
            bytes(link.url_hash) for link in page.links.order_by("position")
        ]
        assert [f"{SHOP}/red", f"{SHOP}/blue"] == [link.url for link in stored.links]
        shop.refresh_from_db()
        assert (1, NOON) == (shop.n_pages, shop.last_snapshot_at)

    def test_is_stored_with_the_status_that_it_had(self, shop: Site) -> None:
        assert ["new"] == words(store(shop, visit("/gone", status=404)))
        assert (Page.State.STORED, 404) == Page.objects.values_list("state", "status").get()
        assert 404 == Snapshot.objects.get().status

    def test_that_was_due_becomes_stored(self, shop: Site) -> None:
        url = f"{SHOP}/red"
        due = Page.objects.create(
            site=shop, url=url, url_hash=url_hash(url), given_url="/red#x", depth=3
        )
        store(shop, visit("/red"))
        due.refresh_from_db()
        assert (Page.State.STORED, "/red#x", 3) == (due.state, due.given_url, due.depth)

    def test_that_nobody_handed_in_has_its_normalised_address(self, shop: Site) -> None:
        store(shop, visit("/list;jsessionid=1#top"))
        assert f"{SHOP}/list" == Page.objects.get().given_url

    def test_of_another_site_is_another_page(self, shop: Site) -> None:
        other = Site.objects.create(name="other", root_url=f"{SHOP}/")
        store(shop, visit())
        assert ["new"] == words(store(other, visit()))
        assert [1, 1] == list(Site.objects.values_list("n_pages", flat=True))
        assert 1 == len(list(page_store().names()))


class TestSecondVisit:
    def test_of_the_same_bytes_is_no_new_snapshot(self, shop: Site) -> None:
        store(shop, visit("/list", LIST))
        (stored,) = store(shop, visit("/list", LIST, hours=1))
        assert "unchanged" == stored.snapshot
        assert 2 == len(stored.links)
        snapshot = Snapshot.objects.get()
        assert (NOON, NOON + timedelta(hours=1)) == (snapshot.fetched_at, snapshot.seen_at)
        assert NOON + timedelta(hours=1) == Page.objects.get().visited_at
        assert 2 == Link.objects.count()

    def test_of_other_bytes_replaces_snapshot_and_links(self, shop: Site) -> None:
        store(shop, visit("/list", LIST), visit("/other", LIST))
        assert ["new"] == words(store(shop, visit("/list", b"<a href=/green>Green</a>", hours=1)))
        page = Page.objects.get(url=f"{SHOP}/list")
        assert 2 == page.snapshots.count()
        assert page.latest_snapshot == page.snapshots.latest("fetched_at")
        assert [(1, "Green")] == list(page.links.values_list("position", "text"))
        assert 2 == Page.objects.get(url=f"{SHOP}/other").links.count()
        shop.refresh_from_db()
        assert (2, NOON + timedelta(hours=1)) == (shop.n_pages, shop.last_snapshot_at)

    def test_back_to_earlier_bytes_is_a_new_snapshot(self, shop: Site) -> None:
        for hour, body in enumerate([b"<p>a", b"<p>b", b"<p>a"]):
            assert ["new"] == words(store(shop, visit(body=body, hours=hour)))
        assert 3 == Snapshot.objects.count()
        assert 2 == len(list(page_store().names()))

    def test_tells_anew_what_the_answer_said_of_the_bytes(self, shop: Site) -> None:
        store(shop, visit(body=b"<p>\xe9", status=500))
        store(shop, visit(body=b"<p>\xe9", hours=1, content_type="text/html; charset=koi8-r"))
        snapshot = Snapshot.objects.get()
        assert (200, "koi8-r") == (snapshot.status, snapshot.encoding)

    def test_after_a_failure_is_a_success(self, shop: Site) -> None:
        store(shop, visit(body=b"x" * 11_000_000))
        store(shop, visit(hours=1))
        assert (Page.State.STORED, "", 1) == Page.objects.values_list(
            "state", "reason", "site__n_pages"
        ).get()


class TestVisitOfThePast:
    def test_leaves_the_latest_snapshot_and_its_links(self, shop: Site) -> None:
        store(shop, visit("/list", LIST, hours=5))
        assert ["new"] == words(store(shop, visit("/list", b"<a href=/old>Old</a>", status=404)))
        page = Page.objects.get()
        assert page.latest_snapshot is not None
        assert NOON + timedelta(hours=5) == page.latest_snapshot.fetched_at == page.visited_at
        assert (Page.State.STORED, 200) == (page.state, page.status)
        assert 2 == page.snapshots.count() == page.links.count()
        shop.refresh_from_db()
        assert NOON + timedelta(hours=5) == shop.last_snapshot_at

    def test_told_again_changes_nothing(self, shop: Site) -> None:
        past = [visit(body=b"<p>a"), visit(body=b"<p>b", hours=1), visit(body=b"<p>b", hours=2)]
        store(shop, visit(body=b"<p>c", hours=5))
        assert ["new", "new", "unchanged"] == words(store(shop, *past))
        before = rows()
        assert ["unchanged"] * 3 == words(store(shop, *past))
        assert before == rows()

    def test_of_the_same_moment_is_known_again(self, shop: Site) -> None:
        visits = [visit(body=b"<p>a"), visit(body=b"<p>b"), visit(body=b"<p>c")]
        assert ["new"] * 3 == words(store(shop, *visits))
        before = rows()
        assert ["unchanged"] * 3 == words(store(shop, *visits))
        assert before == rows()

    def test_between_two_equal_ones_belongs_to_the_earlier(self, shop: Site) -> None:
        store(shop, visit(body=b"<p>a"), visit(body=b"<p>b", hours=4))
        assert ["unchanged"] == words(store(shop, visit(body=b"<p>a", hours=2)))
        assert ["unchanged"] == words(store(shop, visit(body=b"<p>b", hours=3)))
        assert [NOON + timedelta(hours=2), NOON + timedelta(hours=4)] == list(
            Snapshot.objects.order_by("fetched_at").values_list("seen_at", flat=True)
        )


class TestRedirect:
    def test_gives_its_snapshot_to_the_page_it_led_to(self, shop: Site) -> None:
        (stored,) = store(shop, visit("/old", LIST, final_url=f"{SHOP}/list#x"))
        old, new = Page.objects.get(url=f"{SHOP}/old"), Page.objects.get(url=f"{SHOP}/list")
        assert (f"{SHOP}/old", new.pk) == (stored.url, stored.page_id)
        assert (Page.State.REDIRECTED, new, None) == (
            old.state,
            old.redirects_to,
            old.latest_snapshot,
        )
        assert (Page.State.STORED, None) == (new.state, new.redirects_to)
        snapshot = Snapshot.objects.get()
        assert (new, f"{SHOP}/old", f"{SHOP}/list") == (
            snapshot.page,
            snapshot.requested_url,
            snapshot.final_url,
        )
        assert f"{SHOP}/red" == Link.objects.get(position=1).url
        shop.refresh_from_db()
        assert 2 == shop.n_pages

    def test_to_a_spelling_of_the_same_address_is_none(self, shop: Site) -> None:
        store(shop, visit("/a", final_url="HTTP://shop.example:80/./a;jsessionid=1"))
        assert [Page.State.STORED] == list(Page.objects.values_list("state", flat=True))

    def test_of_several_pages_to_one_stores_it_once(self, shop: Site) -> None:
        visits = [visit(f"/{n}", LIST, final_url=f"{SHOP}/list") for n in range(3)]
        assert ["new", "unchanged", "unchanged"] == words(store(shop, *visits))
        assert 3 == Page.objects.filter(redirects_to__url=f"{SHOP}/list").count()
        assert 2 == Link.objects.count()

    def test_of_a_page_that_answered_itself_keeps_its_snapshots(self, shop: Site) -> None:
        store(shop, visit("/a"))
        store(shop, visit("/a", LIST, hours=1, final_url=f"{SHOP}/b"))
        page = Page.objects.get(url=f"{SHOP}/a")
        assert (Page.State.REDIRECTED, 1) == (page.state, page.snapshots.count())
        store(shop, visit("/a", hours=2))
        page.refresh_from_db()
        assert (Page.State.STORED, None) == (page.state, page.redirects_to)

    def test_and_direct_visits_may_come_in_one_batch(self, shop: Site) -> None:
        visits = [
            visit("/b"),
            visit("/a", LIST, final_url=f"{SHOP}/b"),
            visit("/b", hours=1),
            visit("/a", hours=1),
        ]
        assert ["new", "new", "new", "new"] == words(store(shop, *visits))
        assert (2, 4) == (Page.objects.count(), Snapshot.objects.count())


class TestFailure:
    @pytest.mark.parametrize(
        ("body", "code", "reason"),
        [
            (
                b"x" * 50 * 1024 * 1024,
                "too_large",
                "52,428,800 bytes; at most 10,485,760 are parsed",
            ),
            (
                b"<a " + b" ".join(b"a%d" % n for n in range(100_000)) + b">",
                "too_many_attributes",
                "more than 1,000 attributes",
            ),
        ],
        ids=["50 MB", "100,000 attributes"],
    )
    def test_is_a_row_and_the_next_page_goes_on(
        self, shop: Site, body: bytes, code: str, reason: str
    ) -> None:
        job = Job.objects.create(task="test", queue=Job.Queue.FETCH, title="Test", site=shop)
        stored = store(shop, visit("/bad", body), visit("/good"), job=job)
        assert ["failed", "new"] == words(stored)
        assert (code, True) == (stored[0].code, reason in stored[0].reason)
        page = Page.objects.get(url=f"{SHOP}/bad")
        assert (page.pk, Page.State.FAILED, stored[0].reason) == (
            stored[0].page_id,
            page.state,
            page.reason,
        )
        assert [(f"{SHOP}/bad", code, stored[0].reason)] == list(
            job.refusals.values_list("subject", "code", "reason")
        )
        assert 1 == Snapshot.objects.count()

    def test_of_the_address_has_no_page(self, shop: Site) -> None:
        stored = store(
            shop,
            visit("http://user@shop.example/\0"),
            visit("/good", final_url="ftp://x/"),
            visit("/good"),
        )
        assert ["failed", "failed", "new"] == words(stored)
        assert [None, None] == [each.page_id for each in stored[:2]]
        assert "user name" in stored[0].reason or "control" in stored[0].reason
        assert 0 == Refusal.objects.count()

    def test_of_a_page_that_was_stored_keeps_its_snapshot(self, shop: Site) -> None:
        store(shop, visit("/list", LIST))
        store(shop, visit("/list", b"x" * 11_000_000, hours=1))
        page = Page.objects.get()
        assert (Page.State.FAILED, 1, 2) == (page.state, page.snapshots.count(), page.links.count())
        assert page.latest_snapshot is not None

    def test_of_the_disk_leaves_no_row(self, shop: Site, settings: Settings) -> None:
        settings.MIN_FREE_MB = page_store().n_free() // 2**20 + 10_000
        with pytest.raises(DiskFull):
            store(shop, visit())
        assert 0 == Page.objects.count()


class TestHostilePages:
    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            (b"", "empty"),
            (b" \n ", "empty"),
            (b"<!-- nothing -->", "empty"),
            (b"<div>" * 100_000, "truncated"),
            (b"\0" * 10_000 + b"<p>a\0b", ""),
            (b"<p>\xff\xfe\xc0", ""),
            (b"<meta charset=utf-7><p>+ADw-", ""),
            (b"<meta charset=nonsense><p>x", ""),
        ],
    )
    def test_are_stored_and_marked(self, shop: Site, body: bytes, problem: str) -> None:
        assert ["new", "new"] == words(store(shop, visit("/a", body), visit("/b")))
        snapshot = Snapshot.objects.get(page__url=f"{SHOP}/a")
        assert (problem, len(body)) == (snapshot.problem, snapshot.n_bytes)
        assert body == page_store().read(snapshot.body)

    def test_bring_no_text_that_the_database_refuses(self, shop: Site) -> None:
        body = (
            "<p><a href='/x&#0;&#xD800;\ufffe' title='\u0001'>a&#0;b&#xDFFF;c\0\ufffe</a><o:p><a "
            "href=/y>\U0010ffff</a>"
        )
        stored = store(
            shop, visit("/a", body.encode(), content_type="text/html\0\ud800; charset=utf-8")
        )
        assert ["new"] == words(stored)
        assert ["text/html\ufffd\ufffd; charset=utf-8"] == list(
            Snapshot.objects.values_list("content_type", flat=True)
        )
        assert "\0" not in "".join(Link.objects.values_list("text", flat=True))
        assert [f"{SHOP}/y"] == list(Link.objects.values_list("url", flat=True))[-1:]


class TestManyPages:
    def test_take_few_queries(
        self, shop: Site, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        prepared = prepare_visits([visit(f"/{n}", LIST) for n in range(100)])
        again = prepare_visits([visit(f"/{n}", LIST, hours=1) for n in range(100)])
        with transaction.atomic(), django_assert_max_num_queries(14):
            store_visits(site=shop, prepared=prepared)
        with transaction.atomic(), django_assert_max_num_queries(14):
            store_visits(site=shop, prepared=again)
        assert (100, 100, 200) == (
            Page.objects.count(),
            Snapshot.objects.count(),
            Link.objects.count(),
        )

    def test_of_no_visits_are_none(self, shop: Site) -> None:
        assert [] == store(shop)

    def test_stored_twice_at_once_are_there_once(self, shop: Site) -> None:
        """Writers bring the same pages in different orders; counts and rows are as from one."""

        def write(seed: int) -> list[str]:
            try:
                order = visits[seed:] + visits[:seed]
                return [
                    word
                    for start in range(0, 30, 5)
                    for word in words(store(shop, *order[start : start + 5]))
                ]
            finally:
                connection.close()

        visits = [visit(f"/{n}", LIST + b"%d" % n) for n in range(30)]
        with ThreadPoolExecutor(4) as writers:
            results = [word for each in writers.map(write, [0, 7, 15, 22]) for word in each]
        assert {"new": 30, "unchanged": 90} == {word: results.count(word) for word in set(results)}
        shop.refresh_from_db()
        assert (30, 30, 30, 60) == (
            shop.n_pages, Page.objects.count(), Snapshot.objects.count(), Link.objects.count(),
        )  # fmt: skip

    def test_are_all_there_or_none(self, shop: Site) -> None:
        def fail_at_the_end() -> None:
            with transaction.atomic():
                store_visits(site=shop, prepared=prepared)
                Page.objects.create(
                    site=shop, url="x", url_hash=url_hash(f"{SHOP}/1"), given_url="x"
                )

        prepared = prepare_visits([visit(f"/{n}", LIST) for n in range(3)])
        with pytest.raises(IntegrityError):
            fail_at_the_end()
        shop.refresh_from_db()
        assert (0, 0, 0) == (shop.n_pages, Page.objects.count(), Link.objects.count())
