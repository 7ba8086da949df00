"""The sample pages of clusters being annotated, parsed once: each further page asks for all again.

The cache belongs to one process, and holds as much as a few clusters need. Nobody
changes the trees.
"""

from __future__ import annotations

from threading import Lock

from lxml.html import HtmlElement

from clustering.models import Snapshot
from clustering.services.pages.stored_trees import read_tree
from rules.algorithms.learning.nodes import Walks

MAX_TREES = 60
MAX_NODES = 150_000
MAX_PAGE_BYTES = 500_000  # of a page that is cached

WALKS = Walks(MAX_NODES)

_trees: dict[tuple[int, str], HtmlElement] = {}
_lock = Lock()


def cached_tree(snapshot: Snapshot) -> HtmlElement | None:
    """Return the tree of a snapshot's bytes, which must not be changed; None where there is none.

    Two snapshots never share a tree, even of the same bytes: nodes are told apart
    by their elements.
    """
    key = (snapshot.pk, snapshot.body)
    with _lock:
        tree = _trees.pop(key, None)
    if tree is None:
        tree = read_tree(snapshot)
    if tree is not None and snapshot.n_bytes <= MAX_PAGE_BYTES:
        with _lock:
            _trees[key] = tree
            while len(_trees) > MAX_TREES:  # the one goes that nobody asked for the longest
                del _trees[next(iter(_trees))]
    return tree
