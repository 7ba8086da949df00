"""Titles of clusters for people."""

from __future__ import annotations

import json
import time

import pytest

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.kind_names import ERROR, LIST, LOGIN, SEARCH
from clustering.algorithms.observation import observe_page
from clustering.algorithms.titles.cluster_pages import ClusterPages
from clustering.algorithms.titles.page_kinds import read_kind
from clustering.algorithms.titles.titles import MAX_TITLE, title_clusters
from clustering.dom.addresses import normalise_url

TREES = ("oak", "elm", "ash", "yew", "fir", "bay", "box", "fig")
PROSE = (
    "<p>Water is boiled first and poured over the leaves, and that is what takes a while.</p>" * 9
)


def urls(pattern: str, n: int = 3) -> list[str]:
    return [f"http://a.b/{pattern.format(word)}" for word in TREES[:n]]


def cluster(pattern: str, body: str, *, n: int = 4, kind: str = "") -> ClusterPages:
    """Return pages in whose addresses and bodies a tree's name stands for {}."""
    return read(
        [(pattern.format(tree), body.replace("{}", tree)) for tree in TREES[:n]],
        kind,
    )


def read(pages: list[tuple[str, str]], kind: str = "") -> ClusterPages:
    raws = [
        RawPage(normalise_url(f"http://a.b/{path}"), body.encode(), "text/html; charset=utf-8")
        for path, body in pages
    ]
    seen = [observe_page("auto", raw) for raw in raws]
    return ClusterPages(
        [raw.url for raw in raws],
        [page.title for page in seen],
        [page.heading for page in seen],
        [page.labels for page in seen],
        [read_kind(raw) for raw in raws],
        kind,
    )


def title(pages: ClusterPages, *others: ClusterPages) -> str:
    return title_clusters([pages, *others])[0]


def declared(**value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def cards(path: str, *, first: int = 0) -> str:
    some = [*TREES, *TREES][first : first + 5]
    return "".join(
        f"<li><a href=/{path.format(tree)}>The {tree} of the week</a></li>" for tree in some
    )


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        (ClusterPages(["http://a.b/"]), "Home page"),
        (ClusterPages(["http://a.b/index.html"]), "Home page"),
        (ClusterPages(urls("thread/{}"), headings=["x", "y", "z"]), "Thread"),
        (ClusterPages(urls("p/{}/reviews")), "Reviews"),
        (ClusterPages(urls("listing.asp?id={}")), "Listing"),
        (ClusterPages(urls("index.php?mod=article&id={}")), "Article"),
        (ClusterPages(urls("p/{}"), headings=["Opening hours"] * 3), "Opening hours"),
        (ClusterPages(urls("p/{}"), headings=["Oak", "Elm", "Ash"]), "Detail pages"),
        (ClusterPages(["http://a.b/p/imprint"], headings=["Imprint¶"]), "Imprint"),
        (ClusterPages(["http://a.b/p/imprint"], headings=["x" * 50]), "Imprint"),
        (
            ClusterPages(urls("page.php?id={}"), titles=["Oak tree facts", "Elm tree facts"]),
            "Tree facts",
        ),
        (ClusterPages(urls("{}")), "Detail pages"),
    ],
)
def test_a_cluster_is_called_after_what_is_there(pages: ClusterPages, expected: str) -> None:
    assert expected == title(pages)


class TestWhatPagesDeclare:
    def test_a_type_comes_before_the_address(self) -> None:
        assert "Job" == title(cluster("x/{}", declared(**{"@type": "JobPosting"}) + "<h1>{}</h1>"))
        assert "News article" == title(cluster("story/{}", declared(**{"@type": "NewsArticle"})))

    def test_a_page_of_many_cards_is_a_list(self) -> None:
        card = '<div itemscope itemtype="https://schema.org/Recipe"><b>{}</b></div>'

        assert "Recipe list" == title(cluster("k/{}", card * 5, kind=LIST))

    def test_a_list_of_nothing_known_is_a_list(self) -> None:
        assert "Brand list" == title(
            cluster("brand/{}", declared(**{"@type": "CollectionPage"}), kind=LIST)
        )

    def test_a_type_of_the_whole_site_says_nothing(self) -> None:
        shop = declared(**{"@type": "Organization"})
        clusters = [cluster(f"{word}/{{}}", shop) for word in ("wine", "beer", "cider")]

        assert ["Wine", "Beer", "Cider"] == title_clusters(clusters)

    def test_a_type_that_nothing_else_has_says_something(self) -> None:
        people = cluster("k/{}", declared(**{"@type": "Person"}))

        assert "Person" == title(people, cluster("beer/{}", ""), cluster("wine/{}", ""))


