"""How a page looks, and how alike two looks are."""

from __future__ import annotations

from lxml import html

from monitoring.algorithms.page_looks import PageLook, likeness, look_of


def look(body: str, title: str = "Rope, 10 m") -> PageLook:
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return look_of(html.document_fromstring(page))


def test_the_title_is_no_part_of_what_a_page_shows() -> None:
    shown = look("<h1>Rope</h1><p>€1</p>")

    assert ("rope,10m", "rope€1", ("rope", "€1")) == (shown.title, shown.shown, shown.texts)


def test_another_wrap_keeps_most_of_the_form_and_another_template_does_not() -> None:
    rows = "<table class=facts><tr><td class=k>Weight</td><td class=v>3</td></tr></table>"
    page = look(f"<div class=main><h1>Rope</h1>{rows}<ul><li>a</li></ul></div>")
    numbered = look(f"<div class=main><h1>Axe</h1>{rows}{rows}<ul><li>b</li><li>c</li></ul></div>")
    other = look("<main><section><h2>Rope</h2><dl><dt>Weight</dt><dd>3</dd></dl></section></main>")

    assert 1.0 == likeness(page.form, numbered.form)
    assert likeness(page.form, other.form) < 0.6


def test_a_page_that_asks_for_a_password_says_so() -> None:
    assert look("<input type=PASSWORD>").has_password
    assert not look("<input type=text>").has_password
