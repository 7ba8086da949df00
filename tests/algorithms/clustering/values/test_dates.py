"""Dates and times in ISO 8601."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.values.dates import month_of_name, read_date
from clustering.values.dates_by_dateparser import DatesByDateparser


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-03-05T10:00:00Z", "2024-03-05T10:00:00+00:00"),
        ("2024-03-05T10:00:00.123+0130", "2024-03-05T10:00:00+01:30"),
        ("2024-03-05 10:00", "2024-03-05T10:00:00"),
        ("20240305", "2024-03-05"),
        ("Posted March 5, 2024 at 4:30 pm", "2024-03-05T16:30:00"),
        ("Mon, 04 Jul 2022 18:00:00 GMT", "2022-07-04T18:00:00+00:00"),
        ("12:05 a.m., Sept. 3rd, 2011", "2011-09-03T00:05:00"),
        ("31.12.2020 um 23.15 Uhr", "2020-12-31T23:15:00"),
        ("5. März 2024", "2024-03-05"),
        ("3 de mayo de 2020", "2020-05-03"),
        ("le 1er août 2021", "2021-08-01"),
        ("12 сентября 2022 г.", "2022-09-12"),
        ("2024年3月5日", "2024-03-05"),
        ("25/03/2024", "2024-03-25"),
        ("03/25/24", "2024-03-25"),
        ("4/4/99", "1999-04-04"),
        ("May 1999", "1999-05"),
        ("1994", "1994"),
    ],
)
def test_the_first_date_is_read(text: str, iso: str) -> None:
    assert iso == read_date(text)


@pytest.mark.parametrize(
    ("language", "iso"),
    [("en", "2024-05-03"), ("en-US", "2024-05-03"), ("en-GB", "2024-03-05"), ("de", "2024-03-05")],
)
def test_the_language_decides_which_number_is_the_day(language: str, iso: str) -> None:
    assert iso == read_date("05/03/2024", language)


def test_without_a_language_an_ambiguous_date_is_none() -> None:
    assert read_date("05/03/2024") is None


@pytest.mark.parametrize(
    "text", ["", "yesterday", "May be 2020", "31.02.2020", "Released: 1994", "2024-13-01", "99"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_every_day_is_read_in_its_usual_forms(day: date) -> None:
    assert day.isoformat() == read_date(day.isoformat())
    assert day.isoformat() == read_date(f"{day:%d}.{day:%m}.{day.year:04}")
    assert day.isoformat() == read_date(f"{day:%B} {day.day}, {day.year:04}")
    assert day.isoformat() == read_date(f"{day.day} {day:%b} {day.year:04}")


def test_months_are_known_by_beginning_and_inflection() -> None:
    assert [9, 9, 2, None] == [
        month_of_name(name) for name in ("Sept", "сентября", "Février", "Monday")
    ]


class TestOtherLanguages:
    @pytest.mark.parametrize(
        ("text", "iso"),
        [
            ("5. marts 2021", "2021-03-05"),
            ("Torsdag den 4. marts 2021 kl. 14:30", "2021-03-04T14:30:00"),
            ("Mar 5, 24", "2024-03-05"),
        ],
    )
    def test_what_ours_does_not_read_is_asked_of_the_other_reader(
        self, text: str, iso: str
    ) -> None:
        assert read_date(text) is None
        assert iso == read_date(text, "", DatesByDateparser())

    def test_numbers_that_are_ambiguous_stay_so_beside_words(self) -> None:
        assert read_date("Published 05/03/2024", "", DatesByDateparser()) is None
        assert "2024-03-05" == read_date("Published 05/03/2024", "de", DatesByDateparser())

    def test_croatian_months_are_croatian(self) -> None:
        assert "2021-10-15" == read_date("15. listopada 2021", "hr", DatesByDateparser("hr"))
        assert "2021-11-15" == read_date("15. listopada 2021", "cs", DatesByDateparser("cs"))
