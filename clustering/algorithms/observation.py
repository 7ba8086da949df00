"""Reduce a page to all that a clustering needs of it, in one look at its bytes.

Notation:   The observation is what the algorithm itself asks for; the rest serves every clustering:
            the signature, the tag paths for centres, distances and the map, the texts that name a
            cluster.
Cost:       One parse and two walks a page, besides what the algorithm does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.automatic.page_walk import MAX_HEADING
from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.grouping import Clusterer, Observation, RawPage
from clustering.algorithms.path_sets import Hashes, all_paths
from clustering.algorithms.published.shingles import shingle_vector


@dataclass(frozen=True, slots=True)
class ObservedPage:
    """What a clustering keeps of a page."""

    observation: Observation  # None where the algorithm does not read pages
    vector: int | None  # the signature; None for a page without tags
    paths: Hashes
    title: str = ""
    heading: str = ""
    labels: frozenset[str] = frozenset()


def observe_page(
    algorithm: str, page: RawPage, parameters: Mapping[str, object] | None = None
) -> ObservedPage:
    """Reduce a page to what a clustering by this algorithm needs of it."""
    return _observe(clusterer_with(algorithm, parameters or {}), page)


def observe_pages(
    algorithm: str, pages: Sequence[RawPage], parameters: Mapping[str, object] | None = None
) -> list[ObservedPage]:
    """Reduce pages one after the other; no tree outlives its page."""
    clusterer = clusterer_with(algorithm, parameters or {})
    return [_observe(clusterer, page) for page in pages]


def _observe(clusterer: Clusterer, page: RawPage) -> ObservedPage:
    observe = clusterer.observe
    observation = observe(page) if observe else None
    vector = shingle_vector(page.body, page.content_type)
    paths = all_paths(page.tree)
    if isinstance(observation, PageFeatures):  # its walk has read the texts already
        return ObservedPage(
            observation,
            vector,
            paths,
            title=observation.title,
            heading=observation.heading,
            labels=labels_of(observation),
        )
    return ObservedPage(
        observation,
        vector,
        paths,
        title=_text_of(page.tree, "title"),
        heading=_text_of(page.tree, "h1"),
    )


def labels_of(features: PageFeatures) -> frozenset[str]:
    """Return the short texts of a page."""
    return frozenset(features.labels.split("\n")) - {""}


def _text_of(tree: HtmlElement | None, tag: str) -> str:
    """Return the text of the first element of a tag, blank where there is none."""
    if tree is None:
        return ""
    element = next(tree.iter(tag), None)
    if element is None:
        return ""
    text = "".join(map(str, element.itertext(with_tail=False)))
    return " ".join(text.split())[:MAX_HEADING]
