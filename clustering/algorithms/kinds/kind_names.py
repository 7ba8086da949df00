"""The kinds of clusters, apart from what tells them: models and starting commands need no more."""

from __future__ import annotations

from typing import Final

DETAIL: Final = "detail"
LIST: Final = "list"
NAVIGATION: Final = "navigation"
SEARCH: Final = "search"
ERROR: Final = "error"
LOGIN: Final = "login"
OTHER: Final = "other"
