"""Prices: amounts with their currencies."""

from __future__ import annotations

import pytest

from clustering.values.prices import read_price


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("now only $1,299.00!", "1299.00", "USD"),
        ("1.299 €", "1299", "EUR"),
        ("12,99 EUR", "12.99", "EUR"),
        ("12€99", "12.99", "EUR"),
        ("CHF 1'299.50", "1299.50", "CHF"),
        ("CA$ 45", "45", "CAD"),
        ("US$5", "5", "USD"),
        ("R$ 1.234,56", "1234.56", "BRL"),
        ("1 299,00 Kč", "1299.00", "CZK"),
        ("¥1,200", "1200", "JPY"),
        ("-$5.00", "-5.00", "USD"),
        ("$.99", "0.99", "USD"),
        ("Was £20 Now £15.50", "20", "GBP"),
        ("Model 12: 45 EUR", "45", "EUR"),
        ("kr 100", "100", None),
        ("3,99", "3.99", None),
        ("2 for 5.00", "5.00", None),
        ("Free!", "0", None),
        ("gratis", "0", None),
    ],
)
def test_the_amount_beside_a_currency_is_the_price(
    text: str, amount: str, currency: str | None
) -> None:
    assert {"amount": amount, "currency": currency} == read_price(text)


@pytest.mark.parametrize("text", ["", "on request", "EUR", "free shipping"])
def test_what_shows_no_amount_is_no_price(text: str) -> None:
    assert read_price(text) is None


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("45 lei", "RON"),
        ("Rp 45.000", "IDR"),
        ("100.000 đ", "VND"),
        ("5,000원", "KRW"),
        ("S/ 45.90", "PEN"),
        ("Ksh 500", "KES"),
        ("450 ден", "MKD"),
        ("د.إ 45", "AED"),
        ("UZS 120 000", "UZS"),
        ("₡1200", "CRC"),
        ("12 DEM", "DEM"),
    ],
)
def test_all_currencies_of_iso_4217_are_known(text: str, currency: str) -> None:
    price = read_price(text)
    assert price is not None
    assert currency == price["currency"]


@pytest.mark.parametrize(
    ("text", "country", "language", "currency"),
    [
        ("1.101,00 kr.", "", "da-DK", "DKK"),
        ("1.101,00 kr.", "NO", "da", "NOK"),
        ("1.101,00 kr.", "", "", None),
        ("$45", "AU", "en", "AUD"),
        ("$45", "DE", "de", "USD"),
        ("US$45", "AU", "en", "USD"),
        ("Rs. 45", "IN", "", "INR"),
        ("¥45", "", "zh-Hans", "CNY"),
    ],
)
def test_a_shared_sign_stands_for_the_currency_of_its_place(
    text: str, country: str, language: str, currency: str | None
) -> None:
    price = read_price(text, country, language)
    assert price is not None
    assert currency == price["currency"]
