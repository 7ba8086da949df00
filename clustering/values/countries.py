"""Tell the country of a site by its host name, where its last label is a country's.

Readings:   Some countries' labels are sold as words (`.io`, `.tv`): they tell no country.
"""

from __future__ import annotations

from urllib.parse import urlsplit

# Labels of countries under which sites of all countries stand.
_WORDS = """
ac ad ag ai am as bz cc cd co cx dj eu fm gg gl gs im io je la ly me ms mu nu pw sc sh st su tk tl
to tv vc vg vu ws
"""
_SOLD_AS_WORDS = frozenset(_WORDS.split())
_OTHER_LABELS = {"uk": "GB", "el": "GR"}
_LENGTH = 2


def country_of(url: str) -> str:
    """Return the ISO 3166 code of the country that an address names, blank where it names none.

    >>> country_of("https://shop.example.co.uk/a"), country_of("https://example.io/")
    ('GB', '')
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    label = host.rstrip(".").rpartition(".")[2]
    if len(label) != _LENGTH or not label.isascii() or not label.isalpha():
        return ""
    if label in _SOLD_AS_WORDS:
        return ""
    return _OTHER_LABELS.get(label, label.upper())
