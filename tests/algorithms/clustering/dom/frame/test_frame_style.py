"""The frame's own sheet hides what must not be seen and lets the page decide the rest."""

from __future__ import annotations

from clustering.dom.frame.frame_style import BASE_SHEET, QUIRKS_SHEET
from clustering.dom.frame.stylesheets import clean_stylesheet


def test_scripts_are_never_seen() -> None:
    assert "vertex-script" in BASE_SHEET.partition("{display:none!important}")[0]


def test_it_stands_in_a_layer_below_the_pages_own_rules() -> None:
    assert BASE_SHEET.startswith("@layer vertex{")
    assert QUIRKS_SHEET.startswith(BASE_SHEET)


def test_it_is_whole() -> None:
    for sheet in (BASE_SHEET, QUIRKS_SHEET):
        assert sheet.count("{") == sheet.count("}")
        assert "url(" not in clean_stylesheet(sheet, lambda _: None)
