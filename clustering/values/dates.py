"""Read dates and times as pages write them, in the languages of Europe's larger sites.

A new format is one more regular expression here.

Readings:   "03/04/2024" is the third of April or the fourth of March: a number above 12 tells, else
            the page's language (`en` or `en-us` puts the month first, every other the day), and
            without one it is no date. Points part day, month and year in this order. A year of two
            digits is one from 1970 to 2069. What is relative ("yesterday") is no date: it would
            need the moment of reading.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

from clustering.values.dates_by_dateparser import DatesByDateparser

FIRST_OF_SHORT_YEARS = 70
EARLIEST_YEAR, LATEST_YEAR = 1000, 2999

# The beginnings of the names of months; the first letters suffice. A line begins with its month's
# number.
_NAMES = """
1 january janvier januar jänner jaenner enero gennaio janeiro januari styczeń stycznia leden ledna
1 január january январ янв jan ene gen stycz
2 february février fevrier februar febrero febbraio fevereiro februari luty lutego únor února феврал
2 фев feb fév fev
3 march mars märz maerz marzo março marco maart marzec marca březen března март мар mar mär mrz mrt
4 april avril abril aprile kwiecień kwietnia duben dubna апрел апр apr avr abr kwie
5 may mai mayo maggio maio mei maj maja květen května ма maj
6 june juin juni junio giugno junho czerwiec czerwca červen června июн jun giu czer
7 july juillet juli julio luglio julho lipiec lipca červenec července июл jul lug lip
8 august août aout agosto augustus augusti sierpień sierpnia srpen srpna август авг aug aoû ago sie
9 september septembre septiembre settembre setembro wrzesień września září сентябр сен sept sep
9 set wrz
10 october octobre oktober octubre ottobre outubro październik października říjen října октябр окт
10 oct okt ott out paź
11 november novembre noviembre novembro listopad listopada listopadu ноябр ноя nov lis
12 december décembre decembre dezember diciembre dicembre dezembro grudzień grudnia prosinec
12 prosince декабр дек dec déc dez dic gru
"""
_MONTH_BY_NAME = {
    name: int(number)
    for number, *names in map(str.split, _NAMES.strip().splitlines())
    for name in names
}

# Languages whose months have names that mean others in the table.
_OTHER_MONTHS = frozenset({"bs", "hr"})  # listopad is October

_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?"
    r"\s?(Z|[+-]\d\d:?\d\d)?)?)?(?![\d-])"
)
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])([0-3]\d)(?!\d)")
_YEAR_FIRST = re.compile(r"(?<![\d.])(\d{4})\s?[/.年]\s?(\d{1,2})\s?[/.月]\s?(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.])(\d{1,2})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{4}|\d\d)(?!\d)")
_WORD = r"([^\W\d_]{3,12})"
_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º|ª)?\.?[\s\-]*(?:of\s+|de\s+|d['\u2019])?"
    rf"{_WORD}\.?,?[\s\-]*(?:de[l]?\s+|of\s+)?(\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?<![^\W\d_]){_WORD}\.?[\s\-]*(\d{{1,2}})(?:st|nd|rd|th)?\s?(?:,|\s|-)\s*(\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"(?<![^\W\d_]){_WORD}\.?,?\s+(?:de\s+)?(\d{{4}})(?!\d)", re.IGNORECASE)
_YEAR = re.compile(r"\s*(\d{4})\s*")
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2})[:.h](\d\d)(?::(\d\d))?\s?(a\.?m\.?|p\.?m\.?)?(?!\d)(?:\s?(GMT|UTC|Z)\b)?",
    re.IGNORECASE,
)
_NOON = 12


def read_date(
    text: str, language: str = "", by_dateparser: DatesByDateparser | None = None
) -> str | None:
    """Return the first date of a text in ISO 8601, with its time where one stands there, else None.

    `by_dateparser` reads what this function does not know.

    >>> read_date("Posted March 5, 2024 at 4:30 pm")
    '2024-03-05T16:30:00'
    >>> read_date("5. März 2024"), read_date("May 1999")
    ('2024-03-05', '1999-05')
    """
    is_ours = language.lower().partition("-")[0] not in _OTHER_MONTHS
    read = _read_iso(text) or _read_numeric(text, language)
    if read is None and is_ours:
        read = _read_named(text) or _read_partial(text)
    if read or by_dateparser is None or _NUMERIC.search(text):
        return read
    return by_dateparser.read(text)


def _read_iso(text: str) -> str | None:
    match = _ISO.search(text)
    if match is None:
        compact = _COMPACT.search(text)
        return _joined(*map(int, compact.groups())) if compact else None
    year, month, day, clock, zone = match.groups()
    if day is None:
        return _month_of(int(year), int(month))
    dated = _joined(int(year), int(month), int(day))
    if dated is None or clock is None:
        return dated
    return _with_time(dated, clock if clock.count(":") > 1 else f"{clock}:00", zone)


def _with_time(dated: str, clock: str, zone: str | None) -> str:
    try:
        moment = datetime.fromisoformat(f"{dated}T{clock}")
    except ValueError:
        return dated
    if zone is None:
        return moment.isoformat()
    sign = -1 if zone[0] == "-" else 1
    digits = "0000" if zone == "Z" else zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if offset >= timedelta(hours=24):
        return moment.isoformat()
    return moment.replace(tzinfo=timezone(sign * offset)).isoformat()


def _read_numeric(text: str, language: str) -> str | None:
    year_first = _YEAR_FIRST.search(text)
    if year_first:
        return _joined(*map(int, year_first.groups()))
    numeric = _NUMERIC.search(text)
    if numeric is None:
        return None
    first, mark, second, year = int(numeric[1]), numeric[2], int(numeric[3]), _full_year(numeric[4])
    puts_day_first = _puts_day_first(first, second, mark, language)
    if puts_day_first is None:
        return None
    day, month = (first, second) if puts_day_first else (second, first)
    return _timed(_joined(year, month, day), text[: numeric.start()] + " " + text[numeric.end() :])


def _puts_day_first(first: int, second: int, mark: str, language: str) -> bool | None:
    """Return whether the first of two numbers is the day; None where nothing tells."""
    if mark == "." or first > _NOON:
        return True
    if second > _NOON:
        return False
    if first == second:
        return True
    tag = language.lower().replace("_", "-")
    return None if not tag else tag not in {"en", "en-us", "en-ph"}


def _read_named(text: str) -> str | None:
    for pattern, day_group, month_group in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        for match in pattern.finditer(text):
            month = month_of_name(match[month_group])
            if month:
                text_around = text[: match.start()] + " " + text[match.end() :]
                return _timed(_joined(int(match[3]), month, int(match[day_group])), text_around)
    return None


def _read_partial(text: str) -> str | None:
    for match in _MONTH_YEAR.finditer(text):
        month = month_of_name(match[1])
        if month:
            return _month_of(int(match[2]), month)
    year = _YEAR.fullmatch(text)
    return year[1] if year and EARLIEST_YEAR <= int(year[1]) <= LATEST_YEAR else None


def month_of_name(name: str) -> int | None:
    """Return the number of a month by its name, its beginning or its inflected form.

    >>> month_of_name("Sept"), month_of_name("сентября"), month_of_name("Monday")
    (9, 9, None)
    """
    word = name.lower()
    exact = _MONTH_BY_NAME.get(word)
    if exact or word.isascii():
        return exact
    for n in (7, 6, 5, 4, 3, 2):  # inflected names begin like those of the table
        if word[:n] in _MONTH_BY_NAME:
            return _MONTH_BY_NAME[word[:n]]
    return None


def _timed(dated: str | None, text_around: str) -> str | None:
    """Add the time of day that stands beside a date."""
    clock = _CLOCK.search(text_around)
    if dated is None or clock is None:
        return dated
    hour, minute, second = int(clock[1]), clock[2], clock[3] or "00"
    half_of_day = (clock[4] or "").lower()
    if half_of_day:
        hour = hour % _NOON + (_NOON if half_of_day.startswith("p") else 0)
    return _with_time(dated, f"{hour:02}:{minute}:{second}", "Z" if clock[5] else None)


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    century = 1900 if year >= FIRST_OF_SHORT_YEARS else 2000
    return century + year


def _joined(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _month_of(year: int, month: int) -> str | None:
    return f"{year:04}-{month:02}" if _joined(year, month, 1) else None
