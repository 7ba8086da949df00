"""Narrowing learnt rules to the tags in which all samples show their nodes."""

from __future__ import annotations

from lxml import html

from rules.algorithms.learning.pinning import MIN_PAGES, pin_alternative
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import XPATH, Alternative

LABEL = Feature("label", 0, ("Price",))
TOKEN = Feature("token", 1, ("price",))
TABLE = "<table><tr><th>Price:</th><td class='price big'>{}</td></tr></table>"


def samples_of(*pages: str) -> Samples:
    return read_samples([], [html.document_fromstring(page) for page in pages])


def pinned(samples: Samples, *features: Feature, target: str = "text()") -> tuple[Feature, ...]:
    return pin_alternative(samples, Alternative(XPATH, target, features)).features


def tables(n: int = MIN_PAGES) -> list[str]:
    return [TABLE.format(number) for number in range(n)]


def test_a_label_is_looked_for_in_the_tags_that_samples_show() -> None:
    other = "<dl><dt>Price</dt><dd>7</dd></dl>"

    assert (Feature("before", 0, ("Price",), name="dt th"),) == pinned(
        samples_of(*tables(), other), LABEL
    )


def test_a_label_that_stands_in_one_text_with_its_value_stays() -> None:
    assert (LABEL,) == pinned(samples_of(*tables(), "<p>Price: 7 EUR</p>"), LABEL)


def test_a_word_of_a_class_is_looked_for_in_its_one_tag() -> None:
    assert (TOKEN, Feature("tag", 1, ("td",))) == pinned(samples_of(*tables()), TOKEN)


def test_a_word_of_a_class_that_several_tags_have_stays() -> None:
    assert (TOKEN,) == pinned(samples_of(*tables(), "<p class='price'>7</p>"), TOKEN)


def test_few_samples_say_nothing_of_tags() -> None:
    assert (TOKEN,) == pinned(samples_of(*tables(MIN_PAGES - 1)), TOKEN)


def test_an_id_is_cheap_as_it_is() -> None:
    features = (Feature("id", 2, ("x",)), TOKEN)
    pages = [f"<div><section id='x'>{page}</section></div>" for page in tables()]
    result = pinned(samples_of(*pages), Feature("id", 5, ("x",)), TOKEN)

    assert 2 == len(features) == len(result)


def test_what_is_pinned_selects_the_same_nodes() -> None:
    samples = samples_of(*tables(), "<p>Price <b>9</b> Prices 3</p>")
    for feature in (LABEL, TOKEN, Feature("starts", 0, ("1",)), Feature("before", 0, ("Price",))):
        before, after = samples.columns.targets("text()"), samples.columns.targets("text()")
        for each in pinned(samples, feature):
            after &= samples.columns.bits(each)

        assert before & samples.columns.bits(feature) == after
