"""The country that an address names."""

from __future__ import annotations

import pytest

from clustering.values.countries import country_of


@pytest.mark.parametrize(
    ("url", "country"),
    [
        ("https://shop.example.co.uk/a", "GB"),
        ("http://shop.example.de:8080/", "DE"),
        ("https://shop.example.gr./", "GR"),
        ("https://shop.example.com/", ""),
        ("https://shop.example.io/", ""),
        ("http://127.0.0.1:8101/", ""),
        ("http://localhost/", ""),
        ("http://[bad/", ""),
        ("", ""),
    ],
)
def test_the_last_label_of_the_host_tells_where_it_is_a_country(url: str, country: str) -> None:
    assert country == country_of(url)
