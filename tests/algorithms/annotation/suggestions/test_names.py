"""What attributes are called elsewhere."""

from __future__ import annotations

import pytest

from annotation.algorithms.suggestions.names import (
    implied_type,
    label_key,
    meaning_of,
    names_it,
    words_of,
)


@pytest.mark.parametrize(
    ("attribute", "label"),
    [
        ("price", "Our Price:"),
        ("faxNumber", "Fax"),
        ("authors", "Written by"),
        ("telephone", "Tel."),
        ("viewCount", "Views"),
        ("openHouse", "Open house"),
    ],
)
def test_labels_name_attributes(attribute: str, label: str) -> None:
    assert label_key(label) in meaning_of(attribute).labels


def test_another_label_does_not() -> None:
    assert label_key("List price") not in meaning_of("price").labels


def test_an_attribute_that_nobody_knows_is_called_by_its_own_name() -> None:
    meaning = meaning_of("shoeWidth")
    assert (("shoeWidth",), frozenset({"shoe width"}), False) == meaning[:3]


def test_names_of_things_are_titles() -> None:
    assert meaning_of("headline").is_title
    assert meaning_of("title").key == meaning_of("name").key


def test_classes_with_more_words_name_less() -> None:
    labels = meaning_of("price").labels
    assert names_it(labels, words_of("price")) > names_it(labels, words_of("product-price")) > 0
    assert 0 == names_it(labels, words_of("price-list-item"))


def test_every_entry_has_names_properties_and_labels() -> None:
    assert "price" == implied_type("salePrice", "text")
    assert "text" == implied_type("brand", "text")
