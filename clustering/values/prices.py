"""Read prices: an amount and the currency that stands beside it.

Readings:   A sign that several currencies share stands for the best known of them: `$` is USD unless letters
            say otherwise (`CA$`), `¥` is JPY. `kr` and `Rs` are left without a currency where nothing
            tells which. Of several amounts the first beside a currency counts.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypedDict

from clustering.values.numbers import find_number_place, is_negative, plain, read_number

_CODES = (
    "AED|ARS|AUD|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|GEL|HKD|HRK|HUF|IDR|ILS|INR|ISK|JPY|KES|"
    "KRW|KWD|KZT|LKR|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|UYU|VND|ZAR"
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
_SIGNS = "|".join(
    rf"(?<![^\W\d_]){re.escape(sign)}(?![^\W\d_])"
    if sign[0].isalpha() and sign[-1].isalpha()
    else rf"(?<![^\W\d_]){re.escape(sign)}"
    if sign[0].isalpha()
    else re.escape(sign)
    for sign in CURRENCY_BY_SIGN
)
_CURRENCY = re.compile(rf"(?<![A-Za-z])(?:{_CODES})(?![A-Za-z])|{_SIGNS}")
_SIGN_AS_POINT = re.compile(r"(?<![\d.,])(\d+)\s?([€£$])\s?(\d\d)(?!\d)(?![.,]\d)")
_NO_WHOLE_PART = re.compile(r"(?<![\d.,])\.(\d\d)(?!\d)")


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
    signs = [(found.start(), found.end(), found[0]) for found in _CURRENCY.finditer(text)]
    amounts = _amounts(text)
    if not amounts:
        return None
    for start, end, value in amounts:
        sign = _beside(signs, start, end)
        if sign is not None:
            return {"amount": plain(value), "currency": CURRENCY_BY_SIGN.get(sign, sign)}
    currency = CURRENCY_BY_SIGN.get(signs[0][2], signs[0][2]) if signs else None
    values = [value for _, _, value in amounts]
    likeliest = next((value for value in values if value.as_tuple().exponent == _CENTS), values[0])
    return {"amount": plain(likeliest), "currency": currency}


def _amounts(text: str) -> list[tuple[int, int, Decimal]]:
    amounts: list[tuple[int, int, Decimal]] = []
    place = find_number_place(text)
    while place is not None:
        start, end = place
        value = read_number(text[start:end], point_parts_thousands=True)
        if value is not None:
            amounts.append(
                (start, end, -value if is_negative(text, _before_sign(text, start)) else value)
            )
        place = find_number_place(text, end)
    return amounts


def _before_sign(text: str, start: int) -> int:
    """Return where the currency before an amount begins: a minus sign may stand before both."""
    found = list(_CURRENCY.finditer(text, 0, start))
    return found[-1].start() if found and not text[found[-1].end() : start].strip() else start


def _beside(signs: list[tuple[int, int, str]], start: int, end: int) -> str | None:
    """Return the currency that stands directly before or behind an amount."""
    for its_start, its_end, sign in signs:
        if start - 2 <= its_end <= start or end <= its_start <= end + 2:
            return sign
    return None
