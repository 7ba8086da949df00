"""Texts that are not all alike: small grammars, names and dates, drawn by a seeded chance."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random

Grammar = Mapping[str, Sequence[str]]


def tell(rng: Random, grammar: Grammar, text: str) -> str:
    """Replace each `{key}` by one of the grammar's texts, again and again."""
    while "{" in text:
        text = re.sub(r"\{(\w+)\}", lambda found: rng.choice(grammar[found[1]]), text)
    return text


def sentences(rng: Random, grammar: Grammar, count: int, key: str = "sentence") -> list[str]:
    """Return that many different sentences, each with a capital."""
    patterns = rng.sample(list(grammar[key]), min(count, len(grammar[key])))
    return [_capital(tell(rng, grammar, pattern)) for pattern in patterns]


def paragraph(rng: Random, grammar: Grammar, count: int, key: str = "sentence") -> str:
    return " ".join(sentences(rng, grammar, count, key))


def slug_of(text: str) -> str:
    """Return the text as it would stand in an address."""
    text = (
        text.replace("ß", "ss")
        .replace("ø", "o")
        .replace("Ø", "O")
        .replace("ł", "l")
        .replace("Ł", "L")
    )
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower()).strip("-")


def days_before(rng: Random, last: date, most: int) -> date:
    return last - timedelta(days=rng.randrange(most))


def long_date(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
