"""Read dates in the languages that `dates` does not know, by the library dateparser.

Readings:   Only texts with words and digits are asked for; what is relative ("yesterday") is no
            date. The library's locales are tried in a fixed order, the page's language first, so
            that a text is read the same whatever was read before it. Years of the Thai calendar
            count from 543 BC.
Cost:       Finding the locale of a wording takes about 30 ms, reading in a known one about 1 ms.
            The locale is kept by wording (the text with other digits), and a page has it found for
            `MAX_WORDINGS` wordings. The first search of a process loads all locales: 2 s.

Without the library, as in the small package of rules, nothing is read.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

try:
    from dateparser.date import DateDataParser
except ImportError:  # the package of rules runs without it
    DateDataParser = None

MAX_CHARS: Final = 60  # a longer text is a sentence, no date
MAX_WORDINGS: Final = 40  # of a page: twelve months in some forms
WORDINGS_CACHED: Final = 4_096
LOCALES_CACHED: Final = 64
THAI, YEARS_OF_BUDDHA, FIRST_OF_BUDDHA = "th", 543, 2400
EARLIEST_YEAR, LATEST_YEAR = 1000, 2399
_DAY, _MONTH = ("year", "month", "day"), ("year", "month")  # what a date must have
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class DatesByDateparser:
    """The reader of one page: it looks for the locale of so many wordings and no more."""

    def __init__(self, language: str = "") -> None:
        match = _LANGUAGE.match(language.lower())
        self._language = match[0] if match else ""
        self._wordings: set[str] = set()

    def read(self, text: str) -> str | None:
        """Return the date of a text in ISO 8601, None where it is none or is not read.

        >>> DatesByDateparser().read("5. marts 2021")
        '2021-03-05'
        """
        if DateDataParser is None or len(text) > MAX_CHARS:
            return None
        if not _WORD.search(text) or not _DIGITS.search(text):
            return None
        wording = _DIGITS.sub(_other_digits, text)
        if wording not in self._wordings:
            if len(self._wordings) >= MAX_WORDINGS:
                return None
            self._wordings.add(wording)
        known = _locale_of(wording, self._language)
        return _read_in(text, *known) if known else None


def _other_digits(digits: re.Match[str]) -> str:
    """Return digits that may stand where others stand: a year, a day or month, or a short year."""
    return ("", "5", "11")[len(digits[0])] if len(digits[0]) <= 2 else "2021"


# Saves half of reading dates in many languages: 97 % have a known wording (benchmarks.caches).
@lru_cache(maxsize=WORDINGS_CACHED)
def _locale_of(wording: str, language: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the first locale in which a wording is a date, and what the date has.

    A number beside the year is a day: only a wording without one is asked for a month.
    """
    has_day = len(_DIGITS.findall(wording)) > 1
    parts = _DAY if has_day else _MONTH
    if language:
        try:
            in_language = _parser_of(language, parts).get_date_data(wording)
        except ValueError:  # the library does not know the language
            in_language = None
        if in_language and in_language.date_obj:
            return language, parts
    read = _parser_of("", parts).get_date_data(wording)
    return (str(read.locale), parts) if read.date_obj else None


def _parser_of(locale: str, parts: tuple[str, ...]) -> Any:
    """Return a parser for one locale, or for all. Raises ValueError for an unknown one."""
    return DateDataParser(
        languages=[locale] if locale else None,
        try_previous_locales=False,
        settings={
            "PARSERS": ["absolute-time"],
            "REQUIRE_PARTS": list(parts),
            "RETURN_AS_TIMEZONE_AWARE": False,
        },
    )


def _read_in(text: str, locale: str, parts: tuple[str, ...]) -> str | None:
    try:
        read = _parser_of(locale, parts).get_date_data(text)
    except ValueError:  # a locale with a region, which the library names and does not take
        read = _parser_of("", parts).get_date_data(text)
    moment: datetime | None = read.date_obj
    if moment is None:
        return None
    year = moment.year
    if locale.startswith(THAI) and year >= FIRST_OF_BUDDHA:
        year -= YEARS_OF_BUDDHA
    if not EARLIEST_YEAR <= year <= LATEST_YEAR:
        return None
    if "day" not in read.parts:
        return f"{year:04}-{moment.month:02}"
    day = f"{year:04}-{moment.month:02}-{moment.day:02}"
    return f"{day}T{moment:%H:%M:%S}" if "time" in read.parts else day
