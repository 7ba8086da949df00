"""Describe what of an algorithm can be chosen: the form, the command and the API are made of it.

Start at `Parameter`. Each clusterer lists its own beside its function, under the names of the
function's keywords; the default is what the paper has, or the reading of it in the module's card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

Value: TypeAlias = bool | int | float | str | None

WORDS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


class BadParameter(ValueError):
    """An algorithm does not have this parameter, or does not take this value for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Something of an algorithm that can be chosen."""

    name: str  # a keyword of the algorithm's function
    title: str  # for people
    kind: Literal["whole number", "number", "switch", "choice"]
    default: Value  # None: the algorithm decides by the site
    sentence: str
    least: float = 0
    most: float = 0
    choices: Sequence[str] = ()  # of a choice
    # It decides what is read of a page, and is a keyword of `observe` instead.
    is_observed: bool = False

    def parse(self, text: str) -> Value:
        """Return the value that a person wrote; of a blank, the default. Raises BadParameter."""
        written = text.strip()
        if not written:
            return self.default
        if self.kind == "choice":
            return self.check(written)
        if self.kind == "switch":
            return self.check(WORDS.get(written.lower(), written))
        try:
            number: Value = int(written) if self.kind == "whole number" else float(written)
        except ValueError:
            raise self._refusal(written) from None
        return self.check(number)

    def check(self, value: object) -> Value:
        """Return a value that may be chosen. Raises BadParameter."""
        if value is None and self.default is None:
            return None
        if self.kind == "switch" and isinstance(value, bool):
            return value
        if self.kind == "choice" and isinstance(value, str) and value in self.choices:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refusal(value)
        is_number = self.kind == "number" or (
            self.kind == "whole number" and isinstance(value, int)
        )
        if not is_number or not isfinite(value) or not self.least <= value <= self.most:
            raise self._refusal(value)
        return value

    @property
    def allowed(self) -> str:
        """Return what may be chosen, in words: `a whole number from 1 to 100`."""
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "switch":
            return "yes or no"
        return f"a {self.kind} from {self.least:g} to {self.most:g}"

    def _refusal(self, value: object) -> BadParameter:
        return BadParameter(f"{self.name} must be {self.allowed}, not {value}")


def read_values(
    algorithm: str, parameters: Sequence[Parameter], given: Mapping[str, object]
) -> dict[str, Value]:
    """Return the value of each parameter of an algorithm: the one given, else the default.

    Raises BadParameter.
    """
    _refuse_unknown(algorithm, parameters, given)
    return {
        parameter.name: parameter.check(given.get(parameter.name, parameter.default))
        for parameter in parameters
    }


def parse_values(
    algorithm: str, parameters: Sequence[Parameter], texts: Mapping[str, str]
) -> dict[str, Value]:
    """Return the value of each parameter from what a person wrote for some. Raises BadParameter."""
    _refuse_unknown(algorithm, parameters, texts)
    return {
        parameter.name: parameter.parse(texts.get(parameter.name, "")) for parameter in parameters
    }


def _refuse_unknown(algorithm: str, parameters: Sequence[Parameter], given: Iterable[str]) -> None:
    known = [parameter.name for parameter in parameters]
    for name in given:
        if name not in known:
            names = ", ".join(known) or "none"
            raise BadParameter(f"{algorithm} has no parameter {name!r}; there are: {names}")


def describe(parameter: Parameter) -> str:
    """Return a line on a parameter: its name, what may be chosen, its default.

    >>> k = Parameter(name="k", title="K", kind="whole number", default=1, most=9, sentence="")
    >>> describe(k)
    'k, a whole number from 0 to 9 (default: 1)'
    """
    return (
        f"{parameter.name}, {parameter.allowed} (default: "
        f"{written(parameter.default) or 'by the site'})"
    )


def written(value: Value) -> str:
    """Return a value as people write it.

    >>> written(0.97), written(True), written(None)
    ('0.97', 'yes', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
