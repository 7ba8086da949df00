"""Walk over a page once: what kinds of elements it has, and which texts stand in them.

Notation:   A path is the tags from the root to an element, without positions and counts. A token
            path is a path with one token of the element's class, its id, itemprop or meta name.
            Both are features, known by a 64-bit hash. Elements of one kind have the same features:
            the same path, class, id and itemprop.
Departures: Scripts and styles have no text. At most MAX_FEATURES features of a page count, so that
            a hostile page is no larger than an honest one.
Cost:       One walk with a stack, linear in the tree. It is most of what finding the group of a
            page costs. So kinds and the hashes of short texts are kept from page to page: the pages
            of a site have nearly all of them in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import xxhash
from lxml.etree import _Element

from clustering.dom.visible import INVISIBLE_TAGS

MAX_FEATURES = 6000  # of a page; ten times what one of 100 KB has
MAX_TEXTS = 6000  # of a page, of which labels are read
MAX_LABEL = 60  # characters; what is longer names nothing
MAX_HEADING = 120
MAX_TOKENS = 30  # of one element's class
MAX_KINDS: Final = 100_000  # that are kept; then all are forgotten
MAX_SHORT_TEXTS: Final = 20_000

_DECLARING_PROPERTIES = frozenset({"og:type", "generator"})
_TAGS_TO_READ = frozenset({"title", "h1", "script", "meta"})
_JSON_TYPE = re.compile(r'"@type"\s*:\s*"(\w{1,40})"')
_MAX_JSON_CHARS = 300_000
_MAX_DECLARED = 50


# The class, the id, and the itemprop or the name of a meta element.
Attributes: TypeAlias = tuple[str | None, str | None, str | None]


class PathFeature(NamedTuple):
    """A path or token path."""

    hash: int
    parent: int | None  # the hash of the path that it adds a step to
    step: str  # as in `/p` or `.price`

    @property
    def is_path(self) -> bool:
        return self.step[0] == "/"


class Path:
    """The tags from the root to an element, with the kinds of elements that stand in it."""

    __slots__ = ("feature", "is_silent", "kinds", "paths", "tag")

    def __init__(self, feature: PathFeature, tag: str) -> None:
        self.feature = feature
        self.tag = tag
        self.is_silent = tag in INVISIBLE_TAGS  # no text within it is shown
        self.paths: dict[str, Path] = {}  # of what stands in it, by tag
        self.kinds: dict[tuple[str, Attributes], Kind] = {}  # of what stands in it


class Kind:
    """What elements have in common that have the same features."""

    __slots__ = ("features", "hashes", "path")

    def __init__(self, path: Path, attributes: Attributes) -> None:
        self.path = path
        tokens = tokens_of(attributes)
        self.features = [path.feature, *[_feature(path.feature.hash, token) for token in tokens]]
        self.hashes = [feature.hash for feature in self.features]


class _KnownKinds:
    """The kinds that pages had so far, of all sites that this process reads."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.root = Path(PathFeature(0, None, ""), "")
        self.n_kinds = 0

    def add(self, around: Path, tag: str, attributes: Attributes) -> Kind:
        """Return the kind of an element on a path where none of its kind stood before."""
        path = around.paths.get(tag)
        if path is None:
            parent = None if around is self.root else around.feature.hash
            path = around.paths[tag] = Path(_feature(parent, f"/{tag}"), tag)
        kind = around.kinds[tag, attributes] = Kind(path, attributes)
        self.n_kinds += 1
        return kind


_KNOWN = _KnownKinds()


def tokens_of(attributes: Attributes) -> list[str]:
    """Return the steps of an element's token paths."""
    class_, id_, prop = attributes
    tokens = [f".{token}" for token in dict.fromkeys((class_ or "").split()[:MAX_TOKENS])]
    tokens += [f"#{_one_line(id_)}"] if id_ else []
    tokens += [f"@{_one_line(prop)}"] if prop else []
    return tokens


