"""Read prices: an amount and the currency that stands beside it.

Readings:   A sign that several currencies share stands for that of the page's country, else of its
            language, where one of them does (`$` on an Australian site is AUD, `kr` on a Danish
            page DKK), else for the best known of them: `$` is USD unless letters say otherwise
            (`CA$`), `¥` is JPY. `kr` and `Rs` are left without a currency where nothing tells
            which. Of several amounts the first beside a currency counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple, TypedDict

from clustering.values.numbers import find_number_span, is_negative, plain, read_number

# ISO 4217, without metals, funds and testing codes; and those that ended since 2000, for
# older pages.
_CODES: Final = """
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD
KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK
NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD
SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD
XCG XOF XPF YER ZAR ZMW ZWG
ATS BEF BYR CUC CYP DEM EEK ESP FIM FRF GRD HRK IEP ITL LTL LUF LVL MRO MTL NLG PTE ROL SIT SKK SLL
STD TRL VEF ZWL
"""
# Longer signs first: the first that fits is taken.
CURRENCY_BY_SIGN: Final = {
    "COL$": "COP",
    "CLP$": "CLP",
    "ARS$": "ARS",
    "Mex$": "MXN",
    "U$S": "USD",
    "NT$": "TWD",
    "HK$": "HKD",
    "NZ$": "NZD",
    "AU$": "AUD",
    "CA$": "CAD",
    "MX$": "MXN",
    "US$": "USD",
    "AR$": "ARS",
    "RD$": "DOP",
    "TT$": "TTD",
    "Bds$": "BBD",
    "A$": "AUD",
    "C$": "CAD",
    "J$": "JMD",
    "R$": "BRL",
    "S$": "SGD",
    "SFr.": "CHF",
    "Fr.": "CHF",
    "Kč": "CZK",
    "zł": "PLN",
    "zl": "PLN",
    "\u0440\u0443\u0431": "RUB",
    "грн": "UAH",
    "лв": "BGN",
    "ден": "MKD",
    "дин": "RSD",
    "сом": "KGS",
    "тг": "KZT",
    "Euro": "EUR",
    "euro": "EUR",
    "RMB": "CNY",
    "CFA": "XOF",
    "Ksh": "KES",
    "KSh": "KES",
    "TSh": "TZS",
    "USh": "UGX",
    "lei": "RON",
    "Lei": "RON",
    "Afl.": "AWG",
    "S/": "PEN",
    "B/.": "PAB",
    "Gs.": "PYG",
    "TL": "TRY",
    "Ft": "HUF",
    "RM": "MYR",
    "Rp": "IDR",
    "KM": "BAM",
    "د.إ": "AED",
    "ر.س": "SAR",
    "ر.ق": "QAR",
    "د.ك": "KWD",
    "د.ب": "BHD",
    "ر.ع": "OMR",
    "ج.م": "EGP",
    "د.م": "MAD",
    "د.ت": "TND",
    "د.ج": "DZD",
    "د.ع": "IQD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "￥": "JPY",
    "円": "JPY",
    "元": "CNY",
    "원": "KRW",
    "บาท": "THB",
    "₹": "INR",
    "रु": "INR",
    "৳": "BDT",
    "₽": "RUB",
    "₩": "KRW",
    "￦": "KRW",
    "₺": "TRY",
    "₴": "UAH",
    "₫": "VND",
    "đ": "VND",
    "฿": "THB",
    "₪": "ILS",
    "₱": "PHP",
    "₦": "NGN",
    "₡": "CRC",
    "₲": "PYG",
    "₵": "GHS",
    "₸": "KZT",
    "₮": "MNT",
    "₭": "LAK",
    "៛": "KHR",
    "₼": "AZN",
    "₾": "GEL",
    "֏": "AMD",
    "؋": "AFN",
    "$": "USD",
}
# By country and by language: what a sign stands for there that several currencies share.
_DOLLAR: Final = {
    "AR": "ARS",
    "AU": "AUD",
    "BB": "BBD",
    "BN": "BND",
    "BS": "BSD",
    "BZ": "BZD",
    "CA": "CAD",
    "CL": "CLP",
    "CO": "COP",
    "DO": "DOP",
    "FJ": "FJD",
    "GY": "GYD",
    "HK": "HKD",
    "JM": "JMD",
    "LR": "LRD",
    "MX": "MXN",
    "NA": "NAD",
    "NZ": "NZD",
    "SG": "SGD",
    "TT": "TTD",
    "TW": "TWD",
    "UY": "UYU",
}
_CROWN: Final = {
    "DK": "DKK",
    "FO": "DKK",
    "GL": "DKK",
    "IS": "ISK",
    "NO": "NOK",
    "SE": "SEK",
    "da": "DKK",
    "is": "ISK",
    "nb": "NOK",
    "nn": "NOK",
    "no": "NOK",
    "sv": "SEK",
}
_RUPEE: Final = {
    "IN": "INR",
    "LK": "LKR",
    "MU": "MUR",
    "NP": "NPR",
    "PK": "PKR",
    "hi": "INR",
    "ne": "NPR",
    "si": "LKR",
    "ur": "PKR",
}
SHARED_SIGNS: Final[Mapping[str, Mapping[str, str]]] = {
    "$": _DOLLAR,
    "¥": {"CN": "CNY", "zh": "CNY"},
    "￥": {"CN": "CNY", "zh": "CNY"},
    "元": {"TW": "TWD", "HK": "HKD"},
    "£": {"EG": "EGP", "GI": "GIP", "LB": "LBP"},
    "lei": {"MD": "MDL"},
    "CFA": dict.fromkeys(("CM", "CF", "CG", "GA", "GQ", "TD"), "XAF"),
    "kr": _CROWN,
    "Kr": _CROWN,
    "Rs": _RUPEE,
    "₨": _RUPEE,
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


_SIGNS = "|".join(map(_sign_pattern, dict.fromkeys([*CURRENCY_BY_SIGN, *SHARED_SIGNS])))
_CURRENCY = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_CODES.split())})(?![A-Za-z])|{_SIGNS}")
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


def read_price(text: str, country: str = "", language: str = "") -> Price | None:
    """Return the price that a text shows, None where it shows none.

    >>> read_price("now only $1,299.00!"), read_price("1.101,00 kr.", language="da")
    ({'amount': '1299.00', 'currency': 'USD'}, {'amount': '1101.00', 'currency': 'DKK'})
    """
    if FREE.fullmatch(text.strip()):
        return {"amount": "0", "currency": None}
    text = _NO_WHOLE_PART.sub(r"0.\1", _SIGN_AS_POINT.sub(r"\2 \1.\3", text))
    amounts = _amounts(text)
    if not amounts:
        return None
    currencies = list(_CURRENCY.finditer(text))
    places = (country, language.lower().partition("-")[0])
    for amount in amounts:
        for currency in currencies:
            if _is_beside(currency, amount):
                return {"amount": plain(amount.value), "currency": _code_of(currency, places)}
    values = [amount.value for amount in amounts]
    likeliest = next((value for value in values if value.as_tuple().exponent == _CENTS), values[0])
    return {
        "amount": plain(likeliest),
        "currency": _code_of(currencies[0], places) if currencies else None,
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


def _code_of(currency: re.Match[str], places: tuple[str, str]) -> str | None:
    """Return the code of a sign: what it means at the first place that shares it, else anywhere."""
    sign = currency[0]
    shared = SHARED_SIGNS.get(sign, {})
    for place in places:
        if place in shared:
            return shared[place]
    if sign in CURRENCY_BY_SIGN:
        return CURRENCY_BY_SIGN[sign]
    return None if sign in SHARED_SIGNS else sign
