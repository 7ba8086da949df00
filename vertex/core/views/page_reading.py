"""Which views read strangers' pages: they are answered in page processes, all others must not.

Those that have children read a page are told as well, and those that wait for others: for who
changes the same clusters, for the identity provider, and for who takes a file. A thread waits with
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

View = TypeVar("View", bound=Callable[..., Any])

READS_PAGES: Final = "reads_pages"
WAITS_FOR_CHILDREN: Final = "waits_for_children"
WAITS_FOR_OTHERS: Final = "waits_for_others"


def reads_pages(view: View) -> View:
    """Have a view or class answered where a page that goes too far ends no other request."""
    setattr(view, READS_PAGES, True)
    return view


def waits_for_children(view: View) -> View:
    """Leave threads to others while a view or class is answered: children read its pages."""
    setattr(view, WAITS_FOR_CHILDREN, True)
    return view


def waits_for_others(view: View) -> View:
    """Leave threads to others while a view or class is answered: it waits for somebody."""
    setattr(view, WAITS_FOR_OTHERS, True)
    return view


def is_reading(view: object) -> bool:
    """Return whether a view that an address leads to reads pages."""
    return _has_flag(view, READS_PAGES)


def is_waiting_for_others(view: object) -> bool:
    """Return whether a view may wait for somebody else, or keep others waiting in turn."""
    return _has_flag(view, WAITS_FOR_OTHERS)


def keeps_threads(view: object) -> bool:
    """Return whether a thread may wait for long while a view is answered."""
    flags = (READS_PAGES, WAITS_FOR_CHILDREN, WAITS_FOR_OTHERS)
    return any(_has_flag(view, flag) for flag in flags)


def _has_flag(view: object, flag: str) -> bool:
    of_class = getattr(view, "cls", None) or getattr(view, "view_class", None)
    return bool(getattr(of_class or view, flag, False))
