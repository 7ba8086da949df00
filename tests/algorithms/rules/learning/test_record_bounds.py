"""How far a record goes on behind its first element."""

from lxml import html

from rules.algorithms.learning.record_bounds import run_of, with_run
from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, Boundary

FIRST = Boundary(Alternative("xpath", "element", (Feature("tag", 0, ("dt",)),)))
PAGE = "<dl><dt>A</dt><dd>1</dd><dt>B</dt><dd>2</dd><dd>3</dd><dd class=ad>4</dd><p>end</p></dl>"


def page(*sizes: int, source: str = PAGE) -> AnnotatedPage:
    tree = html.document_fromstring(source)
    firsts = list(tree.iter("dt"))
    return AnnotatedPage(
        "u",
        tree,
        records=[
            [first, *first.itersiblings()][:n] for first, n in zip(firsts, sizes, strict=True)
        ],
    )


def lengths(boundary: Boundary | None, source: str) -> list[int]:
    assert boundary is not None
    return [len(run_of(first, boundary)) for first in html.document_fromstring(source).iter("dt")]


def test_records_of_one_element_have_no_other() -> None:
    boundary = with_run(FIRST, [page(1, 1)])

    assert (FIRST, [1, 1]) == (boundary, lengths(boundary, PAGE))


def test_a_record_ends_at_the_next_one_and_at_a_stranger() -> None:
    boundary = with_run(FIRST, [page(2, 4)])

    assert [2, 4] == lengths(boundary, PAGE)
    assert [4, 1, 2] == lengths(
        boundary,
        "<dl><dt>A</dt><dd>1</dd><dd>2</dd><dd>3</dd><p>x</p><dt>B</dt><dt>C</dt><dd>1</dd></dl>",
    )


def test_where_no_class_tells_strangers_apart_the_longest_record_is_the_measure() -> None:
    boundary = with_run(FIRST, [page(2, 3)])

    assert boundary is not None
    assert (3, [2, 3]) == (boundary.n_siblings, lengths(boundary, PAGE))


def test_a_class_tells_a_stranger_apart() -> None:
    source = PAGE.replace("<dd>", "<dd class='own x'>")
    boundary = with_run(FIRST, [page(2, 3, source=source)])

    assert [2, 3] == lengths(boundary, source)
    assert [5] == lengths(
        boundary, "<dl><dt>A" + 4 * "<dd class=own>1</dd>" + "<dd class=ad>2</dd></dl>"
    )


def test_it_survives_being_stored() -> None:
    boundary = with_run(FIRST, [page(2, 3)], has_text=True)

    assert boundary is not None
    assert boundary == Boundary.from_json(boundary.as_json())
