"""What the readers of values make of real values: read, refused, and right by an independent sign.

Run it with: python -m benchmarks.run values --data DIR
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import markdown_table
from clustering.values.dates import read_date
from clustering.values.dates_by_dateparser import DatesByDateparser
from clustering.values.normalising import PageContext, normalise

TITLE = "Reading values"
MOST_OF_A_SITE = 12  # different values of an attribute
ATTRIBUTES = {  # those of SWDE that have a type
    "auto/*-price": "price",
    "camera/*-price": "price",
    "book/*-publication_date": "date",
    "job/*-date_posted": "date",
    "restaurant/*-phone": "phone",
    "university/*-phone": "phone",
    "nbaplayer/*-weight": "number",
}
CONTEXT = PageContext("", "en-US", "US")  # all of these sites are American
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# The fifth of March 2021 as sites of these languages write it.
FIFTH_OF_MARCH = {
    "Arabic": "5 مارس 2021",
    "Bulgarian": "5 март 2021 г.",
    "Catalan": "5 de març de 2021",
    "Croatian": "5. ožujka 2021.",
    "Czech": "5. března 2021",
    "Danish": "5. marts 2021",
    "Dutch": "5 maart 2021",
    "English": "Mar 5, 21",
    "Estonian": "5. märts 2021",
    "Finnish": "5. maaliskuuta 2021",
    "French": "5 mars 2021",
    "German": "5. März 2021",
    "Greek": "5 Μαρτίου 2021",
    "Hindi": "5 मार्च 2021",
    "Hungarian": "2021. március 5.",
    "Indonesian": "5 Maret 2021",
    "Italian": "5 marzo 2021",
    "Japanese": "2021年3月5日",
    "Korean": "2021년 3월 5일",
    "Latvian": "2021. gada 5. marts",
    "Lithuanian": "2021 m. kovo 5 d.",
    "Norwegian": "5. mars 2021",
    "Polish": "5 marca 2021",
    "Portuguese": "5 de março de 2021",
    "Romanian": "5 martie 2021",
    "Russian": "5 марта 2021 г.",
    "Spanish": "5 de marzo de 2021",
    "Swedish": "5 mars 2021",
    "Thai": "5 มีนาคม 2564",
    "Turkish": "5 Mart 2021",
    "Ukrainian": "5 березня 2021",
    "Vietnamese": "5 tháng 3, 2021",
}


class Reading(NamedTuple):
    """A value and what was read of it."""

    kind: str
    text: str
    form: Any


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    sections = [languages()]
    if data and (data / "swde").is_dir():
        sections.insert(0, real_values(data / "swde" / "groundtruth"))
    else:
        sections.append("The folder of real pages has no SWDE: real values were left out.")
    return "\n\n".join(sections)


def real_values(groundtruth: Path) -> str:
    """Return the table over values of real sites."""
    started = time.process_time()
    readings = [
        Reading(
            kind,
            text,
            normalise(kind, text, replace(CONTEXT, by_dateparser=DatesByDateparser("en"))),
        )
        for kind, text in values_of(groundtruth)
    ]
    each = (time.process_time() - started) / len(readings)
    rows = []
    for kind in dict.fromkeys(reading.kind for reading in readings):
        of_kind = [reading for reading in readings if reading.kind == kind]
        read = [reading for reading in of_kind if reading.form is not None]
        right = [reading for reading in read if SIGNS[kind](reading)]
        refused = sorted({reading.text for reading in of_kind if reading.form is None}, key=len)
        examples = ", ".join(f"`{text[:24]}`" for text in refused[:4]) or "–"
        rows.append([kind, len(of_kind), len(read), len(right), examples])
    header = ["type", "values", "read", "right", "examples of what is not read"]
    return (
        f"At most {MOST_OF_A_SITE} different values of each site and attribute of SWDE, "
        f"{len(readings)} in all, "
        f"{each * 1e6:.0f} µs each. Right: the digits of a price or a number are those of the "
        "text, and the year, "
        "month and day of a date stand in it.\n\n" + markdown_table(header, rows)
    )


def values_of(groundtruth: Path) -> Iterator[tuple[str, str]]:
    """Yield types with values of real sites."""
    for pattern, kind in ATTRIBUTES.items():
        for file in sorted(groundtruth.glob(f"{pattern}.txt")):
            cells = [
                cell
                for line in file.read_text(encoding="utf-8-sig").splitlines()[2:]
                for cell in line.split("\t")[2:]
                if cell and cell != "<NULL>"
            ]
            for text in list(dict.fromkeys(cells))[:MOST_OF_A_SITE]:
                yield kind, text


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _price_is_right(reading: Reading) -> bool:
    return _digits(reading.form["amount"]) in _digits(reading.text)


def _phone_is_right(reading: Reading) -> bool:
    return reading.form.removeprefix("+1").partition(";")[0] in _digits(reading.text)


def _date_is_right(reading: Reading) -> bool:
    year, *rest = reading.form[:10].split("-")
    text = reading.text.lower()
    month_stands = not rest or MONTHS[int(rest[0]) - 1] in text or str(int(rest[0])) in text
    day_stands = len(rest) < 2 or str(int(rest[1])) in text
    return year[-2:] in text and month_stands and day_stands


def _number_is_right(reading: Reading) -> bool:
    return _digits(f"{reading.form:g}") in _digits(reading.text)


SIGNS: dict[str, Callable[[Reading], bool]] = {
    "price": _price_is_right,
    "phone": _phone_is_right,
    "date": _date_is_right,
    "number": _number_is_right,
}


def languages() -> str:
    """Return the table of one day in many languages, by our reader alone and with the library."""
    rows = []
    for language, text in FIFTH_OF_MARCH.items():
        ours, both = read_date(text), read_date(text, "", DatesByDateparser())
        rows.append([language, f"`{text}`", ours or "–", both or "–"])
    n_ours = sum(row[2] == "2021-03-05" for row in rows)
    n_both = sum(row[3] == "2021-03-05" for row in rows)
    head = (
        f"One day in {len(rows)} languages: ours reads {n_ours}, "
        f"with dateparser behind it {n_both}."
    )
    return head + "\n\n" + markdown_table(["language", "text", "ours", "both"], rows)
