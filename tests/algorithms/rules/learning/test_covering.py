from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.attribute_task import AttributeTask
from rules.algorithms.learning.covering import MAX_PARTS, cover_values
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, find_targets

PAGE = "<h1>{0}</h1><div>Tel <b>{1}</b></div><p>Fax <i>{2}</i></p><p>Since <u>{3}</u></p>"


def task(page: str, *paths: str, n_others: int = 4) -> AttributeTask:
    attribute = AttributeType("a", is_multi=True)
    annotated = AnnotatedPage(
        "u",
        html.document_fromstring(page.format("T", "Ann", "Bob", "Cy")),
        {"a": [MarkedNode(path) for path in paths]},
    )
    others = [page.format(f"t{n}", f"b{n}", f"i{n}", f"u{n}") for n in range(n_others)]
    samples = read_samples([annotated], map(html.document_fromstring, others))
    targets = find_targets(samples.index, samples.pages, attribute)
    return AttributeTask(samples, targets, attribute, tuple(targets.marks))


def test_each_part_finds_values_that_the_others_do_not() -> None:
    cover, as_far_as_it_goes = cover_values(task(PAGE, "//b", "//i"))
    assert 2 == len(cover.parts)
    assert [] == cover.uncovered
    assert cover is as_far_as_it_goes
    assert cover.losers


def test_what_nothing_finds_alone_is_left_uncovered() -> None:
    page = "<div>" + "<p>{0}{1}</p>" + "<p>x{2}</p>" * 30 + "</div>" + "<p>y{3}</p>" * 30
    cover, as_far_as_it_goes = cover_values(task(page, "//b | //div/p[1]", "//div/p[14]"))
    assert len(as_far_as_it_goes.parts) <= MAX_PARTS
    assert len(as_far_as_it_goes.uncovered) <= len(cover.uncovered)


def test_without_other_pages_everything_that_is_precise_counts() -> None:
    cover, _ = cover_values(task(PAGE, "//b", "//i", n_others=0))
    assert [] == cover.uncovered
