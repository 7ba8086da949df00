"""Which views read strangers' pages: they are answered in page processes, all others must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

View = TypeVar("View", bound=Callable[..., Any])

READS_PAGES: Final = "reads_pages"


def reads_pages(view: View) -> View:
    """Have a view, or all of a class, answered where a page that goes too far ends no other request."""
    setattr(view, READS_PAGES, True)
    return view


def is_reading(view: object) -> bool:
    """Return whether a view that an address leads to reads pages."""
    of_class = getattr(view, "cls", None) or getattr(view, "view_class", None)
    return bool(getattr(of_class or view, READS_PAGES, False))
