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
from clustering.algorithms.titles.breadcrumbs import read_breadcrumb
from clustering.algorithms.titles.schema_types import DeclaredType, declared_types
from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.visible import INVISIBLE_TAGS

MIN_LINKS = 4  # of a list
MAX_LISTS, MAX_LINKS = 2, 12  # that are kept of a page
MAX_ELEMENTS = 20_000
MAX_TOKENS = 24
MAX_TOKEN_CHARS = 40
MIN_LIST_SHARE = 0.15  # of a page's text
MIN_PROSE_CHARS, MIN_PROSE_SHARE = 500, 0.5  # the share is of a page's text
# Shares of a list's text. Where more stands between two links, they stand around something else;
# where less is linked, the list is about something else.
MAX_GAP_SHARE = 0.4
MIN_LINKED_SHARE = 0.06

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
    breadcrumb: tuple[str, ...] = ()  # the names of the pages above, the top first


NO_KIND = PageKind()


def read_kind(page: RawPage) -> PageKind:
    """Read the kind of a page; one without a tree is of no kind."""
    tree = page.tree
    if tree is None:
        return NO_KIND
    walk = _LinkListWalk(page.url)
    walk.run(tree)
    return PageKind(
        types=declared_types(tree),
        tokens=_tokens(tree),
        lists=tuple(walk.lists()),
        is_prose=walk.n_prose >= max(MIN_PROSE_CHARS, MIN_PROSE_SHARE * walk.n_characters),
        n_passwords=sum(
            (field.get("type") or "").lower() == "password" for field in tree.iter("input")
        ),
        search_keys=frozenset(_search_keys(tree)),
        language=(tree.get("lang") or "").strip().lower()[:2],
        breadcrumb=read_breadcrumb(tree),
    )


def _tokens(tree: HtmlElement) -> tuple[str, ...]:
    """Return the ids and classes of the body, of the main parts, and of what is right in these."""
    body = next(tree.iter("body"), None)
    mains = cast("list[HtmlElement]", _MAIN(tree))[:3]
    if not mains:
        mains = list(tree.iter("article"))[:1]
    parts = [body] if body is not None else []
    for main in mains:
        parts += [main, *[child for child in main[:MAX_TOKENS] if child.tag not in _SKIPPED]]
    tokens: dict[str, None] = {}
    for part in parts:
        id_and_class = f"{part.get('id') or ''} {part.get('class') or ''}"
        for token in id_and_class[: MAX_TOKEN_CHARS * MAX_TOKENS].split():
            if len(token) <= MAX_TOKEN_CHARS:
                tokens.setdefault(token)
    return tuple(tokens)[:MAX_TOKENS]


def _search_keys(tree: HtmlElement) -> Iterator[str]:
    """Yield the names of text fields in forms that show results."""
    for field in tree.iter("input"):
        name = field.get("name")
        if not name or (field.get("type") or "").lower() not in _FIELDS:
            continue
        form = next(field.iterancestors("form"), None)
        if form is not None and (form.get("method") or "get").lower() == "get":
            yield name[:MAX_TOKEN_CHARS]


class _LinksAtPath:
    """The links at one path of tags that each stand alone, and where they stand in the text."""

    def __init__(self, start: int) -> None:
        self.hrefs: dict[str, None] = {}
        self.start = self.stop = self.last = start
        self.longest_gap = 0  # between two of them
        self.n_linked = 0


class _LinkListWalk:
    """The walk through a page and what it has met."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.n_characters = self.n_prose = 0
        self.links_by_path: dict[int, _LinksAtPath] = {}
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
                self.add_link(node)
            text, tail = node.text, node.tail
            if text:
                length = len(text.strip())
                self.n_characters += length
                if tag == "p":
                    self.n_prose += length
            tail_length = _length(tail)
            if tail_length:
                self.n_characters += tail_length
                parent = node.getparent()
                if parent is not None and parent.tag == "p":
                    self.n_prose += tail_length

    def add_link(self, link: HtmlElement) -> None:
        """Add a link to those at its path, unless a text stands right before it."""
        href = link.get("href") or ""
        before, parent = link.getprevious(), link.getparent()
        if not href or href[0] == "#" or parent is None:
            return
        if _length(parent.text if before is None else before.tail):
            return
        links = self.links_by_path.setdefault(self.path_of(parent), _LinksAtPath(self.n_characters))
        links.hrefs.setdefault(href)
        links.longest_gap = max(links.longest_gap, self.n_characters - links.last)
        links.last = self.n_characters
        n_linked = sum(map(_length, link.itertext(with_tail=False)))
        links.n_linked += n_linked
        links.stop = self.n_characters + n_linked

    def path_of(self, element: HtmlElement) -> int:
        """Return a number for the tags from the root to an element."""
        path_by_element = self.path_by_element
        new_elements: list[HtmlElement] = []
        above: HtmlElement | None = element
        while above not in path_by_element and above is not None:
            new_elements.append(above)
            above = above.getparent()
        path = path_by_element[above]
        for new_element in reversed(new_elements):
            path = path_by_element[new_element] = hash((path, new_element.tag))
        return path

    def lists(self) -> Iterator[LinkList]:
        """Yield the largest lists."""
        n_characters = max(self.n_characters, 1)
        lists = []
        for links in self.links_by_path.values():
            n_links = len(links.hrefs)
            if n_links < MIN_LINKS:
                continue
            # What stands behind the last link is about as long as behind the others.
            length = min((links.stop - links.start) * n_links / (n_links - 1), n_characters)
            if length < MIN_LIST_SHARE * n_characters:
                continue
            if links.longest_gap > MAX_GAP_SHARE * length:
                continue
            if links.n_linked < MIN_LINKED_SHARE * length:
                continue
            lists.append((round(length / n_characters, 2), links))
        lists.sort(key=lambda share_and_links: -share_and_links[0])
        for share, links in lists[:MAX_LISTS]:
            urls = map(self.resolve, list(links.hrefs)[:MAX_LINKS])
            yield LinkList(share, tuple(filter(None, urls)))

    def resolve(self, href: str) -> str:
        """Return where a link leads; blank where it leads to no page."""
        try:
            return normalise_url(join_url(self.url, href))
        except BadAddress:
            return ""


def _length(text: str | None) -> int:
    return len(text.strip()) if text else 0
