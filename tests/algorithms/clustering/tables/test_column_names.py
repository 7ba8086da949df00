"""What columns are called."""

import pytest

from clustering.algorithms.tables.column_names import as_name, name_of, unique_names


@pytest.mark.parametrize(
    ("words", "label", "values", "name"),
    [
        (["price"], "", [], "price"),
        (["product-card__name", "mt-2"], "", [], "name"),
        (["text-xl", "font-bold", "seller"], "", [], "seller"),
        (["css-8b3f2a", "w-40"], "", ["3 EUR", "4 EUR"], "price"),
        (["value"], "Country of origin", [], "country_of_origin"),
        ([], "", ["2024-05-01", "2023-01-12"], "date"),
        ([], "", ["(207) 555-9876"], "phone"),
        ([], "", ["3.4 of 5"], "rating"),
        ([], "", ["17", "1,200"], "number"),
        ([], "", ["one", "two"], "text"),
        (["datePublished"], "", [], "date_published"),
    ],
)
def test_the_page_s_own_word_comes_before_what_values_look_like(
    words: list[str], label: str, values: list[str], name: str
) -> None:
    assert name == name_of(words, label, values, "text")


def test_names_fit_attributes() -> None:
    assert ["preis", "n_2nd_hand", ""] == [as_name("Preis (€)"), as_name("2nd hand"), as_name("—")]


def test_the_fullest_of_equal_names_keeps_it() -> None:
    assert ["price_2", "price", "name", "price_3"] == unique_names(
        ["price", "price", "name", "price"], [1, 9, 3, 1]
    )
