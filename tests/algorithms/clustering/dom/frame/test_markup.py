"""The tables of what may be shown say the same everywhere."""

from __future__ import annotations

from clustering.dom.frame import markup


def test_no_element_is_shown_and_replaced() -> None:
    assert set() == markup.ELEMENTS & markup.PLACEHOLDERS
    assert markup.CHILDLESS <= markup.ELEMENTS
    assert markup.BOXES <= markup.PLACEHOLDERS


def test_no_handler_and_no_address_is_among_the_attributes() -> None:
    shown = markup.ATTRIBUTES | set(markup.SVG_ATTRIBUTES) | markup.MATHML_ATTRIBUTES
    leading = {
        "href",
        "src",
        "srcset",
        "srcdoc",
        "action",
        "formaction",
        "target",
        "ping",
        "poster",
        "data",
    }

    assert set() == {name for name in shown if name.startswith("on")} | (shown & leading)


def test_what_could_stand_for_something_of_the_frame_gets_another_name() -> None:
    assert "vertex-unknown" == markup.element_name("vertex-script")
    assert not markup.is_kept("p", "data-n")
    assert markup.is_kept("input", "name")
    assert not markup.is_kept("img", "name")
    assert "vertex-iframe" == markup.element_name_in_sheets("IFRAME")
