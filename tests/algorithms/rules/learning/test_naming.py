import pytest

from rules.algorithms.learning.naming import names_attribute, words_of


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("faxNumber", "Fax"),
        ("viewCount", "Views"),
        ("telephone", "Phone"),
        ("color", "Colour"),
        ("mpaa_rating", "Rating"),
        ("name", "Name"),
        ("price", "buy-box__prices"),
    ],
)
def test_a_label_names_its_attribute(attribute: str, text: str) -> None:
    assert names_attribute(attribute, text)


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("faxNumber", "Phone number"),
        ("price", "reviews"),
        ("datePublished", "Date of birth"),
        ("sku", ""),
        ("a", "a"),
    ],
)
def test_another_label_does_not(attribute: str, text: str) -> None:
    assert not names_attribute(attribute, text)


def test_names_are_taken_apart() -> None:
    assert ("review", "count") == words_of("reviewCount")
    assert ("url",) == words_of("URL")
    assert ("mpaa", "rating") == words_of("mpaa_rating")
