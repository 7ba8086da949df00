"""Dates in languages that ours does not know, at a bounded cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.values import dates_by_dateparser
from clustering.values.dates_by_dateparser import MAX_CHARS, MAX_WORDINGS, DatesByDateparser


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("5. marts 2021", "2021-03-05"),
        ("31. marts 2021", "2021-03-31"),
        ("5 Mart 2021", "2021-03-05"),
        ("5 martie 2021", "2021-03-05"),
        ("2021. március 5.", "2021-03-05"),
        ("5. maaliskuuta 2021", "2021-03-05"),
        ("5 березня 2021", "2021-03-05"),
        ("5 Μαρτίου 2021", "2021-03-05"),
        ("5 مارس 2021", "2021-03-05"),
        ("5 tháng 3, 2021", "2021-03-05"),
        ("2021년 3월 5일", "2021-03-05"),
        ("5 मार्च 2021", "2021-03-05"),
        ("5 Maret 2021", "2021-03-05"),
        ("5. ožujka 2021.", "2021-03-05"),
        ("5 มีนาคม 2564", "2021-03-05"),
        ("Mart 2021", "2021-03"),
        ("5. mars 2021 kl 10.30", "2021-03-05T10:30:00"),
    ],
)
def test_dates_are_read(text: str, iso: str) -> None:
    assert iso == DatesByDateparser().read(text)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "3 minutes ago", "hello world of 2021", "Sat 5 Mar", "05/03/2024"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert DatesByDateparser().read(text) is None


def test_a_text_is_read_the_same_whatever_was_read_before() -> None:
    alone = DatesByDateparser().read("15. listopada 2021")
    reader = DatesByDateparser()
    reader.read("5. ožujka 2021.")

    assert alone == reader.read("15. listopada 2021")


def test_the_language_of_the_page_comes_first() -> None:
    assert "2021-10-15" == DatesByDateparser("hr").read("15. listopada 2021")
    assert "2021-03-05" == DatesByDateparser("xx-unknown").read("5. marts 2021")


def test_a_page_has_so_many_wordings_looked_up_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(
        dates_by_dateparser, "_locale_of", lambda wording, _: looked_up.append(wording)
    )
    reader = DatesByDateparser()
    for number in range(200):
        reader.read(f"{'x' * (number % 50 + 1)} {number + 1000}")

    assert MAX_WORDINGS == len(set(looked_up))


def test_dates_of_one_wording_are_looked_up_once() -> None:
    reader = DatesByDateparser()
    for day in range(1, 29):
        assert f"2021-03-{day:02}" == reader.read(f"{day}. marts 2021")
    assert 2 == len(reader._wordings)


def test_a_sentence_is_not_read() -> None:
    assert DatesByDateparser().read("5. marts 2021" + " " * MAX_CHARS) is None


@given(st.text(max_size=MAX_CHARS))
def test_no_text_makes_it_fail(text: str) -> None:
    DatesByDateparser().read(text)
