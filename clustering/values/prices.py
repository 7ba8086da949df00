"""Read prices: an amount and the currency that stands beside it.

Readings:   A sign that several currencies share stands for the best known of them: `$` is USD
            unless letters say otherwise (`CA$`), `¥` is JPY. `kr` and `Rs` are left without a
            currency where nothing tells which. Of several amounts the first beside a currency
            counts.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple, TypedDict

from clustering.values.numbers import find_number_span, is_negative, plain, read_number

_CODES = (
    "AED|ARS|AUD|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|GEL|HKD|HRK|HUF|IDR|ILS|INR|"
    "ISK|JPY|KES|KRW|KWD|KZT|LKR|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|"
    "SGD|THB|TRY|TWD|UAH|USD|UYU|VND|ZAR"
)
# Longer signs first: the first that fits is taken.
CURRENCY_BY_SIGN = {
    "NT$": "TWD",
    "HK$": "HKD",
    "NZ$": "NZD",
    "AU$": "AUD",
    "CA$": "CAD",
    "MX$": "MXN",
    "US$": "USD",
    "A$": "AUD",
    "C$": "CAD",
    "R$": "BRL",
    "S$": "SGD",
    "SFr.": "CHF",
    "Fr.": "CHF",
    "Kč": "CZK",
    "zł": "PLN",
    "\u0440\u0443\u0431": "RUB",
    "грн": "UAH",
    "лв": "BGN",
    "Euro": "EUR",
    "TL": "TRY",
    "Ft": "HUF",
    "RM": "MYR",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "￥": "JPY",
    "円": "JPY",
    "元": "CNY",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₴": "UAH",
    "₫": "VND",
    "฿": "THB",
    "₪": "ILS",
    "₱": "PHP",
    "₦": "NGN",
    "$": "USD",
}
FREE = re.compile(
    r"(?:free|gratis|gratuito?|gratuit|kostenlos|kostenfrei|for free)[.!]?(?: of charge)?",
    re.IGNORECASE,
)

_CENTS = -2  # the exponent of an amount with two decimals


def _sign_pattern(sign: str) -> str:
    """Return the pattern of a sign; no letter stands beside its own letters."""
    before = r"(?<![^\W\d_])" if sign[0].isalpha() else ""
    after = r"(?![^\W\d_])" if sign[0].isalpha() and sign[-1].isalpha() else ""
    return f"{before}{re.escape(sign)}{after}"


_SIGNS = "|".join(map(_sign_pattern, CURRENCY_BY_SIGN))
_CURRENCY = re.compile(rf"(?<![A-Za-z])(?:{_CODES})(?![A-Za-z])|{_SIGNS}")
_SIGN_AS_POINT = re.compile(r"(?<![\d.,])(\d+)\s?([€£$])\s?(\d\d)(?!\d)(?![.,]\d)")
_NO_WHOLE_PART = re.compile(r"(?<![\d.,])\.(\d\d)(?!\d)")


class _Amount(NamedTuple):
    start: int
    end: int
    value: Decimal


class Price(TypedDict):
    """An amount, exact as text, and the code of its currency, None where the text does not tell."""

    amount: str
    currency: str | None


def read_price(text: str) -> Price | None:
    """Return the price that a text shows, None where it shows none.

    >>> read_price("now only $1,299.00!")
    {'amount': '1299.00', 'currency': 'USD'}
    """
    if FREE.fullmatch(text.strip()):
        return {"amount": "0", "currency": None}
    text = _NO_WHOLE_PART.sub(r"0.\1", _SIGN_AS_POINT.sub(r"\2 \1.\3", text))
    amounts = _amounts(text)
    if not amounts:
        return None
    currencies = list(_CURRENCY.finditer(text))
    for amount in amounts:
        for currency in currencies:
            if _is_beside(currency, amount):
                return {"amount": plain(amount.value), "currency": _code_of(currency)}
    values = [amount.value for amount in amounts]
    likeliest = next((value for value in values if value.as_tuple().exponent == _CENTS), values[0])
    return {
        "amount": plain(likeliest),
        "currency": _code_of(currencies[0]) if currencies else None,
    }


def _amounts(text: str) -> list[_Amount]:
    amounts: list[_Amount] = []
    span = find_number_span(text)
    while span is not None:
        start, end = span
        value = read_number(text[start:end], point_parts_thousands=True)
        if value is not None:
            is_minus = is_negative(text, _start_with_currency(text, start))
            amounts.append(_Amount(start, end, -value if is_minus else value))
        span = find_number_span(text, end)
    return amounts


def _start_with_currency(text: str, start: int) -> int:
    """Return where the currency before an amount begins: a minus sign may stand before both."""
    before = list(_CURRENCY.finditer(text, 0, start))
    if before and not text[before[-1].end() : start].strip():
        return before[-1].start()
    return start


def _is_beside(currency: re.Match[str], amount: _Amount) -> bool:
    """Return whether a currency stands directly before or behind an amount."""
    is_before = amount.start - 2 <= currency.end() <= amount.start
    return is_before or amount.end <= currency.start() <= amount.end + 2


def _code_of(currency: re.Match[str]) -> str:
    return CURRENCY_BY_SIGN.get(currency[0], currency[0])
