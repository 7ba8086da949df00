"""Reduce a page to all that a clustering needs of it, in one look at its bytes; also as a process of its own.

Notation:   The observation is what the algorithm itself asks for; the rest serves every clustering: the
            signature, the tag paths for centres, distances and the map, the texts that name a cluster.
Readings:   `answer_batches` is a program's whole work: it reads batches of pages from its parent process and
            writes what it observed, until its input ends, which it does when the parent is gone.
Cost:       One parse and two walks a page, besides what the algorithm does.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from lxml.html import HtmlElement

from clustering.algorithms.automatic.page_features import MAX_HEADING, PageFeatures
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import Observation, RawPage
from clustering.algorithms.path_sets import Hashes, all_paths
from clustering.algorithms.published.shingles import shingle_vector


@dataclass(frozen=True, slots=True)
class ObservedPage:
    """What is kept of a page while its site is clustered."""

    observation: Observation  # None where the algorithm does not read pages
    vector: int | None  # the signature; None for a page without tags
    paths: Hashes
    title: str = ""
    heading: str = ""
    labels: frozenset[str] = frozenset()


def observe_page(algorithm: str, page: RawPage) -> ObservedPage:
    """Reduce a page to what a clustering by this algorithm needs of it."""
    observe = CLUSTERERS[algorithm].observe
    observation = observe(page) if observe else None
    vector = shingle_vector(page.body, page.content_type)
    if isinstance(observation, PageFeatures):
        title, heading = observation.title, observation.heading
        labels = frozenset(observation.labels.split("\n")) - {""}
    else:
        title, heading, labels = (
            _text_of(page.tree, "title"),
            _text_of(page.tree, "h1"),
            frozenset(),
        )
    return ObservedPage(observation, vector, all_paths(page.tree), title, heading, labels)


def observe_pages(algorithm: str, pages: Sequence[RawPage]) -> list[ObservedPage]:
    """Reduce pages one after the other; no tree outlives its page."""
    return [observe_page(algorithm, page) for page in pages]


def answer_batches(requests: BinaryIO | None = None, answers: BinaryIO | None = None) -> None:
    """Observe batches of pages, each an algorithm's name with its pages, until there are no more.

    They come from standard input and go to standard output unless other streams are given.
    """
    requests, answers = requests or sys.stdin.buffer, answers or sys.stdout.buffer
    while True:
        try:
            algorithm, pages = pickle.load(requests)  # noqa: S301 - written by the process that started this one
        except (
            EOFError,
            pickle.UnpicklingError,
        ):  # the parent is gone, perhaps in the middle of a batch
            return
        pickle.dump(observe_pages(algorithm, pages), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _text_of(tree: HtmlElement | None, tag: str) -> str:
    """Return the text of the first element of a tag, blank where there is none."""
    element = next(tree.iter(tag), None) if tree is not None else None
    if element is None:
        return ""
    return " ".join("".join(map(str, element.itertext(with_tail=False))).split())[:MAX_HEADING]
