"""Texts that a regular expression takes as long as possible for, read off the expression itself.

A backtracking expression is slow where a repeat takes much and what follows then fails, or where
every position begins a match that fails far behind. So each repeat gives texts: what leads to it,
what it repeats many times, and what cannot follow; and the same with what leads to it repeated.
"""

import re
from collections.abc import Iterator, Sequence
from re import _constants as sre
from re import _parser as parser
from typing import Any, NamedTuple

MANY = 20  # a repeat that takes more than this is worth a text
CHARACTERS = " 0aA\n-_.,:;/\\\"'()[]{}<>@#$%&=+*|!?^~`\t\x00éß٣ー\u00a0x1zbe"
ENDINGS = ("", "\x00", "!", "(")
MOST_PUMPS = 8  # of a repeat: more characters of a large class tell nothing new

_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


class Repeat(NamedTuple):
    """A repeat of an expression: a text that leads to it, and texts that it repeats."""

    before: str
    pumps: Sequence[str]


class BadText(NamedTuple):
    """How to make a text of any length that is bad for an expression."""

    lead: str
    pump: str
    ending: str

    def of_length(self, length: int) -> str:
        return (self.lead + self.pump * (length // len(self.pump)))[:length] + self.ending


def bad_texts(expression: re.Pattern[Any]) -> list[BadText]:
    """Return texts that are bad for an expression."""
    repeats: list[Repeat] = []
    tree = parser.parse(_text_of(expression), expression.flags & ~re.DEBUG)
    whole = _sample(list(tree), "", repeats)
    return list(dict.fromkeys(text for text in _recipes(repeats, whole) if text.pump))


def _text_of(expression: re.Pattern[Any]) -> str:
    text = expression.pattern
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def _recipes(repeats: Sequence[Repeat], whole: str) -> Iterator[BadText]:
    for repeat in repeats:
        for pump in repeat.pumps:
            for ending in ENDINGS:
                yield BadText(repeat.before, pump, ending)
                yield BadText("", pump, ending)
            yield BadText("", repeat.before + pump, "")
            yield BadText("", repeat.before + pump * 30, "")
        yield BadText("", repeat.before, "")
    yield BadText("", whole, "")
    yield BadText("", whole[:-1], "")


def _sample(nodes: Sequence[Any], before: str, repeats: list[Repeat]) -> str:
    """Return a text that these nodes match, and note their repeats; `before` leads to them."""
    text = ""
    for operation, argument in nodes:
        text += _sample_of(operation, argument, before + text, repeats)
    return text


def _sample_of(operation: Any, argument: Any, before: str, repeats: list[Repeat]) -> str:
    if operation is sre.LITERAL:
        return chr(argument)
    if operation in {sre.NOT_LITERAL, sre.IN, sre.ANY}:
        return next(iter(_members(operation, argument)), "")
    if operation is sre.BRANCH:
        samples = [_sample(list(branch), before, repeats) for branch in argument[1]]
        return samples[0]
    if operation is sre.SUBPATTERN:
        return _sample(list(argument[3]), before, repeats)
    if operation is sre.ATOMIC_GROUP:
        return _sample(list(argument), before, repeats)
    if operation in {sre.ASSERT, sre.ASSERT_NOT}:
        _sample(list(argument[1]), before, repeats)
        return ""
    if operation in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        least, most, body = argument
        sample = _sample(list(body), before, repeats)
        if most > MANY:
            repeats.append(Repeat(before, _pumps(list(body), sample)))
        return sample * max(least, 1) if least else sample
    return ""


def _pumps(body: Sequence[Any], sample: str) -> list[str]:
    """Return texts that a repeat of this body takes again and again."""
    pumps = [sample]
    for operation, argument in _leaves(body):
        pumps += _members(operation, argument)
    return list(dict.fromkeys(pumps))[:MOST_PUMPS]


def _leaves(nodes: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for operation, argument in nodes:
        if operation is sre.BRANCH:
            for branch in argument[1]:
                yield from _leaves(list(branch))
        elif operation is sre.SUBPATTERN:
            yield from _leaves(list(argument[3]))
        elif operation is sre.ATOMIC_GROUP:
            yield from _leaves(list(argument))
        elif operation in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
            yield from _leaves(list(argument[2]))
        elif operation in {sre.IN, sre.ANY, sre.NOT_LITERAL, sre.LITERAL}:
            yield operation, argument


def _members(operation: Any, argument: Any) -> list[str]:
    """Return the characters that one place of an expression takes, among those that are tried."""
    if operation is sre.LITERAL:
        return [chr(argument)]
    if operation is sre.ANY:
        return [character for character in CHARACTERS if character != "\n"]
    if operation is sre.NOT_LITERAL:
        return [character for character in CHARACTERS if ord(character) != argument]
    is_negated = bool(argument) and argument[0][0] is sre.NEGATE
    listed = [chr(value) for kind, value in argument if kind is sre.LITERAL]
    candidates = CHARACTERS if is_negated else CHARACTERS + "".join(listed[:3])
    members = [
        character for character in candidates if _is_in(character, argument) is not is_negated
    ]
    if not members and not is_negated:
        members = [chr(value[0]) for kind, value in argument if kind is sre.RANGE]
    return members


def _is_in(character: str, members: Sequence[tuple[Any, Any]]) -> bool:
    for kind, value in members:
        if kind is sre.LITERAL and ord(character) == value:
            return True
        if kind is sre.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if kind is sre.CATEGORY and re.match(_CATEGORIES[value], character):
            return True
    return False
