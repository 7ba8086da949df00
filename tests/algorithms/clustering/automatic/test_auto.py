"""The default clusterer on sites of many kinds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering.algorithms.automatic.auto import cluster_pages
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.profile_model import assign
from clustering.algorithms.grouping import (
    ClusteringInputs,
    Grouping,
    PageAnswer,
    RawPage,
    SiteLink,
    TooManyPages,
)
from clustering.algorithms.measures import compare
from clustering.dom.links import find_links
from tests.algorithms.hold_out_sites import MadePage, make_jobs, make_museum
from vertex.demo import sites

NAVIGATION = "<nav>" + "".join(f"<a href=/n{n}>Part {n}</a>" for n in range(60)) + "</nav>"
FOOT = "<footer><p>Imprint</p></footer>"
DETAIL = (
    "<h1>{w}</h1><b>Price:</b><i>{n}</i><b>Weight:</b><i>{n} "
    "kg</i><b>Colour:</b><i>{w}</i><p>{w} {n}</p>"
)
OTHER_LOOK = (
    "<h2>{w}</h2><dl><dt>Price<dd>{n}<dt>Weight<dd>{n} kg<dt>Colour<dd>{w}</dl><div>{w} {n}</div>"
)
LIST = "<h1>{w}</h1><ul>" + "<li><a href=/x>{w}</a> <span>{n}</span>" * 3 + "</ul><p>{n} found"
ARTICLE = "<article><h2>{w}</h2><cite>{w}</cite><p>{w} {n}<p>{n} {w}</article>"
GONE = "<main><p>Sorry, this is gone.<p><a href=/>Home</a></main>"
POLL = DETAIL + "<form><h4>Poll</h4><label>{w}</label><input><tt>{n}</tt></form>"

Page = tuple[str, str, str]  # URL, HTML, type


def pages(
    type_: str,
    template: str,
    n: int,
    url: str,
    framed: bool = False,  # noqa: FBT001, FBT002 - a test's own builder
) -> list[Page]:
    chance = random.Random(type_)
    created = []
    for _ in range(n):
        word = "".join(chance.choices("abcdefghijklmnop", k=7))
        body = template.format(w=word, n=chance.randrange(10**6))
        created.append(
            (
                url.format(w=word, n=chance.randrange(10**6)),
                NAVIGATION + body + FOOT if framed else body,
                type_,
            )
        )
    return created


def clustered(site: list[Page], evidence: ClusteringInputs | None = None) -> Grouping:
    observations = [observe(RawPage(url, html.encode())) for url, html, _ in site]
    return cluster_pages([url for url, _, _ in site], observations, evidence or ClusteringInputs())


def types_by_group(
    site: list[Page], evidence: ClusteringInputs | None = None
) -> list[dict[str, int]]:
    return [
        dict(Counter(site[page][2] for page in group.members))
        for group in clustered(site, evidence).groups
    ]


def links_among(raw: list[RawPage]) -> list[SiteLink]:
    urls = {page.url for page in raw}
    return [
        SiteLink(page.url, link.xpath, link.url, link.text)
        for page in raw
        if page.tree is not None
        for link in find_links(page.tree, page.url)
        if link.url in urls
    ]


TWINS = {"print": "work"}  # of the museum: one rule serves both


class TestClaims:
    def test_a_small_site_with_heavy_navigation(self) -> None:
        site = pages("detail", DETAIL, 40, "http://a.b/p/{w}", framed=True)
        site += pages("list", LIST, 14, "http://a.b/c/{w}", framed=True)
        site += pages("help", "<h1>{w}</h1><p>{w}<p>{w} {n}", 5, "http://a.b/help/{w}", framed=True)

        assert [{"detail": 40}, {"list": 14}, {"help": 5}] == types_by_group(site)

    def test_soft_404s_among_details(self) -> None:
        site = pages("detail", DETAIL, 50, "http://a.b/p/{w}") + pages(
            "gone", GONE, 4, "http://a.b/p/{w}"
        )

        assert [{"detail": 50}, {"gone": 4}] == types_by_group(site)

    def test_near_twins_are_layouts_of_one_group(self) -> None:
        site = pages("thread", DETAIL, 70, "http://a.b/t/{w}") + pages(
            "poll", POLL, 12, "http://a.b/t/{w}"
        )
        site += pages("list", LIST, 14, "http://a.b/c/{w}")

        largest = clustered(site).groups[0]

        assert 82 == len(largest.members)
        assert [{"thread": 70}, {"poll": 12}] == [
            dict(Counter(site[page][2] for page in layout.members)) for layout in largest.layouts
        ]
        assert any("Poll" in text for text in largest.layouts[1].has)

    def test_a_group_of_one_layout_shows_none(self) -> None:
        site = pages("detail", DETAIL, 40, "http://a.b/p/{w}")

        assert [()] == [tuple(group.layouts) for group in clustered(site).groups]

    def test_an_optional_section_makes_no_type(self) -> None:
        site = pages("thread", DETAIL, 50, "http://a.b/t/{w}", framed=True)
        site += [
            (url, html, "thread")
            for url, html, _ in pages("with", POLL, 35, "http://a.b/t/{w}", framed=True)
        ]
        site += pages("list", LIST, 14, "http://a.b/c/{w}", framed=True)

        assert [{"thread": 85}, {"list": 14}] == types_by_group(site)

    def test_categories_in_addresses_make_no_types(self) -> None:
        site = [
            page
            for category in ("tents", "ropes", "boots", "lamps", "stoves")
            for page in pages(f"in {category}", DETAIL, 12, f"http://a.b/{category}/{{w}}")
        ]

        assert [60] == [len(group.members) for group in clustered(site).groups]

    def test_types_at_addresses_that_tell_nothing(self) -> None:
        url = "http://a.b/index.php?id={n}"
        site = (
            pages("detail", DETAIL, 40, url)
            + pages("list", LIST, 20, url)
            + pages("article", ARTICLE, 25, url)
        )

        assert [{"detail": 40}, {"article": 25}, {"list": 20}] == types_by_group(site)

    @pytest.mark.parametrize("name", sites.NAMES)
    @pytest.mark.parametrize("edition", ["1", pytest.param("2", marks=pytest.mark.bar)])
    def test_the_demo_sites(self, name: str, edition: str) -> None:
        site = sites.load(name, edition)
        raw = [
            RawPage(site.default_url + p.path, p.body, p.content_type) for p in site.pages.values()
        ]
        observations = [observe(page) for page in raw]
        grouping = cluster_pages(
            [page.url for page in raw], observations, ClusteringInputs(links=links_among(raw))
        )
        group_by_url = dict(zip((page.url for page in raw), grouping.labels(len(raw)), strict=True))
        truth = {site.default_url + page.path: page.cluster_type for page in site.pages.values()}

        again = [
            assign(grouping.model, seen, page.url)
            for seen, page in zip(observations, raw, strict=True)
        ]

        assert compare(group_by_url, truth).adjusted_rand > 0.95
        assert 0.98 * len(raw) <= sum(
            group_by_url[p.url] == group for p, group in zip(raw, again, strict=True)
        )


class TestHoldOutSites:
    @pytest.mark.parametrize("make", [make_museum, make_jobs])
    def test_sites_in_other_styles(self, make: Callable[[], list[MadePage]]) -> None:
        site = make()
        raw = [RawPage(page.url, page.body) for page in site]
        grouping = cluster_pages(
            [page.url for page in raw],
            [observe(page) for page in raw],
            ClusteringInputs(links=links_among(raw)),
        )
        group_by_url = dict(zip((page.url for page in raw), grouping.labels(len(raw)), strict=True))

        truth = {page.url: TWINS.get(page.type, page.type) for page in site}
        assert compare(group_by_url, truth).adjusted_rand >= 0.85


class TestLaterPages:
    @pytest.mark.parametrize("name", ["town-guide", "tinker-board"])
    def test_unseen_pages_of_the_demo_sites_go_to_their_type(self, name: str) -> None:
        site = sites.load(name, "1")
        created = list(site.pages.values())
        raw = [RawPage(site.default_url + p.path, p.body, p.content_type) for p in created]
        known = [n for n in range(len(raw)) if n % 5]
        observations = [observe(page) for page in raw]
        grouping = cluster_pages(
            [raw[n].url for n in known], [observations[n] for n in known], ClusteringInputs()
        )
        types: dict[str | None, Counter[str]] = {}
        for n, group in zip(known, grouping.labels(len(known)), strict=True):
            types.setdefault(group, Counter())[created[n].cluster_type] += 1
        unseen = range(0, len(raw), 5)
        results = [assign(grouping.model, observations[n], raw[n].url) for n in unseen]
        n_right = sum(
            group in types and types[group].most_common(1)[0][0] == created[n].cluster_type
            for n, group in zip(unseen, results, strict=True)
        )

        assert n_right >= 0.9 * len(unseen)

    def test_tabs_of_a_page_are_types_of_their_own(self) -> None:
        site = pages("detail", DETAIL, 30, "http://a.b/p/{w}")
        site += pages("reviews", LIST, 25, "http://a.b/p/{w}/reviews")
        site += pages(
            "photos",
            "<h1>{w}</h1><figure><img><figcaption>{w} {n}</figure>",
            20,
            "http://a.b/p/{w}/photos",
        )

        assert [{"detail": 30}, {"reviews": 25}, {"photos": 20}] == types_by_group(site)


class TestExplanation:
    def test_every_group_has_a_sentence_and_so_has_the_whole(self) -> None:
        site = pages("detail", DETAIL, 70, "http://a.b/t/{w}")
        site += pages("list", LIST, 12, "http://a.b/c/{w}")
        grouping = clustered(site)

        assert all(group.why.endswith(".") for group in grouping.groups)
        assert "2 kinds of address" in grouping.why


class TestAnswers:
    SITE = pages("detail", DETAIL, 30, "http://a.b/p/{w}") + pages(
        "list", LIST, 14, "http://a.b/c/{w}"
    )
    DETAILS = [url for url, _, type_ in SITE if type_ == "detail"]
    LISTS = [url for url, _, type_ in SITE if type_ == "list"]

    def test_what_a_person_calls_one_is_one(self) -> None:
        answers = [PageAnswer(self.DETAILS, self.LISTS, is_same=True)]

        assert 2 == len(clustered(self.SITE).groups)
        assert 1 == len(clustered(self.SITE, ClusteringInputs(answers=answers)).groups)

    def test_what_a_person_calls_different_is_apart(self) -> None:
        site = pages("thread", DETAIL, 70, "http://a.b/t/{w}")
        site += pages("poll", POLL, 12, "http://a.b/t/{w}") + pages(
            "list", LIST, 14, "http://a.b/c/{w}"
        )
        sides = [[url for url, _, type_ in site if type_ == name] for name in ("thread", "poll")]

        assert {"thread": 70, "poll": 12} in types_by_group(site)
        answers = [PageAnswer(sides[0], sides[1], is_same=False)]
        apart = types_by_group(site, ClusteringInputs(answers=answers))
        assert {"thread": 70} in apart
        assert {"poll": 12} in apart

    def test_the_newest_of_two_answers_holds(self) -> None:
        answers = [
            PageAnswer(self.DETAILS, self.LISTS, is_same=True),
            PageAnswer(self.LISTS, self.DETAILS, is_same=False),
        ]

        assert 2 == len(clustered(self.SITE, ClusteringInputs(answers=answers)).groups)

    def test_an_answer_about_pages_that_are_gone_changes_nothing(self) -> None:
        answers = [PageAnswer(["http://a.b/gone"], self.LISTS, is_same=True)]

        assert 2 == len(clustered(self.SITE, ClusteringInputs(answers=answers)).groups)

    def test_doubts_name_both_sides_and_their_reasons(self) -> None:
        grouping = clustered(MIXED)

        assert grouping.doubts
        for doubt in grouping.doubts:
            assert doubt.left
            assert doubt.right
            assert not set(doubt.left) & set(doubt.right)
            assert 0 < doubt.probability < 1
            assert all(reason.startswith(("for: ", "against: ")) for reason in doubt.why)

    def test_what_was_answered_is_no_doubt_any_more(self) -> None:
        urls = [url for url, _, _ in MIXED]
        doubt = clustered(MIXED).doubts[0]
        answer = PageAnswer(
            [urls[page] for page in doubt.left],
            [urls[page] for page in doubt.right],
            is_same=doubt.is_joined,
        )

        again = clustered(MIXED, ClusteringInputs(answers=[answer]))

        assert (doubt.left, doubt.right) not in [(each.left, each.right) for each in again.doubts]


MIXED = (
    pages("detail", DETAIL, 25, "http://a.b/p/{w}")
    + pages("look", OTHER_LOOK, 9, "http://a.b/p/{w}")
    + pages("list", LIST, 9, "http://a.b/c/{w}")
    + pages("poll", POLL, 9, "http://a.b/t/{n}")
    + pages("gone", GONE, 3, "http://a.b/p/{w}")
)


class TestDeterminism:
    @settings(deadline=None, max_examples=15)
    @given(st.permutations(range(len(MIXED))))
    def test_the_order_of_the_pages_is_nothing(self, order: list[int]) -> None:
        expected, result = clustered(MIXED), clustered([MIXED[place] for place in order])

        assert [(group.name, group.why) for group in expected.groups] == [
            (g.name, g.why) for g in result.groups
        ]
        assert [set(group.members) for group in expected.groups] == [
            {order[member] for member in group.members} for group in result.groups
        ]
        assert (expected.why, expected.model) == (result.why, result.model)

    def test_pages_of_one_address_may_come_in_any_order(self) -> None:
        site = [("http://a.b/", html, type_) for _, html, type_ in MIXED]

        assert types_by_group(site) == types_by_group(site[::-1])


class TestHostileSites:
    @pytest.mark.parametrize(
        ("html", "n_groups"),
        [
            ([], 0),
            (["<p>one"], 1),
            (["<p>same"] * 50, 1),
            ([""] * 20, 1),
            (["<p>" + "x" * 200_000, "<div>" * 20_000, "<", "<!-- -->", ""], None),
            (
                ["".join(f"<i class=c{n}x{m}>{n}.{m}</i>" for m in range(20)) for n in range(200)],
                None,
            ),
        ],
        ids=[
            "no pages",
            "one page",
            "all equal",
            "empty pages",
            "huge and broken",
            "all different",
        ],
    )
    def test_end_well(self, html: list[str], n_groups: int | None) -> None:
        grouping = clustered([(f"http://a.b/{n}", one, "") for n, one in enumerate(html)])

        assert n_groups in {None, len(grouping.groups)}
        assert len(html) == sum(len(group.members) for group in grouping.groups) + len(
            grouping.unassigned
        )
        assert grouping.why.endswith(".")

    @pytest.mark.slow
    def test_thousands_of_templates_end_well(self) -> None:
        created = [
            (
                "http://a.b/x",
                "".join(f"<b class=k{n}>L{n}{f}</b><i class=k{n}f{f}>{n}</i>" for f in range(9)),
                "",
            )
            for n in range(5000)
        ]

        assert len(created) == sum(len(group.members) for group in clustered(created).groups)

    def test_more_pages_than_it_takes_are_refused(self) -> None:
        empty = observe(RawPage("http://a.b", b""))

        with pytest.raises(TooManyPages, match=r"5,001 pages.*at most 5,000"):
            cluster_pages(["http://a.b"] * 5001, [empty] * 5001, ClusteringInputs())
