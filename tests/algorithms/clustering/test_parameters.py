"""What can be chosen of an algorithm, and what is refused."""

from __future__ import annotations

import pytest

from clustering.algorithms.parameters import (
    BadParameter,
    Parameter,
    Value,
    parse_values,
    read_values,
)

K = Parameter(name="k", title="K", kind="whole number", default=4, least=1, most=9, sentence="K.")
T = Parameter(name="t", title="T", kind="number", default=0.8, least=0, most=1, sentence="T.")
S = Parameter(name="s", title="S", kind="switch", default=True, sentence="S.")
C = Parameter(name="c", title="C", kind="choice", default="a", choices=("a", "b"), sentence="C.")
N = Parameter(
    name="n", title="N", kind="whole number", default=None, least=1, most=9, sentence="N."
)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (K, "3", 3),
        (K, " ", 4),
        (T, "0.25", 0.25),
        (T, "1", 1.0),
        (S, "no", False),
        (S, "Yes", True),
        (C, "b", "b"),
        (N, "", None),
    ],
)
def test_what_people_write_is_read(parameter: Parameter, text: str, value: Value) -> None:
    assert value == parameter.parse(text)
    assert type(value) is type(parameter.parse(text))


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (K, "0"),
        (K, "10"),
        (K, "2.5"),
        (K, "x"),
        (T, "nan"),
        (T, "1.01"),
        (S, "3"),
        (C, "z"),
        (N, "0"),
    ],
)
def test_what_cannot_be_is_refused(parameter: Parameter, text: str) -> None:
    with pytest.raises(BadParameter, match=f"{parameter.name} must be .*, not "):
        parameter.parse(text)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (K, True),
        (K, "3"),
        (K, 2.0),
        (K, None),
        (T, "0.5"),
        (S, 1),
        (C, 1),
        (T, float("inf")),
        (C, []),
    ],
)
def test_a_value_must_have_its_type(parameter: Parameter, value: object) -> None:
    with pytest.raises(BadParameter):
        parameter.check(value)


def test_a_number_may_be_whole() -> None:
    assert 1 == T.check(1)


def test_what_is_not_given_has_its_default() -> None:
    assert {"k": 2, "t": 0.8} == read_values("x", [K, T], {"k": 2})
    assert {"k": 2, "t": 0.8} == parse_values("x", [K, T], {"k": "2"})


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(BadParameter, match="x has no parameter 'l'; there are: k, t"):
        read_values("x", [K, T], {"l": 2})
    with pytest.raises(BadParameter, match="x has no parameter 'l'; there are: none"):
        parse_values("x", [], {"l": "2"})
