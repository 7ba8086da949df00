"""The title of a page is read as browsers show it."""

from __future__ import annotations

import pytest

from clustering.dom.titles import MAX_TITLE_CHARS, read_title


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>\n Rope  9 </title><p>x", "Rope 9"),
        ("<p>x<title>late</title>", "late"),
        ("<title></title><p>x", ""),
        ("<p>x", ""),
        ("", ""),
        (f"<title>{'x' * 999}</title>", "x" * MAX_TITLE_CHARS),
    ],
)
def test_a_title_is_one_line_and_not_too_long(html: str, title: str) -> None:
    assert title == read_title(html.encode())


def test_the_encoding_is_that_of_the_page() -> None:
    assert "Seil für 9 €" == read_title(
        "<title>Seil für 9 €".encode("cp1252"), "text/html; charset=cp1252"
    )
