"""Which pages are there, and what stands in the place of the others."""

from __future__ import annotations

import pytest
from lxml import html

from monitoring.algorithms.lost_pages import (
    OTHER_CONTENT,
    REDIRECTED,
    SHELL,
    Answered,
    PageBefore,
    is_seen,
    own_texts,
    why_lost,
)
from monitoring.algorithms.page_looks import PageLook, look_of
from monitoring.algorithms.soft_errors import LOGIN_WALL, SHARED_ANSWER

NAMES = {
    "a": ("Hemp rope", "Nordbo"),
    "b": ("Splitting axe", "Fiskar"),
    "c": ("Camp stove", "Trangia"),
}


def look(body: str, title: str = "") -> PageLook:
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return look_of(html.document_fromstring(page))


def product(url: str) -> str:
    name, brand = NAMES[url]
    extra = {"a": "<ul><li>spun", "b": "<table><tr><td>forged", "c": "<dl><dt>Fuel<dd>gas"}[url]
    return (
        f"<div class=p-{url}><h1>{name}</h1><p>Brand: <b>{brand}</b></p><p>In the shop since "
        f"spring</p>{extra}"
    )


OLD = {url: PageBefore(NAMES[url], look(product(url))) for url in NAMES}
OWN = own_texts(OLD)


def why(answers: dict[str, str], **targets: str) -> dict[str, str]:
    return why_lost(
        OLD, {u: Answered(look(body), targets.get(u, "")) for u, body in answers.items()}
    )


class TestOwnTexts:
    def test_values_that_other_pages_do_not_show_are_a_page_s_own(self) -> None:
        assert ("hemprope", "nordbo") == OWN["a"]

    def test_what_stands_in_the_title_is_not(self) -> None:
        titled = PageBefore(NAMES["a"], look(product("a"), title="Hemp rope - shop"))

        assert "hemprope" not in own_texts({**OLD, "a": titled})["a"]

    def test_pages_without_values_have_texts_of_their_own(self) -> None:
        bare = {url: PageBefore((), page.look) for url, page in OLD.items()}

        assert {"hemprope", "nordbo"} <= set(own_texts(bare)["a"])
        assert "intheshopsincespring" not in own_texts(bare)["a"]

    def test_short_words_of_chinese_count(self) -> None:
        page = PageBefore(("麻繩", "北方"), look("<p>麻繩</p><p>北方</p>"))

        assert {"麻繩", "北方"} == set(own_texts({"a": page})["a"])


class TestSeen:
    def test_a_page_in_any_template_is_seen_where_half_of_its_texts_stand(self) -> None:
        assert is_seen(OWN["a"], OLD["a"], look("<main>Best: HEMP ROPE, 10 m</main>"))
        assert not is_seen(OWN["a"], OLD["a"], look("<main>Hampköysi</main>"))

    def test_a_page_is_seen_by_its_one_value_where_all_that_is_recommended_beside_it_is_new(
        self,
    ) -> None:
        def shop_page(number: str, *recommended: str) -> PageLook:
            texts = "".join(f"<p>{text}" for text in recommended)
            return look(f"<h1>Rope</h1><b>{number}</b>{texts}")

        shown = shop_page("B-20417", "Camp stove", "Splitting axe", "Storm lamp")
        old = PageBefore(("B-20417",), shown)
        own = own_texts({"a": old})["a"]
        later = ("Paddle", "Enamel mug", "Head torch")

        assert is_seen(own, old, shop_page("B-20417", *later))
        assert not is_seen(own, old, shop_page("C-99999", *later))
        assert not is_seen(own, old, look("<p>Our apologies: B-20417"))
        wall = "<p>Log in to go on with B-20417 <form><input type=password></form>"
        assert not is_seen(own, old, look(wall + "<p>Many other long texts of a wall"))

    def test_nothing_is_said_of_a_page_without_own_texts(self) -> None:
        assert is_seen((), OLD["a"], look("<p>x</p>")) is None

    def test_a_list_of_the_same_form_is_there_with_other_entries(self) -> None:
        old = PageBefore((), look("<ul><li>one</li><li>two</li></ul>"), is_list=True)

        assert is_seen(("one", "two"), old, look("<ul><li>three</li></ul>"))
        assert not is_seen(("one", "two"), old, look("<form><input></form>"))


class TestLost:
    @pytest.mark.parametrize(
        "text", ["Palaamme pian takaisin", "すぐに戻ります", "We are back soon"]
    )
    def test_one_answer_for_several_addresses(self, text: str) -> None:
        assert {SHARED_ANSWER} == set(why(dict.fromkeys(NAMES, f"<h1>{text}</h1>")).values())

    def test_a_password_field_that_was_not_there(self) -> None:
        body = "<h1>{}</h1><p>Sisu on liikmetele<input type=password>"

        assert {"a": LOGIN_WALL} == why({"a": body.format("Hemp rope")})

    def test_shells_of_several_forms_in_one(self) -> None:
        shells = {url: f"<div id=root>{name[:2]}</div>" for url, (name, _) in NAMES.items()}

        assert {SHELL} == set(why(shells).values())

    def test_redirects_to_one_place(self) -> None:
        bodies = {"a": "<p>Welcome all of you</p>", "b": "<h1>News</h1><p>of another week</p>"}

        assert {REDIRECTED} == set(why(bodies, a="http://s.test/", b="http://s.test/").values())
        assert OTHER_CONTENT == why(bodies, a="http://s.test/")["a"]

    def test_anything_else_is_other_content(self) -> None:
        others = {
            "a": "<div class=p-a><h1>Hampköysi</h1><p>Merkki: Pohja, "
            "kaupassa keväästä asti</p><ul><li>punottu",
            "b": "<div class=p-b><h1>Halkaisukirves</h1><p>Valmistaja on "
            "Kala</p><table><tr><td>taottu",
        }

        assert {"a": OTHER_CONTENT, "b": OTHER_CONTENT} == why(others)
