"""The sample pages of clusters that are being annotated, parsed once: each further page asks for all again.

What is kept belongs to one process, and is as much as a few clusters need. Nobody changes the trees.
"""

from __future__ import annotations

from threading import Lock

from lxml.html import HtmlElement

from annotation.services.page.stored_pages import tree_of
from clustering.models import Snapshot
from rules.algorithms.learning.nodes import Walks

MOST_TREES = 60
MOST_NODES = 150_000
LARGEST = 500_000  # bytes of a page that is kept

WALKS = Walks(MOST_NODES)

_trees: dict[tuple[int, str], HtmlElement] = {}
_lock = Lock()


def kept_tree(snapshot: Snapshot) -> HtmlElement | None:
    """Return the tree of a snapshot's bytes, which must not be changed; None where there is none.

    Two snapshots never share a tree, even of the same bytes: nodes are told apart by their elements.
    """
    key = (snapshot.pk, snapshot.body)
    with _lock:
        tree = _trees.pop(key, None)
    if tree is None:
        tree = tree_of(snapshot)
    if tree is not None and snapshot.n_bytes <= LARGEST:
        with _lock:
            _trees[key] = tree
            while len(_trees) > MOST_TREES:  # the one goes that nobody asked for the longest
                del _trees[next(iter(_trees))]
    return tree
