"""What is read of a page to tell the kind of its cluster."""

from __future__ import annotations

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.page_facts import PageFacts, address_hash, read_facts

URL = "https://a.example/shop/"
ITEMS = "".join(f'<li><a href="/t/{n}">Teapot {n}</a> holds {n} litres' for n in range(6))


def facts_of(body: str, status: int = 200) -> PageFacts:
    return read_facts(RawPage(URL, body.encode(), "text/html; charset=utf-8"), status)


def test_siblings_of_one_tag_and_class_are_a_repeat_with_their_links() -> None:
    repeat = facts_of(f"<h1>Teapots</h1><ul>{ITEMS}</ul>").repeats[0]

    assert (repeat.tag, repeat.n) == ("li", 6)
    assert repeat.links[0] == address_hash("https://a.example/t/0")
    assert repeat.share > 0.9


def test_the_header_of_the_page_is_no_content_but_that_of_an_article_is() -> None:
    link = address_hash("https://a.example/t/0")

    assert link not in facts_of(f"<header><ul>{ITEMS}</ul></header><p>Tea").links
    assert link in facts_of(f"<article><header><ul>{ITEMS}</ul></header></article>").links


def test_text_behind_skipped_parts_is_read() -> None:
    assert len(facts_of("<nav>menu</nav>one<script>x</script>two<p>three</p>").texts) == 3


def test_prose_is_what_stands_in_paragraphs() -> None:
    assert facts_of("<p>12345678<b>90</b></p><div>1234567890</div>").prose_share == 0.5


def test_the_message_of_a_long_page_is_its_title_and_headings() -> None:
    long = facts_of(f"<title>T</title><h1>H</h1><div>{'word ' * 400}</div><div>behind</div>")
    short = facts_of("<title>T</title><h1>H</h1><div>all of it</div>")

    assert long.message.startswith("T\nH")
    assert "all of it" in short.message


def test_a_page_without_a_tree_has_its_address_and_status() -> None:
    assert facts_of("", 503) == PageFacts(URL, 503)


def test_two_addresses_of_one_page_have_one_hash() -> None:
    assert address_hash("http://a.b/x/") == address_hash("https://a.b/x/index.html#top")
    assert address_hash("http://a.b/x") != address_hash("http://a.b/y")
