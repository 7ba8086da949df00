import pytest

from annotation.algorithms.attribute_types import AttributeType

PRICE = AttributeType("price", "price", is_mandatory=True, regex=r"[\d,]+")


def test_an_attribute_is_text_with_at_most_one_value_unless_somebody_says_otherwise() -> None:
    assert AttributeType(
        name="name", type="text", is_constant=False, is_mandatory=False, is_multi=False, regex=""
    ) == AttributeType("name")


def test_an_attribute_comes_back_from_its_json() -> None:
    assert PRICE == AttributeType.from_json(PRICE.as_json())


def test_the_json_has_the_keys_that_rules_and_bundles_store() -> None:
    expected = ["name", "type", "is_constant", "is_mandatory", "is_multi", "regex"]

    assert expected == list(PRICE.as_json())


def test_keys_that_a_rule_does_not_store_have_their_defaults() -> None:
    assert AttributeType("url") == AttributeType.from_json({"name": "url"})


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        AttributeType.from_json({"name": "url", "colour": "red"})
