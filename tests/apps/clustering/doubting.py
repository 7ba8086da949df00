"""A clusterer by the first word of addresses: it doubts neighbours and obeys answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Doubt,
    Grouping,
    Model,
    RawPage,
    grouping_of,
)
from clustering.models import Clustering
from clustering.services.clusters import observer_processes
from clustering.services.clusters.doubts import follow_request
from clustering.services.clusters.observer_child import observe_batch
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, cluster, details, store
from vertex.core.models import Site
from vertex.core.services.jobs.requests import run_here

DOUBTING = "doubting"
WHY = ["For: the same fields.", "Against: other addresses."]


def word_of(url: str) -> str:
    """Return the first word of an address below the host.

    >>> word_of("https://shop.example/news/7")
    'news'
    """
    return url.split("/")[3]


def observe(page: RawPage) -> str:
    return word_of(page.url)


def cluster_pages(
    urls: Sequence[str], observations: Sequence[str], inputs: ClusteringInputs
) -> Grouping:
    """Group pages by their word; join the words that an answer says are the same."""
    label_by_word = {word: word for word in sorted(set(observations))}
    for answer in inputs.answers:
        if answer.is_same:
            left, right = word_of(answer.left[0]), word_of(answer.right[0])
            label_by_word[right] = label_by_word[left]
    grouping = grouping_of(
        [label_by_word[word] for word in observations], model={"label_by_word": label_by_word}
    )
    return Grouping(
        grouping.groups, (), "By the first word.", grouping.model, _doubts(observations, inputs)
    )


def _doubts(words: Sequence[str], inputs: ClusteringInputs) -> list[Doubt]:
    """Doubt each two neighbours in the order of the alphabet about which there is no answer."""
    settled = {
        frozenset({word_of(answer.left[0]), word_of(answer.right[0])}) for answer in inputs.answers
    }
    ordered = sorted(set(words))
    doubts = []
    for left, right in pairwise(ordered):
        if frozenset({left, right}) in settled:
            continue
        pages = {
            word: [n for n, other in enumerate(words) if other == word] for word in (left, right)
        }
        doubts.append(Doubt(pages[left], pages[right], 0.42, is_joined=False, why=WHY))
    return doubts


def assign(model: Model, word: str, _url: str) -> str | None:
    label: str | None = model["label_by_word"].get(word)
    return label


CLUSTERER = Clusterer(
    DOUBTING,
    "Doubting",
    observe,
    cluster_pages,
    assign,
    sentence="Group pages by the first word of their address, for tests.",
)


def register_doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the clusterer for a test."""
    monkeypatch.setitem(CLUSTERERS, DOUBTING, CLUSTERER)
    # No child knows it.
    monkeypatch.setattr(observer_processes, "_ask", observe_batch)


def doubtful_site(name: str = "shop", n: int = 3) -> Site:
    """Return a site whose clustering doubts twice: "books" and "news", "news" and "p"."""
    site = site_of(name)
    books = [
        (f"books/{number}", body, kind) for number, (_, body, kind) in enumerate(details(range(n)))
    ]
    store(site, [*books, *articles(range(n)), *details(range(n))])
    cluster(site, algorithm=DOUBTING)
    return site


def cluster_again(site: Site) -> Clustering:
    """Do the work of the job that follows the answers."""
    result = run_here(follow_request(site=site)).result
    assert result is not None
    return Clustering.objects.get(pk=result["clustering"])
