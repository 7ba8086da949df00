"""Read the source of the product as syntax trees."""

from __future__ import annotations

import ast
import gc


def parse_source(text: str) -> ast.Module:
    """Return the syntax tree of a module.

    Garbage is left for later: collecting it lets another thread run, and where that one parses as
    well, Python 3.11 takes the trees for broken.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_enabled:
            gc.enable()
