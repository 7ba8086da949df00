"""Error pages of a site, recognised in any language by what the site showed before."""

from __future__ import annotations

from lxml.html import document_fromstring

from monitoring.algorithms.error_pages import (
    missing_address,
    recognise,
    signature_of,
    telling_signatures,
)
from monitoring.algorithms.soft_errors import PageText, read_shown

MENU = "Obchod Novinky Kontakt Doprava Platba Registrace Podmínky Reklamace"
URL = "https://shop.example/p/"


def page(title: str, text: str) -> PageText:
    return read_shown(
        document_fromstring(
            f"<html><head><title>{title}</title></head><body><nav>{MENU}</nav><h1>{title}</h1>{text}</body></html>"
        )
    )


LOST = page("Je nám líto", "<p>Hledaná stránka tu není, zkuste to jinde</p>")
SIGNATURE = signature_of("soft_404", LOST, f"{URL}nowhere")


def test_the_same_error_at_another_address_is_recognised() -> None:
    again = page("Je nám líto", "<p>Hledaná stránka 17 tu není, zkuste to jinde</p>")

    assert "soft_404" == recognise(again, f"{URL}17", [SIGNATURE])


def test_the_words_of_the_address_do_not_count() -> None:
    again = page(
        "Stránka lano-modré",
        "<p>Hledaná stránka tu není, zkuste to jinde. Je nám líto: lano-modré</p>",
    )

    assert "soft_404" == recognise(again, f"{URL}lano-modré", [SIGNATURE])


def test_a_page_with_content_of_its_own_is_none() -> None:
    good = page("Lano modré", "<p>Dvacet metrů pevného lana pro hory i skály, vhodné k jištění</p>")

    assert "" == recognise(good, f"{URL}17", [SIGNATURE])


def test_a_signature_that_good_pages_are_like_tells_nothing() -> None:
    home = signature_of("soft_404", page("Obchod", ""), f"{URL}nowhere")
    same_title = page("Obchod", "<p>Dvacet metrů pevného lana pro hory i skály</p>")

    assert [] == telling_signatures([home], [(same_title, f"{URL}1")])
    assert [SIGNATURE] == telling_signatures([SIGNATURE], [(same_title, f"{URL}1")])


def test_a_plain_status_has_no_words_and_is_like_nothing() -> None:
    bare = SIGNATURE._replace(heading="", words=frozenset())

    assert "" == recognise(page("", ""), URL, [bare])


def test_the_missing_address_keeps_folder_and_ending() -> None:
    assert "https://a.example/x/zz.html" == missing_address(
        "https://a.example/x/1.html?y=2#z", "zz"
    )
    assert "https://a.example/zz" == missing_address("https://a.example/", "zz")
