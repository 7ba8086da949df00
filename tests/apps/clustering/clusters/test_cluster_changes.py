"""Cluster changes stay: each clustering repeats them, and one that is undone leaves no trace."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clustering.models import (
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    Page,
    PageMembership,
)
from clustering.services.clusters.cluster_changes import (
    merge_clusters,
    move_pages,
    move_to_new_cluster,
    redo_change,
    rename_cluster,
    undo_change,
)
from clustering.services.clusters.current_changes import apply_changes
from clustering.services.pages.pages import (
    SiteVisits,
    Visit,
    prepare_visits,
    store_visits_of_sites,
)
from clustering.services.sites.sites import change_site
from tests.apps.clustering.api_cast import page_of
from tests.apps.clustering.cluster_cast import Shop, clustering_of, pages_by_cluster, shop_of
from vertex.core.models import AuditEntry, Job, Site, User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

BOOKS = {"books": "abcd", "authors": "efg", "news": "hi"}


@pytest.fixture
def shop() -> Shop:
    return shop_of(BOOKS)


@pytest.fixture
def olga() -> User:
    user: User = User.objects.create_user("olga")
    return user


def shown(shop: Shop) -> dict[str, str]:
    return pages_by_cluster(shop, shop.clustering)


class TestMoving:
    def test_puts_pages_into_another_cluster_and_says_who_did(self, shop: Shop, olga: User) -> None:
        change = move_pages(
            site=shop.site, pages=shop.pks("ab"), to=shop.clusters["news"], actor=olga
        )

        assert {"books": "cd", "authors": "efg", "news": "abhi"} == shown(shop)
        assert {"books": 2, "authors": 3, "news": 4} == n_by_extent(shop)
        assert ("move", olga, 2) == (change.kind, change.made_by, change.detail["n_pages"])
        entry = AuditEntry.objects.get(action="cluster.pages_moved")
        assert ("olga", "news", shop.site) == (entry.actor_name, entry.subject, entry.site)

    def test_keeps_what_the_algorithm_found(self, shop: Shop) -> None:
        move_pages(site=shop.site, pages=shop.pks("a"), to=shop.clusters["news"], actor=None)

        moved = PageMembership.objects.moved_by_hand().get()
        assert ("books", "news") == (str(moved.found), str(moved.cluster))

    def test_takes_in_a_page_that_was_in_no_cluster(self) -> None:
        shop = shop_of({"books": "ab", None: "cd"})
        move_pages(site=shop.site, pages=shop.pks("c"), to=shop.clusters["books"], actor=None)

        assert {"books": "abc", None: "d"} == shown(shop)
        shop.clustering.refresh_from_db()
        assert (4, 1, 0.25) == (
            shop.clustering.n_pages,
            shop.clustering.n_unassigned,
            shop.clustering.measures["unassigned"],
        )

    def test_makes_a_new_cluster_of_a_free_name(self, shop: Shop) -> None:
        change = move_to_new_cluster(
            site=shop.site, pages=shop.pks("ae"), title=" News ", actor=None
        )

        assert ("news-2", "News", True) == (
            change.cluster.name,
            change.cluster.title,
            change.cluster.is_hand_made,
        )
        assert {"books": "bcd", "authors": "fg", "news": "hi", "news-2": "ae"} == shown(shop)

    @pytest.mark.parametrize(
        ("pages", "to", "reason"),
        [
            ("", "news", "at least one"),
            ("hi", "news", "already"),
            ("a", "elsewhere", "another site"),
        ],
    )
    def test_refuses_what_makes_no_sense(
        self, shop: Shop, pages: str, to: str, reason: str
    ) -> None:
        other = shop_of({"elsewhere": "xy"}, name="other")
        with pytest.raises(ValidationError, match=reason):
            move_pages(
                site=shop.site,
                pages=shop.pks(pages),
                to=(shop.clusters | other.clusters)[to],
                actor=None,
            )
        assert BOOKS == shown(shop)
        assert not ClusterChange.objects.exists()

    def test_refuses_pages_that_the_clustering_does_not_have(self, shop: Shop) -> None:
        other = shop_of({"elsewhere": "xy"}, name="other")
        strange = [*other.pks("x"), 10**12]
        with pytest.raises(ValidationError, match=f"no such page .* {strange[0]}, {strange[1]}"):
            move_pages(
                site=shop.site,
                pages=[*shop.pks("a"), *strange],
                to=shop.clusters["news"],
                actor=None,
            )
        assert BOOKS == shown(shop)

    def test_a_refused_move_makes_no_new_cluster(self, shop: Shop) -> None:
        with pytest.raises(ValidationError):
            move_to_new_cluster(site=shop.site, pages=[10**12], title="New", actor=None)
        assert not Cluster.objects.filter(is_hand_made=True).exists()

    def test_a_site_without_clusters_has_nothing_to_move(self, shop: Shop) -> None:
        Clustering.objects.update(is_current=False)
        with pytest.raises(ValidationError, match="cluster the site first"):
            move_pages(site=shop.site, pages=shop.pks("a"), to=shop.clusters["news"], actor=None)


class TestMerging:
    def test_puts_all_pages_into_the_other(self, shop: Shop) -> None:
        merge_clusters(cluster=shop.clusters["books"], into=shop.clusters["authors"], actor=None)

        assert {"authors": "abcdefg", "news": "hi"} == shown(shop)
        assert {"books": 0, "authors": 7, "news": 2} == n_by_extent(shop)

    def test_chains_lead_to_the_end(self, shop: Shop) -> None:
        merge_clusters(cluster=shop.clusters["books"], into=shop.clusters["authors"], actor=None)
        merge_clusters(cluster=shop.clusters["authors"], into=shop.clusters["news"], actor=None)

        assert {"news": "abcdefghi"} == shown(shop)

    def test_refuses_itself_strangers_and_clusters_without_pages(self, shop: Shop) -> None:
        books, news = shop.clusters["books"], shop.clusters["news"]
        other = shop_of({"elsewhere": "xy"}, name="other").clusters["elsewhere"]
        for cluster, into, reason in [(books, books, "itself"), (books, other, "another site")]:
            with pytest.raises(ValidationError, match=reason):
                merge_clusters(cluster=cluster, into=into, actor=None)
        merge_clusters(cluster=books, into=news, actor=None)
        with pytest.raises(ValidationError, match="books has no pages"):
            merge_clusters(cluster=news, into=books, actor=None)
        assert {"authors": "efg", "news": "abcdhi"} == shown(shop)


class TestUndoing:
    def test_an_earlier_change_leaves_what_the_later_ones_say(self, shop: Shop) -> None:
        first = merge_clusters(
            cluster=shop.clusters["books"], into=shop.clusters["authors"], actor=None
        )
        merge_clusters(cluster=shop.clusters["authors"], into=shop.clusters["news"], actor=None)
        undo_change(change=first, actor=None)

        assert {"books": "abcd", "news": "efghi"} == shown(shop)
        assert {"books": 4, "authors": 0, "news": 5} == n_by_extent(shop)

    def test_redoing_puts_it_back_at_its_old_place(self, shop: Shop) -> None:
        first = move_pages(
            site=shop.site, pages=shop.pks("ab"), to=shop.clusters["news"], actor=None
        )
        move_pages(site=shop.site, pages=shop.pks("bc"), to=shop.clusters["authors"], actor=None)
        undo_change(change=first, actor=None)
        assert {"books": "ad", "authors": "bcefg", "news": "hi"} == shown(shop)

        redo_change(change=first, actor=None)
        assert {"books": "d", "authors": "bcefg", "news": "ahi"} == shown(shop)

    def test_a_page_that_was_in_no_cluster_is_in_none_again(self) -> None:
        shop = shop_of({"books": "ab", None: "cd"})
        change = move_pages(
            site=shop.site, pages=shop.pks("c"), to=shop.clusters["books"], actor=None
        )
        undo_change(change=change, actor=None)

        assert {"books": "ab", None: "cd"} == shown(shop)
        shop.clustering.refresh_from_db()
        assert (2, 2) == (shop.clustering.n_unassigned, n_by_extent(shop)["books"])

    def test_twice_is_refused(self, shop: Shop) -> None:
        change = move_pages(
            site=shop.site, pages=shop.pks("a"), to=shop.clusters["news"], actor=None
        )
        with pytest.raises(ValidationError, match="in force already"):
            redo_change(change=change, actor=None)
        undo_change(change=change, actor=None)
        with pytest.raises(ValidationError, match="undone already"):
            undo_change(change=change, actor=None)
        assert BOOKS == shown(shop)

    def test_all_of_it_leaves_every_figure_as_it_was(self) -> None:
        shop = shop_of(
            {"books": "abc", "news": "de"}, bodies={"books": "<h1>B</h1><p>b", "news": "<ul><li>n"}
        )
        keep = ("n_pages", "url_pattern", "cohesion", "signature")
        apply_changes(clustering=shop.clustering)
        ClusterFigures.objects.all().delete()
        apply_changes(clustering=shop.clustering)
        before = list(ClusterFigures.objects.order_by("cluster__name").values(*keep))
        change = merge_clusters(
            cluster=shop.clusters["books"], into=shop.clusters["news"], actor=None
        )
        merged = ClusterFigures.objects.get(cluster__name="news")
        assert 5 == merged.n_pages
        assert before[1]["cohesion"] is not None
        assert merged.cohesion is not None
        assert before[1]["cohesion"] > merged.cohesion
        undo_change(change=change, actor=None)

        assert before == list(ClusterFigures.objects.order_by("cluster__name").values(*keep))


class TestDrawing:
    """What a cluster shows may be pages that nobody drew before."""

    def test_each_change_lets_a_job_draw(self, shop: Shop) -> None:
        drawing = Job.objects.filter(task="clustering.draw_thumbnails", site=shop.site)
        change = merge_clusters(
            cluster=shop.clusters["books"], into=shop.clusters["authors"], actor=None
        )
        assert 1 == drawing.count()
        for toggle in (undo_change, redo_change):
            drawing.delete()
            toggle(change=change, actor=None)
            assert 1 == drawing.count()

    def test_a_job_that_waits_draws_for_later_changes_too(self, shop: Shop) -> None:
        for letter in "ab":
            move_pages(site=shop.site, pages=shop.pks(letter), to=shop.clusters["news"], actor=None)
        move_to_new_cluster(site=shop.site, pages=shop.pks("c"), title="Maps", actor=None)

        assert 1 == Job.objects.filter(task="clustering.draw_thumbnails").count()


class TestRenaming:
    def test_changes_the_title_and_keeps_the_name(self, shop: Shop, olga: User) -> None:
        rename_cluster(cluster=shop.clusters["books"], title=" All  books\0 ", actor=olga)

        cluster = Cluster.objects.get(name="books")
        assert ("All books\ufffd", True) == (cluster.title, cluster.has_own_title)
        assert {"was": "books", "now": "All books\ufffd"} == AuditEntry.objects.get().detail

    @pytest.mark.parametrize("title", ["", " \n ", "x" * 201])
    def test_refuses_blank_and_endless_titles(self, shop: Shop, title: str) -> None:
        with pytest.raises(ValidationError, match="title"):
            rename_cluster(cluster=shop.clusters["books"], title=title, actor=None)
        assert "books" == Cluster.objects.get(name="books").title


class TestRepeating:
    def test_a_new_clustering_has_the_changes_too(self, shop: Shop) -> None:
        move_pages(site=shop.site, pages=shop.pks("ab"), to=shop.clusters["news"], actor=None)
        merge_clusters(cluster=shop.clusters["authors"], into=shop.clusters["books"], actor=None)
        later = clustering_of(shop, {"books": "abce", "authors": "fg", "other": "dhi"})

        assert {"books": "cefg", "news": "ab", "other": "dhi"} == pages_by_cluster(shop, later)
        assert {"books": 4, "authors": 0, "news": 2, "other": 3} == n_by_extent(shop, later)

    def test_what_is_gone_is_passed_over(self, shop: Shop) -> None:
        move_pages(site=shop.site, pages=shop.pks("ab"), to=shop.clusters["news"], actor=None)
        merge_clusters(cluster=shop.clusters["authors"], into=shop.clusters["books"], actor=None)
        Page.objects.filter(pk__in=shop.pks("a")).delete()
        later = clustering_of(shop, {"other": "bcdefghi"})

        assert {"news": "b", "other": "cdefghi"} == pages_by_cluster(shop, later)

    def test_pages_that_come_later_go_where_the_changes_say(self, shop: Shop) -> None:
        merge_clusters(cluster=shop.clusters["books"], into=shop.clusters["news"], actor=None)
        new = [page_of(shop.site, path).pk for path in ("x", "y")]
        for page, name in zip(new, ("books", "authors"), strict=True):
            PageMembership.objects.create(
                clustering=shop.clustering,
                page_id=page,
                found=shop.clusters[name],
                cluster=shop.clusters[name],
            )
        apply_changes(clustering=shop.clustering, pages=new)

        assert {"authors": "efgy", "news": "abcdhix"} == shown(shop)
        assert {"books": 0, "authors": 4, "news": 7} == n_by_extent(shop)

    def test_applying_twice_changes_nothing_more(self, shop: Shop) -> None:
        move_pages(site=shop.site, pages=shop.pks("ab"), to=shop.clusters["news"], actor=None)
        before = list(ClusterFigures.objects.order_by("pk").values())
        apply_changes(clustering=shop.clustering)

        assert before == list(ClusterFigures.objects.order_by("pk").values())

    def test_only_pages_that_stand_elsewhere_are_written(self, shop: Shop) -> None:
        change = merge_clusters(
            cluster=shop.clusters["books"], into=shop.clusters["news"], actor=None
        )
        undo_change(change=change, actor=None)
        with CaptureQueriesContext(connection) as queries:
            apply_changes(clustering=shop.clustering)

        written = [query["sql"] for query in queries if query["sql"].startswith("UPDATE")]
        assert not [sql for sql in written if "clustering_pagemembership" in sql]

    @pytest.mark.parametrize("seed", range(6))
    def test_any_changes_with_undoing_are_what_the_surviving_ones_say_from_scratch(
        self, seed: int
    ) -> None:
        chance = random.Random(seed)
        result = {"a": "abcd", "b": "efgh", "c": "ijkl", "d": "mnop"}
        shop = shop_of(result)
        for _ in range(15):
            change_somehow(shop, chance)
            assert replayed(shop, result) == shown(shop)
            assert {k: len(v) for k, v in shown(shop).items()} == {
                k: n for k, n in n_by_extent(shop).items() if n
            }
            apply_changes(clustering=shop.clustering, pages=list(shop.pages.values()))
            assert replayed(shop, result) == shown(shop)  # page by page as all together
        regrouped = {"a": "abgh", "c": "ijklcd", "e": "mnopef"}
        later = clustering_of(shop, regrouped)
        assert replayed(shop, regrouped) == pages_by_cluster(shop, later)


def change_somehow(shop: Shop, chance: random.Random) -> None:
    """Do one of the things that people do, or try to."""
    changes = list(ClusterChange.objects.order_by("pk"))
    present = list(Cluster.objects.filter(memberships__clustering=shop.clustering).distinct())
    doing = chance.choice(["move", "merge", "new", "undo", "redo", "undo"])
    if doing == "merge" and len(present) > 2:
        first, other = chance.sample(present, 2)
        merge_clusters(cluster=first, into=other, actor=None)
    elif doing == "move":
        to = chance.choice(present)
        outside = PageMembership.objects.filter(clustering=shop.clustering).exclude(cluster=to)
        pages = [each.page_id for each in outside]
        if pages:
            move_pages(
                site=shop.site, pages=chance.sample(pages, min(3, len(pages))), to=to, actor=None
            )
    elif doing == "new":
        pages = chance.sample(sorted(shop.pages.values()), 2)
        move_to_new_cluster(site=shop.site, pages=pages, title="New", actor=None)
    elif doing == "undo" and (left := [change for change in changes if change.undone_at is None]):
        undo_change(change=chance.choice(left), actor=None)
    elif doing == "redo" and (
        left := [change for change in changes if change.undone_at is not None]
    ):
        redo_change(change=chance.choice(left), actor=None)


def replayed(shop: Shop, found: dict[str, str]) -> dict[str, str]:
    """Repeat the changes in force in plain Python."""
    place = {shop.pages[page]: name for name, pages in found.items() for page in pages}
    for change in ClusterChange.objects.in_force():
        if change.kind == ClusterChange.Kind.MOVE:
            place |= dict.fromkeys(change.detail["pages"], change.cluster.name)
        else:
            place = {
                page: str(change.into) if name == change.cluster.name else name
                for page, name in place.items()
            }
    letters = {pk: letter for letter, pk in shop.pages.items()}
    names = sorted(set(place.values()))
    return {
        name: "".join(sorted(letters[pk] for pk in place if place[pk] == name)) for name in names
    }


def n_by_extent(shop: Shop, clustering: Clustering | None = None) -> dict[str, int]:
    cluster_figures = ClusterFigures.objects.filter(clustering=clustering or shop.clustering)
    return dict(cluster_figures.values_list("cluster__name", "n_pages"))


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_change_clusters_at_once_none_is_lost() -> None:
    shop = shop_of({"books": "abcdefgh", "news": "xy"})

    def move(letter: str) -> None:
        try:
            move_pages(site=shop.site, pages=shop.pks(letter), to=shop.clusters["news"], actor=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as people:
        list(people.map(move, "abcdef"))

    assert {"books": "gh", "news": "abcdefxy"} == shown(shop)
    assert {"books": 2, "news": 8} == n_by_extent(shop)
    assert 6 == ClusterChange.objects.count()
    assert 1 == Site.objects.count()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_pages_are_stored_and_settings_changed_while_somebody_changes_the_clusters() -> None:
    shop = shop_of({"books": "ab", "news": "xy"})
    other = shop_of({"lamps": "c"}, name="other")
    seen = prepare_visits(
        [Visit(f"{shop.site.root_url}new", b"<p>new", timezone.now(), is_given=True)]
    )

    def store_and_change() -> None:
        try:
            refuse_to_wait()
            with transaction.atomic():
                store_visits_of_sites([SiteVisits(other.site, []), SiteVisits(shop.site, seen)])
            change_site(site=shop.site, actor=None, title="The shop")
            with pytest.raises(OperationalError, match="lock timeout"):
                move_pages(
                    site=shop.site, pages=shop.pks("a"), to=shop.clusters["news"], actor=None
                )
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as others:
        merge_clusters(cluster=shop.clusters["news"], into=shop.clusters["books"], actor=None)
        others.submit(store_and_change).result()

    assert {"books": "abxy"} == shown(shop)
    assert Page.objects.filter(url__endswith="/new", state=Page.State.STORED).exists()
    assert "The shop" == Site.objects.get(pk=shop.site.pk).title


def refuse_to_wait() -> None:
    """Have whatever waits for another transaction fail, on the connection of this thread."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '500ms'")
