"""Pages made still."""

from __future__ import annotations

import pytest
from lxml import html as parser

from clustering.dom.frame.still_pages import MAX_ELEMENTS, make_still


def test_what_is_to_be_seen_stays() -> None:
    still = make_still(
        b'<h1 class="big">Boots</h1><style>.big{color:red}</style><td bgcolor="red">42'
    )

    assert '<h1 class="big">Boots</h1>' in still
    assert ".big{color:red}" in still


@pytest.mark.parametrize(
    "page",
    [
        "<script>alert(1)</script>",
        "<p onclick=alert(1) ONLOAD=alert(1)>x</p>",
        "<iframe src=//evil.example></iframe><object data=x></object><embed src=x>",
        "<link rel=stylesheet href=//evil.example><base href=//evil.example>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "<a href='javascript:alert(1)'>x</a><img src=//evil.example/a.png srcset=x>",
        (
            "<svg onload=alert(1)><script>alert(1)</script></svg><form "
            "action=//evil.example><input></form>"
        ),
        (
            "<template><script>alert(1)</script></template><noscript><img "
            "src=//evil.example></noscript>"
        ),
        "<!-- <script>alert(1)</script> --><video poster=//evil.example></video>",
    ],
)
def test_nothing_acts_or_leads_anywhere(page: str) -> None:
    still = make_still(page.encode())

    assert "alert" not in still
    assert "evil.example" not in still


def test_a_policy_says_it_again() -> None:
    assert "default-src 'none'" in make_still(b"<p>x")


def test_text_after_what_is_dropped_stays() -> None:
    assert "before  after" in make_still(b"<p>before <script>x</script> after</p>")


def test_a_page_of_too_many_elements_is_cut() -> None:
    still = parser.document_fromstring(
        make_still(b"<div>" + b"<i>x</i>" * (MAX_ELEMENTS + 500) + b"</div>")
    )

    assert MAX_ELEMENTS - 10 < len(still.findall(".//i")) <= MAX_ELEMENTS


def test_a_page_of_nothing_is_blank() -> None:
    assert "" == make_still(b"")