class TestWhatPagesAreFor:
    def test_errors_are_not_found(self) -> None:
        assert "Not found" == title(cluster("p/{}", "<h1>Oh dear</h1>", kind=ERROR))
        assert "Oh dear" == title(cluster("p/{}", "<h1>Oh dear, {}</h1>"))

    def test_a_log_in_with_two_passwords_is_a_registration(self) -> None:
        form = "<form method=post><input name=u><input type=password></form>"

        assert "Log-in" == title(cluster("konto/{}", form, kind=LOGIN))
        assert "Registration" == title(
            cluster("konto/{}", form + "<input type=password>", kind=LOGIN)
        )

    def test_a_log_in_beside_all_else_says_nothing(self) -> None:
        form = "<form method=post><input type=password></form>"

        assert ["Beer", "Wine"] == title_clusters(
            [cluster("beer/{}", form), cluster("wine/{}", form)]
        )

    def test_results_of_a_search_are_named_so(self) -> None:
        result = "<h1>Nalezeno: {}</h1>"

        assert "Search results" == title(cluster("hledat?q={}", result, kind=SEARCH))
        assert "Hledat" == title(cluster("hledat?sort={}", "<h1>{}</h1>"))


class TestLists:
    def test_a_list_is_called_after_what_it_leads_to(self) -> None:
        ropes = cluster("rope/{}", "<h1>{}</h1><p>Long and strong</p>", n=8)
        lists = read(
            [(f"c/{n}", f"<h1>{n}</h1><ul>{cards('rope/{}', first=n)}</ul>") for n in range(8)],
            kind=LIST,
        )

        assert ["Rope", "Rope list"] == title_clusters([ropes, lists])

    def test_its_own_address_comes_first(self) -> None:
        ropes = cluster("rope/{}", "<h1>{}</h1>", n=8)
        makers = read(
            [(f"maker/{n}", f"<h1>{n}</h1><ul>{cards('rope/{}', first=n)}</ul>") for n in range(8)],
            kind=LIST,
        )

        assert "Maker list" == title(makers, ropes)

    def test_a_list_that_leads_nowhere_is_plain(self) -> None:
        menu = f"<ul>{cards('menu/{}')}</ul>"

        assert "List pages" == title(cluster("p/{}", f"{menu}<h1>{{}}</h1>", kind=LIST))

    def test_pages_of_another_kind_are_no_list(self) -> None:
        ropes = cluster("rope/{}", "<h1>{}</h1>", n=8)
        makers = read(
            [(f"maker/{n}", f"<h1>{n}</h1><ul>{cards('rope/{}', first=n)}</ul>") for n in range(8)]
        )

        assert "Maker" == title(makers, ropes)


class TestWords:
    def test_words_of_all_titles_of_the_site_name_nothing(self) -> None:
        first = ClusterPages(
            urls("p?id={}"), titles=["Oak - My site", "Elm - My site", "Ash - My site"]
        )
        second = ClusterPages(
            urls("q?id={}"), titles=["Tom - My site", "Ann - My site", "Joe - My site"]
        )

        assert ["Detail pages", "Detail pages 2"] == title_clusters([first, second])

    def test_capitals_are_written_small_but_for_short_names(self) -> None:
        assert "Financial report" == title(
            ClusterPages(urls("p/{}"), headings=["FINANCIAL REPORT"] * 3)
        )
        assert "NASA" == title(ClusterPages(urls("p/{}"), headings=["NASA"] * 3))

    def test_a_breadcrumb_writes_apart_what_an_address_joins(self) -> None:
        crumbs = "<p class=breadcrumb><a href=/>Home</a> <a href=/w>Written work</a> {}</p>"
        works = cluster("writtenwork/{}", crumbs)

        assert "Written work" == title(works, cluster("festival/{}", ""))

    def test_a_heading_of_all_pages_of_the_site_names_nothing(self) -> None:
        clusters = [cluster(f"{word}?id={{}}", "<h1>My site</h1>") for word in ("x", "y")]

        assert "Detail pages" == title(*clusters)

    def test_classes_name_what_nothing_else_does(self) -> None:
        tours = cluster("x/{}", "<body class='page-tour mx-2'><h1>{}</h1>")
        hikes = cluster("y/{}", "<body class='page-hike mx-2'><h1>{}</h1>")

        assert ["Tour", "Hike"] == title_clusters([tours, hikes])

    def test_a_text_is_an_article(self) -> None:
        assert "Article" == title(cluster("x/{}", "<h1>{}</h1>" + PROSE))

    def test_plurals_become_singular_in_english_only(self) -> None:
        assert "Recipe" == title(cluster("recipes/{}", "<html lang=en-GB><h1>{}</h1>"))
        assert "Kurs" == title(cluster("kurs/{}", "<html lang=de><h1>{}</h1>"))
        assert "Recipes" == title(cluster("recipes/{}", "<h1>{}</h1>"))


