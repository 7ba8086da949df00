"""What tells the kind of a page."""

from __future__ import annotations

import pickle

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.titles.page_kinds import MAX_LINKS, NO_KIND, PageKind, read_kind

CARDS = "".join(
    f"<div class=card><h3><a href=/t/{n}>Teapot number {n}</a></h3><p>Holds {n} l</div>"
    for n in range(20)
)
SENTENCE = (
    "<p>Water is boiled first and <a href=/w/{0}>poured</a> over the leaves, "
    "which takes a while.</p>"
)


def kind_of(body: str) -> PageKind:
    return read_kind(
        RawPage("https://a.example/shop/tea", body.encode(), "text/html; charset=utf-8")
    )


class TestLists:
    def test_links_that_stand_alone_are_a_list(self) -> None:
        (result,) = kind_of(f"<body><h1>Teapots</h1>{CARDS}").lists

        assert result.share > 0.9
        assert result.links[:2] == ("https://a.example/t/0", "https://a.example/t/1")
        assert MAX_LINKS == len(result.links)

    def test_links_amidst_a_text_are_none(self) -> None:
        assert () == kind_of("".join(map(SENTENCE.format, range(20)))).lists

    def test_links_of_the_navigation_are_none(self) -> None:
        assert (
            ()
            == kind_of(
                f"<nav>{CARDS}</nav><div role=navigation>{CARDS}</div><footer>{CARDS}</footer>"
            ).lists
        )

    def test_a_few_links_below_a_text_are_none(self) -> None:
        assert () == kind_of(SENTENCE.format(1) * 30 + CARDS[:300]).lists

    def test_links_around_something_else_are_none(self) -> None:
        links = (
            "<div><a href=/{0}a>Some words here</a></div><div><a href=/{0}b>Some "
            "words here</a></div>"
        )

        assert () == kind_of(links.format(1) + SENTENCE.format(1) * 2 + links.format(2)).lists
        assert 1 == len(kind_of(links.format(1) + links.format(2)).lists)

    def test_authors_beside_long_posts_are_none(self) -> None:
        posts = "".join(
            f"<div><b><a href=/u/{n}>Ada</a></b><div>{'Well. ' * 40}</div></div>" for n in range(9)
        )

        assert () == kind_of(posts).lists

    def test_addresses_that_are_none_are_left_out(self) -> None:
        links = "".join(
            f"<li><a href='{href}'>Some words here</a>"
            for href in ("http://[", "#x", "a", "b", "c", "d")
        )

        assert 4 == len(kind_of(links).lists[0].links)


class TestForms:
    def test_passwords_are_counted(self) -> None:
        assert (
            2
            == kind_of("<form><input type=PASSWORD><input type=password><input></form>").n_passwords
        )

    def test_text_fields_whose_form_shows_results_are_noted(self) -> None:
        search = "<form><input name=q><input name=sort type=hidden></form>"

        assert {"q"} == kind_of(
            search + "<form method=post><input name=mail></form><input name=x>"
        ).search_keys


def test_classes_and_ids_of_the_main_parts_are_noted() -> None:
    body = (
        "<body id=b class='wide product-page'><nav class=menu></nav><main class=m><nav "
        "class=n></nav><div id=d>"
    )

    assert ("b", "wide", "product-page", "m", "d") == kind_of(body).tokens


def test_a_text_in_paragraphs_is_prose() -> None:
    assert kind_of("".join(map(SENTENCE.format, range(20)))).is_prose
    assert not kind_of(SENTENCE.format(1)).is_prose
    assert not kind_of(CARDS * 5).is_prose


def test_the_language_is_noted() -> None:
    assert ["en", ""] == [kind_of("<html lang=en-GB>x").language, kind_of("<p>x").language]


class TestHostilePages:
    def test_a_page_without_a_tree_is_of_no_kind(self) -> None:
        assert NO_KIND == read_kind(RawPage("https://a.example/", b""))

    def test_a_page_of_many_of_everything_is_no_larger_than_another(self) -> None:
        body = f"<body class='{'x y z ' * 9_000}'>" + "".join(
            f"<div class=c{n}><a href=/{'u' * n}>{n}</a></div>" for n in range(1_500)
        )

        assert len(pickle.dumps(kind_of(body))) < 5_000

    def test_deep_pages_are_read(self) -> None:
        assert kind_of("<div>" * 5_000 + "<a href=/x>x</a>").lists == ()
