"""Check XPaths that a person wrote: each is tried in a limited child on a page of one element."""

from __future__ import annotations

import re
from typing import Final

from clustering.algorithms.grouping import RawPage
from rules.algorithms.by_hand.hand_edits import MAX_XPATHS, HandWritten
from rules.algorithms.by_hand.sandbox import StylesheetRefused
from rules.bundle.limits import RunStopped, borrowed_runs

_BARE: Final = RawPage("", b"<html></html>")  # on which an XPath shows whether it gives nodes


def check_xpaths(written: HandWritten, /, *, is_within_record: bool = False) -> None:
    """Refuse XPaths that a rule may not have; the message says which attribute and line."""
    if len(written.xpaths) > MAX_XPATHS:
        raise StylesheetRefused(
            f"{written.attribute} has {len(written.xpaths)} XPaths; "
            f"at most {MAX_XPATHS} are tried in turn"
        )
    for number, xpath in enumerate(written.xpaths, 1):
        place = f"{written.attribute}, line {number}"
        try:
            _check_xpath(xpath, is_within_record=is_within_record)
        except StylesheetRefused as refused:
            raise StylesheetRefused(f"{place}: {refused}") from None
        if written.selection(number - 1).separator:
            raise StylesheetRefused(
                f"{place}: its rule splits the text at "
                f"{written.selection(number - 1).separator!r}, which an XPath cannot; take the "
                "whole text instead, or change the stylesheet"
            )


def _check_xpath(xpath: str, *, is_within_record: bool) -> None:
    try:
        # Nested predicates take for ever even on a page of one element.
        with borrowed_runs() as child:
            child.find_nodes(xpath, [_BARE])
    except RunStopped as stopped:
        raise StylesheetRefused(f"{xpath!r} was stopped: {stopped}") from None
    if not is_within_record:
        return
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", "''", xpath)
    if bare.lstrip("( ").startswith("/") or re.search(r"[|]", bare) or bare.startswith("("):
        raise StylesheetRefused(
            f"{xpath!r} does not begin at the record; begin it with .// or the name of a child, "
            "and write alternatives on lines of their own"
        )
