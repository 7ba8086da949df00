"""When to stop annotating, and which page is next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.learner import learn_from
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.stopping import (
    Outlook,
    SampleCell,
    SamplePage,
    SuggestedValues,
    assess,
)
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of

PAGE = "<h1>Rope {n}</h1><p class=price>{n}.50 EUR</p>{more}"
WEIGHT = "<dl><dt>Weight</dt><dd>{n} g</dd></dl>"
NAME, PRICE = AttributeType("name"), AttributeType("price", "price", is_mandatory=True)


def pages_of(*mores: str) -> list[str]:
    return [PAGE.format(n=n, more=more.format(n=n)) for n, more in enumerate(mores, 1)]


def look(
    pages: Sequence[str],
    said: Sequence[Mapping[str, str | None]],
    specs: Sequence[AttributeType],
    hints: Mapping[int, Mapping[str, SuggestedValues]] | None = None,
) -> Outlook:
    """Learn from the first pages, for which the XPaths of the values are given, and look at all."""
    trees = [tree_of(page) for page in pages]
    annotated = [
        AnnotatedPage(
            str(n),
            trees[n],
            {name: [MarkedNode(xpath)] for name, xpath in its.items() if xpath},
            frozenset(name for name, xpath in its.items() if not xpath),
        )
        for n, its in enumerate(said)
    ]
    samples = read_samples(annotated, trees[len(said) :])
    rule = learn_from(samples, specs)
    requested = [
        SamplePage(
            str(n),
            bits,
            _values(trees[n], said[n]) if n < len(said) else None,
            (hints or {}).get(n, {}),
        )
        for n, bits in enumerate(samples.index.page_bits)
    ]
    return assess(rule, samples.columns, requested)


def _values(tree: object, said: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    return {
        name: (str(tree.xpath(f"string({xpath})")),) if xpath else ()  # type: ignore[attr-defined]
        for name, xpath in said.items()
    }


SAID = {"name": "/html/body/h1", "price": "/html/body/p"}


class TestLooking:
    def test_no_further_page_is_needed_where_every_sample_agrees(self) -> None:
        outlook = look(pages_of("", "", "", ""), [SAID], [NAME, PRICE])
        assert outlook.is_enough
        assert outlook.next_page is None
        assert "On all 3 other samples" in outlook.reason

    def test_nothing_annotated_is_never_enough(self) -> None:
        assert not Outlook((), 3, 0).is_enough

    def test_a_rule_that_finds_nothing_is_never_enough(self) -> None:
        fields = {"name": None, "price": None}
        outlook = look(pages_of("", "", ""), [fields], [NAME, PRICE])
        assert not outlook.is_enough
        assert "point at one" in outlook.reason

    def test_a_mandatory_value_that_is_missed_is_doubted_and_its_page_is_next(self) -> None:
        image = AttributeType("image", "image", is_mandatory=True)
        pages = pages_of("<img src=1.png>", "<img src=2.png>", "<img src=3.png>", "")
        outlook = look(pages, [SAID | {"image": "/html/body/img/@src"}], [NAME, image])
        assert not outlook.is_enough
        assert 3 == outlook.next_page
        assert ["image: it is mandatory, and nothing is found"] == outlook.added_by(3)

    def test_an_optional_one_is_absent_where_nothing_on_the_page_is_new(self) -> None:
        annotated = SAID | {"weight": "/html/body/dl/dd"}
        outlook = look(
            pages_of(WEIGHT, WEIGHT, "", WEIGHT), [annotated], [NAME, AttributeType("weight")]
        )
        assert ["annotated", "found", "absent", "found"] == [
            c.state for c in outlook.of_attribute("weight")
        ]
        assert outlook.is_enough

    def test_a_label_that_only_other_pages_have_is_a_reason_for_one_of_them(self) -> None:
        annotated = SAID | {"weight": None}
        outlook = look(
            pages_of("", WEIGHT, WEIGHT, ""), [annotated], [NAME, AttributeType("weight")]
        )
        assert outlook.next_page in {1, 2}
        assert "“Weight”" in outlook.added_by(1)[0]

    def test_a_suggestion_that_contradicts_counts_until_it_was_wrong(self) -> None:
        pages = pages_of("", "", "")
        wrong = {"name": SuggestedValues(("Cord",), 0.9)}
        doubted = look(pages, [SAID], [NAME, PRICE], {2: wrong})
        assert ["differs"] == [cell.state for cell in doubted.doubted]
        assert look(pages, [SAID], [NAME, PRICE], {0: wrong, 2: wrong}).is_enough

    def test_the_same_text_on_many_pages_may_stand_for_no_value(self) -> None:
        pages = [f"<h1>Rope {n}</h1><p>text number {n}</p>" for n in range(5)]
        pages += [f"<h1>Rope {n}</h1><p>No text yet.</p>" for n in range(5, 8)]
        fields = {"name": "/html/body/h1", "text": "/html/body/p"}
        outlook = look(pages, [fields], [NAME, AttributeType("text")])
        assert {5, 6, 7} == {cell.page for cell in outlook.doubted}
        assert "does it stand for no value?" in outlook.doubted[0].why

    def test_a_value_in_a_place_of_another_layout_is_doubted(self) -> None:
        usual = "<p>Home</p><h1>Rope {n}</h1>"
        advertised = "<p>Home</p><div class=ad>Advertisement</div><h2>Rope {n}</h2>"
        layouts = [usual, usual, usual, advertised, advertised]
        pages = [layout.format(n=n) for n, layout in enumerate(layouts)]
        outlook = look(pages, [{"name": "/html/body/h1"}], [NAME])
        found = [cell for cell in outlook.cells if cell.values == ("Advertisement",)]
        assert [3, 4] == [cell.page for cell in found]
        assert all(cell.is_doubted for cell in found)
        assert 3 == outlook.next_page

    def test_a_price_that_holds_two_is_doubted_unless_an_annotated_one_does(self) -> None:
        pages = [f"<p>Price: {n}8 EUR</p>" for n in range(1, 4)]
        pages += [f"<p>Price: {n}8 EUR (was 99 EUR)</p>" for n in range(4, 6)]
        said = {"price": "/html/body/p"}
        outlook = look(pages, [said], [PRICE])
        assert [3, 4] == [cell.page for cell in outlook.doubted]
        assert "more than one price" in outlook.doubted[0].why
        assert look(pages[3:] + pages[:3], [said], [PRICE]).is_enough

    def test_a_suggestion_of_a_part_does_not_contradict_a_whole_element(self) -> None:
        pages = [f"<h1>Rope {n}</h1><p>It holds.<br>Number {n}.</p>" for n in range(4)]
        text = AttributeType("text")
        part, other = (
            {3: {"text": SuggestedValues((value,), 0.9)}} for value in ("It holds.", "Rope 3")
        )
        said = {"text": "/html/body/p"}
        assert look(pages, [said], [text], part).is_enough
        assert not look(pages, [said], [text], other).is_enough

    def test_a_wrong_value_on_an_annotated_page_is_told_with_both(self) -> None:
        pages = pages_of("", "", "")
        trees = [tree_of(page) for page in pages]
        samples = read_samples(
            [AnnotatedPage("0", trees[0], {"name": [MarkedNode("/html/body/h1")]})], trees[1:]
        )
        rule = learn_from(samples, [NAME])
        annotated = [{"name": ("Cord",)}, None, None]
        requested = [
            SamplePage("", bits, its)
            for bits, its in zip(samples.index.page_bits, annotated, strict=True)
        ]
        cell = assess(rule, samples.columns, requested).cells[0]
        assert ("wrong", "annotated is “Cord”, the rule finds “Rope 1”") == (cell.state, cell.why)

    def test_of_a_list_its_editor_may_have_shown_one_record(self) -> None:
        trees = [tree_of("<html><body><ul><li>Rope</li><li>Cord</li></ul></body></html>")]
        nodes = [MarkedNode(f"/html/body/ul/li[{n}]") for n in (1, 2)]
        samples = read_samples([AnnotatedPage("0", trees[0], {"name": nodes})], [])
        rule = learn_from(samples, [AttributeType("name", is_multi=True)])
        states = {}
        for is_list, text in ((True, "Rope"), (False, "Rope"), (True, "Sling")):
            page = SamplePage("", samples.index.page_bits[0], {"name": (text,)}, is_list=is_list)
            states[is_list, text] = assess(rule, samples.columns, [page]).cells[0].state
        wanted = {(True, "Rope"): "annotated", (False, "Rope"): "wrong", (True, "Sling"): "wrong"}
        assert wanted == states


class TestOutlook:
    def test_the_next_page_is_the_one_with_most_doubt(self) -> None:
        cells = (
            SampleCell("a", 1, "missing", doubt=0.4),
            SampleCell("a", 2, "missing", doubt=0.4),
            SampleCell("b", 2, "differs", doubt=0.4),
        )
        outlook = Outlook(cells, 4, 1)
        assert 2 == outlook.next_page
        assert "a, b are doubtful on 2 of 4 samples." == outlook.reason

    def test_an_attribute_that_was_left_open_is_doubtful_on_annotated_pages_too(self) -> None:
        doubted = tuple(SampleCell("a", page, "missing", doubt=1.0) for page in range(4))
        outlook = Outlook(doubted, 4, 1)
        assert "a is doubtful on 4 of 4 samples." == outlook.reason
