import pytest

from rules.algorithms.learning.naming import is_one_label, names_attribute, words_of


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


@pytest.mark.parametrize(
    "labels",
    [("Author", "Authors"), ("Directors", "Director"), ("Adresse", "Adressen"), ("Author",)],
)
def test_a_label_and_its_plural_are_one(labels: tuple[str, ...]) -> None:
    assert is_one_label(labels)


@pytest.mark.parametrize(
    "labels", [("Author", "Authority"), ("Director", "Actor"), ("No", "Not"), ("1", "12")]
)
def test_labels_of_other_words_are_several(labels: tuple[str, ...]) -> None:
    assert not is_one_label(labels)