def hash_text(text: str) -> int:
    """Return the 64-bit hash of a text; never 0."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) or 1


def label_of(text: str) -> str:
    """Return a text as a label: blanks folded, without a colon at its end; empty if it is too long.

    >>> label_of(" Opening  hours: ")
    'Opening hours'
    """
    if len(text) > MAX_LABEL * 3:
        return ""
    folded = " ".join(text.split()).rstrip(" :")
    return folded if len(folded) <= MAX_LABEL else ""


# Saves 1 % of assigning pages: 93 % of the texts were met before (benchmarks.caches).
@lru_cache(maxsize=MAX_SHORT_TEXTS)
def _hash_short_text(text: str) -> tuple[str, int]:
    label = label_of(text)
    return label, hash_text(label or text)


def label_and_hash(text: str) -> tuple[str, int]:
    """Return a text as a label, and the hash of that, or of the text where it is no label."""
    if len(text) > MAX_LABEL * 3:
        return "", hash_text(text)
    return _hash_short_text(text)


def _feature(parent: int | None, step: str) -> PathFeature:
    return PathFeature(hash_text(f"{'' if parent is None else parent}{step}"), parent, step)


def _one_line(text: str) -> str:
    return " ".join(text[:MAX_HEADING].split())


class PageWalk:
    """What a walk over a tree met."""

    def __init__(self) -> None:
        self.tags: list[str] = []  # of the elements, but those within scripts
        # The kinds of elements that count, in the order in which they were first met.
        self.kinds: dict[Kind, None] = {}
        self.features: set[int] = set()  # their hashes
        self.texts: list[tuple[Kind, str]] = []  # in document order, and where they stand
        self.n_link_chars = 0
        self.title = self.heading = ""
        self.declared: dict[str, None] = {}  # types and generator, as the page says

    def run(self, tree: _Element) -> None:
        """Visit elements and texts in document order; an element's tail comes when it is left."""
        if _KNOWN.n_kinds > MAX_KINDS:
            _KNOWN.forget()
        # Local names: this loop is what reading a page costs.
        root, met_kinds, no_attributes = _KNOWN.root, self.kinds, (None, None, None)
        add_tag, add_text = self.tags.append, self.texts.append
        # The elements around the node with their kinds, None where nothing in them counts.
        above: list[tuple[_Element, Kind | None]] = []
        for node in tree.iter():
            parent = None if node is tree else node.getparent()
            while above and above[-1][0] is not parent:
                element = above.pop()[0]
                around = above[-1][1]
                if around is not None:
                    tail = element.tail
                    if tail and (text := tail.strip()):
                        add_text((around, text))
            around = above[-1][1] if above else None
            tag = node.tag
            if type(tag) is not str or (above and around is None):
                above.append((node, None))  # a comment, or something within a script
                continue
            add_tag(tag)
            attributes: Attributes = no_attributes
            if node.keys():
                get = node.get
                attributes = get("class"), get("id"), get("itemprop")
            if tag in _TAGS_TO_READ:
                attributes = self._read(node, tag, attributes)
            path = root if around is None else around.path
            kind = path.kinds.get((tag, attributes))
            if kind is None or kind not in met_kinds:
                kind = self._count_kind(node, path, kind, attributes)
            if kind is None or kind.path.is_silent:
                above.append((node, None))
                continue
            inner = node.text
            if inner and (text := inner.strip()):
                add_text((kind, text))
                if tag == "a":
                    self.n_link_chars += len(text)
            above.append((node, kind))
        while len(above) > 1:  # behind the tree itself stands nothing of the page
            element = above.pop()[0]
            around = above[-1][1]
            if around is not None and element.tail:
                text = element.tail.strip()
                if text:
                    add_text((around, text))

    def _count_kind(
        self, element: _Element, path: Path, kind: Kind | None, attributes: Attributes
    ) -> Kind | None:
        """Count the kind of an element on a path; None where too much counts already."""
        if len(self.features) >= MAX_FEATURES:
            return None
        tag = str(element.tag)
        if kind is None:
            kind = _KNOWN.add(path, tag, attributes)
        self.kinds[kind] = None
        self.features.update(kind.hashes)
        if tag != "meta" and element.get("itemtype"):
            self._declare([_one_line(element.get("itemtype") or "")])
        return kind

    def _read(self, element: _Element, tag: str, attributes: Attributes) -> Attributes:
        """Read what some elements say of the page; return the attributes that tell their kind."""
        if tag == "title":
            self.title = self.title or " ".join((element.text or "").split())[:MAX_HEADING]
        elif tag == "h1" and not self.heading:
            text = "".join(map(str, element.itertext(with_tail=False)))
            self.heading = " ".join(text.split())[:MAX_HEADING]
        elif tag == "script" and element.get("type") == "application/ld+json":
            self._declare(_JSON_TYPE.findall((element.text or "")[:_MAX_JSON_CHARS]))
        elif tag == "meta":
            name = element.get("name") or element.get("property")
            if name in _DECLARING_PROPERTIES:
                self._declare([f"{name} {_one_line(element.get('content') or '')}"])
            return (*attributes[:2], name)
        return attributes

    def _declare(self, types: Iterable[str]) -> None:
        for declared in types:
            if len(self.declared) < _MAX_DECLARED:
                self.declared[declared] = None


def walk_page(tree: _Element | None) -> PageWalk:
    """Return what a walk over a page met; nothing where it has no tree."""
    walk = PageWalk()
    if tree is not None:
        walk.run(tree)
    return walk
