"""Records by the tag that separates them."""

from benchmarks.records.omini import extract_objects, find_separator, object_rich_subtree
from tests.algorithms.clustering.records.test_page_model import model

ROWS = (
    b"<p>x</p><table>" + b"".join(b"<tr><td>%c<td>1" % letter for letter in b"abcdef") + b"</table>"
)


def test_the_object_rich_subtree_holds_the_rows() -> None:
    page = model(ROWS)

    assert page.tags[object_rich_subtree(page)] == "table"


def test_records_begin_with_the_separator() -> None:
    page = model(ROWS)

    assert ["a1", "b1", "c1", "d1", "e1", "f1"] == [
        page.text_at(*page.interval(interval)) for interval in extract_objects(page)
    ]


def test_a_run_reaches_to_the_next_separator() -> None:
    page = model(b"<dl><dt>a<dd>some text<dt>b<dd>more text<dt>c<dd>the last</dl>")
    results = [page.text_at(*page.interval(interval)) for interval in extract_objects(page)]

    assert results == ["asometext", "bmoretext", "cthelast"]


def test_where_no_tag_comes_twice_there_is_no_separator() -> None:
    page = model(b"<p>x</p><b>y</b>")

    assert find_separator(page, page.children[page.tags.index("body")]) is None
    assert extract_objects(page) == []
