"""Find the group of a later page by the model of an algorithm.

`auto`, the default, needs plain Python for it. The other algorithms compute with arrays and are
imported when one of them is first asked for, so that rules run where numpy is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from clustering.algorithms.automatic import placing
from clustering.algorithms.grouping import Model, RawPage

# The package of rules with what all algorithms need.
REQUIREMENT: Final = "vertex-rules[algorithms]"


class UnknownAlgorithm(ValueError):
    """No algorithm has this name."""


class AlgorithmNotInstalled(Exception):
    """An algorithm needs packages that are not installed."""


class PageAssigner(Protocol):
    """What an algorithm does for later pages; a `Clusterer` does it, too."""

    @property
    def title(self) -> str: ...

    @property
    def goes_by_links(self) -> bool: ...

    def find_group(self, model: Model, page: RawPage) -> str | None: ...


@dataclass(frozen=True, slots=True)
class _AutoAssigner:
    title: str = placing.TITLE
    goes_by_links: bool = False

    def find_group(self, model: Model, page: RawPage) -> str | None:
        return placing.place_page(model, page).group


def assigner_for(algorithm: str, parameters: Mapping[str, Any]) -> PageAssigner:
    """Return what assigns later pages by an algorithm with these parameters.

    Raises UnknownAlgorithm, AlgorithmNotInstalled.
    """
    if algorithm == placing.NAME:
        return _AutoAssigner()
    clusterers = _imported("clusterers", f"the algorithm {algorithm}")
    if algorithm not in clusterers.CLUSTERERS:
        raise UnknownAlgorithm(
            f"unknown algorithm {algorithm!r}; there are: {', '.join(clusterers.CLUSTERERS)}"
        )
    assigner: PageAssigner = clusterers.clusterer_with(algorithm, parameters)
    return assigner


def signature_of(page: RawPage) -> int | None:
    """Return the signature of a page, None for one without tags. Raises AlgorithmNotInstalled."""
    shingles = _imported("published.shingles", "a page's signature")
    vector: int | None = shingles.shingle_vector(page.body, page.content_type)
    return vector


def check_signatures_installed() -> None:
    """Raise AlgorithmNotInstalled where no signature can be computed."""
    _imported("published.shingles", "a page's signature")


def _imported(module: str, purpose: str) -> Any:
    """Return a module of this package; it may need what is not installed."""
    try:
        return import_module(f"{__package__}.{module}")
    except ModuleNotFoundError as error:
        raise AlgorithmNotInstalled(
            f"{purpose} needs {error.name}, which is not installed: pip install '{REQUIREMENT}'"
        ) from None