class TestLanguages:
    @pytest.mark.parametrize(
        ("pattern", "lang", "expected"),
        [
            ("produkt/{}", "cs", "Produkt"),
            ("商品/{}", "ja", "商品"),
            ("%D1%82%D0%BE%D0%B2%D0%B0%D1%80/{}", "ru", "Товар"),
            ("hersteller/{}", "de", "Hersteller"),
        ],
    )
    def test_the_words_of_any_language_are_taken(
        self, pattern: str, lang: str, expected: str
    ) -> None:
        assert expected == title(cluster(pattern, f"<html lang={lang}><h1>{{}}</h1>"))

    def test_a_list_is_known_in_any_language(self) -> None:
        goods = cluster("товар/{}", "<h1>{}</h1>", n=8)
        lists = read(
            [(f"к/{n}", f"<h1>{n}</h1><ul>{cards('товар/{}', first=n)}</ul>") for n in range(8)],
            kind=LIST,
        )

        assert ["Товар", "Товар list"] == title_clusters([goods, lists])


class TestOneTitleOnce:
    def test_near_twins_are_told_apart_by_a_label_of_their_own(self) -> None:
        threads = ClusterPages(urls("thread/{}", 5), labels=[["Reply"]] * 5)
        polls = ClusterPages(urls("thread/{}", 3), labels=[["Reply", "Poll"]] * 3)

        assert ["Thread with poll", "Thread"] == title_clusters([polls, threads])

    def test_types_of_one_kind_are_told_apart_by_their_addresses(self) -> None:
        post = declared(**{"@type": "Article"})

        assert ["News", "Essay"] == title_clusters(
            [cluster("news/{}", post), cluster("essay/{}", post)]
        )

    def test_others_of_one_name_are_numbered(self) -> None:
        threads = [ClusterPages(urls("thread/{}", n)) for n in (3, 5, 4)]
        others = [ClusterPages(urls(f"{word}/{{}}")) for word in ("shop", "team", "tour")]

        assert ["Thread 3", "Thread", "Thread 2"] == title_clusters([*threads, *others])[:3]

    def test_the_order_of_the_clusters_does_not_matter(self) -> None:
        clusters = [
            cluster("news/{}", ""),
            cluster("p/{}", PROSE),
            cluster("q/{}", "<h1>{}</h1>"),
            cluster("{}", ""),
        ]

        assert title_clusters(clusters) == title_clusters(clusters[::-1])[::-1]


class TestHostileSites:
    @pytest.mark.parametrize(
        "heading", ["long " * 100, "\x07\u202e\ud83d bell", "<b>", " \n\t ", "¶#"]
    )
    def test_no_title_is_longer_or_stranger_than_people_read(self, heading: str) -> None:
        titles = title(ClusterPages(["http://a.b/p/q"], headings=[heading]))

        assert 0 < len(titles) <= MAX_TITLE
        assert titles.isprintable()

    def test_a_type_of_any_length_is_none(self) -> None:
        assert "Tea" == title(cluster("tea/{}", declared(**{"@type": "A" * 90})))

    def test_nothing_has_no_titles(self) -> None:
        assert [] == title_clusters([])
        assert ["Detail pages"] == title_clusters([ClusterPages([])])

    @pytest.mark.bar
    def test_thousands_of_clusters_take_seconds(self) -> None:
        first = cluster("x/{}", f"<h1>{{}}</h1><ul>{cards('p/{}')}</ul>" + "<b>Label {}</b>" * 30)
        started = time.process_time()
        titles = title_clusters([first] * 2_000)

        assert 2_000 == len(set(titles))
        assert time.process_time() - started < 4
