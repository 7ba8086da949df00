"""The lists of a page's bytes as plain values, for children with limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lxml.html import HtmlElement

from clustering.algorithms.published import urest
from clustering.algorithms.records.finding import FoundList, find_records
from clustering.algorithms.records.page_model import MAX_ELEMENTS
from clustering.dom.page import parse_page

DEFAULT: Final = "default"
FINDERS: Final[dict[str, Callable[[HtmlElement, int], list[FoundList]]]] = {
    DEFAULT: find_records,
    "urest": urest.find_lists,
}
CUT: Final = f"the page is large: its first {MAX_ELEMENTS:,} elements were read"


def lists_of_body(
    body: bytes, content_type: str, algorithm: str, n_best: int
) -> tuple[list[dict[str, Any]], str]:
    """Return the score and records of each list, and what is wrong with the page, else blank."""
    parsed = parse_page(body, content_type)
    if parsed.tree is None:
        return [], parsed.problem
    lists = FINDERS[algorithm](parsed.tree, n_best)
    problem = CUT if any(found_list.is_cut for found_list in lists) else parsed.problem
    written = [
        {"score": round(found_list.score, 4), "records": found_list.paths()} for found_list in lists
    ]
    return written, problem
