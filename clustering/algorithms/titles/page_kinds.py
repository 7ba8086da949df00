"""Read what kind of page a page is: what it declares, its main parts, its lists, its forms.

Notation:   A list is the links at one path of tags that each stand alone, with the share of the
            page's text that stands between the first and the last of them. A token is a class or an
            id. Prose is a text most of which stands in paragraphs.
Readings:   Links amidst a text are no list, nor are those in what the page calls its navigation,
            header or footer. What leads elsewhere on every page is for the caller to leave out.
Cost:       One walk over the elements outside the navigation, besides the declared types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.titles.schema_types import DeclaredType, declared_types
from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.visible import INVISIBLE_TAGS

MIN_LINKS = 4  # of a list
MAX_LISTS, MAX_LINKS = 2, 12  # that are kept of a page
MAX_ELEMENTS = 20_000
MAX_TOKENS = 24
MAX_TOKEN = 40  # characters
MIN_SHARE = 0.15
MIN_PROSE, MOSTLY_PROSE = 500, 0.5  # characters; of a page's text
WIDEST = 0.4  # of a list's text, between two links; where more is, they stand around something else
MIN_LINKED = 0.06  # of a list's text; where less is linked, something else is told there

_AROUND = "nav header footer aside head svg select textarea"  # what stands around a page's content
_SKIPPED = INVISIBLE_TAGS | frozenset(_AROUND.split())
_FIELDS = frozenset({"text", "search", ""})
_MAIN = etree.XPath("//main | //*[@role='main'] | //*[@id='main'] | //*[@id='content']")


class LinkList(NamedTuple):
    """A list of like links on a page."""

    share: float  # of the page's text
    links: tuple[str, ...]  # the addresses of the first ones


@dataclass(frozen=True, slots=True)
class PageKind:
    """What tells the kind of a page."""

    types: tuple[DeclaredType, ...] = ()
    tokens: tuple[str, ...] = ()  # of the body and of the main parts, outermost first
    lists: tuple[LinkList, ...] = ()  # the largest first
    is_prose: bool = False
    n_passwords: int = 0
    search_keys: frozenset[str] = frozenset()  # the names of text fields in forms that show results
    language: str = ""


NO_KIND = PageKind()


def read_kind(page: RawPage) -> PageKind:
    """Read the kind of a page; one without a tree is of no kind."""
    tree = page.tree
    if tree is None:
        return NO_KIND
    walk = _Walk(page.url)
    walk.run(tree)
    return PageKind(
        types=declared_types(tree),
        tokens=_tokens(tree),
        lists=tuple(walk.lists()),
        is_prose=walk.n_prose >= max(MIN_PROSE, MOSTLY_PROSE * walk.n_characters),
        n_passwords=sum(
            (field.get("type") or "").lower() == "password" for field in tree.iter("input")
        ),
        search_keys=frozenset(_search_keys(tree)),
        language=(tree.get("lang") or "").strip().lower()[:2],
    )


def _tokens(tree: HtmlElement) -> tuple[str, ...]:
    body = next(tree.iter("body"), None)
    mains = cast("list[HtmlElement]", _MAIN(tree))[:3]
    if not mains:
        mains = list(tree.iter("article"))[:1]
    parts = [body] if body is not None else []
    for main in mains:
        parts += [main, *[child for child in main[:MAX_TOKENS] if child.tag not in _SKIPPED]]
    tokens: dict[str, None] = {}
    for part in parts:
        written = f"{part.get('id') or ''} {part.get('class') or ''}"[: MAX_TOKEN * MAX_TOKENS]
        tokens.update(dict.fromkeys(token for token in written.split() if len(token) <= MAX_TOKEN))
    return tuple(tokens)[:MAX_TOKENS]


def _search_keys(tree: HtmlElement) -> Iterator[str]:
    for field in tree.iter("input"):
        if field.get("name") and (field.get("type") or "").lower() in _FIELDS:
            form = next(field.iterancestors("form"), None)
            if form is not None and (form.get("method") or "get").lower() == "get":
                yield field.get("name", "")[:MAX_TOKEN]


class _Links:
    """The links at one path that each stand alone."""

    def __init__(self, start: int) -> None:
        self.hrefs: dict[str, None] = {}
        self.start = self.stop = self.last = start
        self.widest = 0  # gap between two of them
        self.n_linked = 0


class _Walk:
    """The walk through a page and what it has met."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.n_characters = self.n_prose = 0
        self.links_by_path: dict[int, _Links] = {}
        self.path_by_element: dict[HtmlElement | None, int] = {None: 0}

    def run(self, tree: HtmlElement) -> None:
        """Visit what is outside the page's navigation."""
        walk = etree.iterwalk(tree, events=("start",))
        for n, (_, node) in enumerate(walk):
            tag = node.tag
            if type(tag) is not str:
                continue
            if tag in _SKIPPED or n > MAX_ELEMENTS or node.get("role") == "navigation":
                walk.skip_subtree()
                continue
            if tag == "a":
                self.meet(node)
            text, tail = node.text, node.tail
            if text:
                length = len(text.strip())
                self.n_characters += length
                if tag == "p":
                    self.n_prose += length
            if tail and (length := len(tail.strip())):
                self.n_characters += length
                if (parent := node.getparent()) is not None and parent.tag == "p":
                    self.n_prose += length

    def meet(self, link: HtmlElement) -> None:
        """Take a link where it stands alone."""
        href = link.get("href") or ""
        before, parent = link.getprevious(), link.getparent()
        if not href or href[0] == "#" or parent is None:
            return
        if _length(parent.text if before is None else before.tail):
            return
        links = self.links_by_path.setdefault(self.path_of(parent), _Links(self.n_characters))
        links.hrefs.setdefault(href)
        links.widest = max(links.widest, self.n_characters - links.last)
        links.last = self.n_characters
        text = sum(map(_length, link.itertext(with_tail=False)))
        links.n_linked += text
        links.stop = self.n_characters + text

    def path_of(self, element: HtmlElement) -> int:
        """Return what stands for the tags from the root to an element."""
        known = self.path_by_element
        unknown: list[HtmlElement] = []
        above: HtmlElement | None = element
        while above not in known and above is not None:
            unknown.append(above)
            above = above.getparent()
        path = known[above]
        for one in reversed(unknown):
            path = known[one] = hash((path, one.tag))
        return path

    def lists(self) -> Iterator[LinkList]:
        """Yield the largest lists."""
        total = max(self.n_characters, 1)
        lists = []
        for links in self.links_by_path.values():
            n = len(links.hrefs)
            # What stands behind the last link is about as long as behind the others.
            length = min((links.stop - links.start) * n / max(n - 1, 1), total)
            is_even = links.widest <= WIDEST * length and links.n_linked >= MIN_LINKED * length
            if n >= MIN_LINKS and length >= MIN_SHARE * total and is_even:
                lists.append((round(length / total, 2), links))
        lists.sort(key=lambda one: -one[0])
        for share, links in lists[:MAX_LISTS]:
            yield LinkList(
                share, tuple(filter(None, map(self.resolve, list(links.hrefs)[:MAX_LINKS])))
            )

    def resolve(self, href: str) -> str:
        try:
            return normalise_url(join_url(self.url, href))
        except BadAddress:
            return ""


def _length(text: str | None) -> int:
    return len(text.strip()) if text else 0
