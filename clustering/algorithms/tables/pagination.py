"""Find the pages that a list goes on at.

Notation:   The answer is the next page's address, and all pages of the list that the page links to.
Readings:   In this order: what the page declares (`rel=next`), the words or signs of a link, the number after
            that of this page among a run of page numbers, and the address that goes on as this page's own
            does. A link that leads to another kind of page (the next article, the next month) goes on no
            list: its address must be that of this page but for numbers and what says the page.
Cost:       Linear in the links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from lxml.html import HtmlElement

from clustering.dom.addresses import BadAddress, join_url
from clustering.dom.links import FoundLink, find_base, find_links

_WORDS = (
    "next|next page|more|more results|show more|load more|older|older posts|older entries|forward"
    "|weiter|nächste|nächste seite|suivant|suivante|page suivante|siguiente|próxima|próximo|seguinte"
    "|avanti|successivo|successiva|dalej|następna|następna strona|další|ďalší|volgende|næste|nästa|neste"
    "|seuraava|далее|следующая|вперед|次へ|次のページ|次|下一页|下一頁|下页|다음|sonraki|következő"
)
_SIGNS = "[\u00bb\u203a>\u2192\u21d2\u25b6\u276f]"  # guillemets, arrows
_NEXT = re.compile(rf"(?:(?:{_WORDS})\s*{_SIGNS}*|{_SIGNS}{{1,2}})", re.IGNORECASE)
_NEXT_NAME = re.compile(r"(?:^|[\s_-])(?:pag\w*[_-]?)?next(?:[\s_-]|$)", re.IGNORECASE)
_PAGE_KEY = re.compile(
    r"(?:p|pg|page|pagina|paged|seite|start|offset|from|s|b|first|skip|begin|pn|pageno|page_?num\w*)",
    re.IGNORECASE,
)
_PAGE_STEP = re.compile(r"(?:page|p|seite|pagina|strana)[-_/=]?\d+|\d+", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"[-_]?\d+(?=\.\w+$|$)")
FEWEST = 2  # numbers that make a run
MOST_PAGES = 500
LONGEST_NUMBER = 8


@dataclass(frozen=True, slots=True)
class Pagination:
    """Where a list goes on."""

    next_url: str = ""
    pages: tuple[str, ...] = ()  # this page not among them
    why: str = ""  # declared, words, numbers, address
    xpath: str = ""  # of the link to the next page; blank where the head declares it


def find_pagination(tree: HtmlElement, url: str, encoding: str = "utf-8") -> Pagination:
    """Return where a list goes on; nothing where it does not."""
    links = [
        link
        for link in find_links(tree, url, encoding)
        if link.url != url and goes_on(url, link.url)
    ]
    numbered = _numbered(links)
    pages = tuple(dict.fromkeys(link.url for link in numbered))[:MOST_PAGES]
    elements = {link.position: _element_at(tree, link.xpath) for link in links}
    declared = _declared(tree, url)
    chosen, why = _choose(links, elements, numbered, url)
    if declared:
        same = next((link for link in links if link.url == declared), None)
        return Pagination(declared, pages, "declared", same.xpath if same else "")
    return Pagination(chosen.url, pages, why, chosen.xpath) if chosen else Pagination(pages=pages)


def _choose(
    links: Sequence[FoundLink],
    elements: dict[int, HtmlElement],
    numbered: Sequence[FoundLink],
    url: str,
) -> tuple[FoundLink | None, str]:
    for link in links:
        if "next" in str(elements[link.position].get("rel") or "").lower().split():
            return link, "declared"
    for link in links:
        if _says_next(link, elements[link.position]):
            return link, "words"
    after = _after_this(numbered, url)
    if after:
        return after, "numbers"
    here = page_number(url)
    for link in links:
        there = page_number(link.url)
        if here is not None and there is not None and len(numbered) >= FEWEST and there == here + 1:
            return link, "address"
    return None, ""


def _declared(tree: HtmlElement, url: str) -> str:
    """Return the next page that the head of a page declares."""
    base = find_base(tree, url)
    for element in tree.iter("link"):
        if "next" in str(element.get("rel") or "").lower().split() and element.get("href"):
            try:
                return join_url(base, str(element.get("href")))
            except BadAddress:
                return ""
    return ""


def _says_next(link: FoundLink, element: HtmlElement) -> bool:
    """Say whether the words of a link, or its names, lead to the next page."""
    told = [link.text, str(element.get("aria-label") or ""), str(element.get("title") or "")]
    parent = element.getparent()
    names = [str(one.get("class") or "") for one in (element, parent) if one is not None]
    names.append(str(element.get("id") or ""))
    return any(_NEXT.fullmatch(" ".join(text.split())) for text in told if text) or any(
        _NEXT_NAME.search(name) for name in names if name
    )


def _numbered(links: Sequence[FoundLink]) -> list[FoundLink]:
    """Return the links that show page numbers, where several do."""
    found = [
        link
        for link in links
        if link.text.strip("[]() .").isdecimal() and len(link.text) <= LONGEST_NUMBER
    ]
    return found if len({link.text for link in found}) >= FEWEST else found[:1]


def _after_this(numbered: Sequence[FoundLink], url: str) -> FoundLink | None:
    """Return the link to the page after this one, whose own number is the one that is no link."""
    by_number = {int(link.text.strip("[]() .")): link for link in reversed(numbered)}
    if not by_number:
        return None
    missing = [n for n in range(1, max(by_number) + 1) if n not in by_number]
    here = page_number(url)
    if here in missing:
        return by_number.get(here + 1)
    first = next((n for n in missing if n + 1 in by_number), None)
    return by_number.get(first + 1) if first is not None else None


def page_number(url: str) -> int | None:
    """Return the number of the page that an address names.

    >>> page_number("https://a/list?page=3"), page_number("https://a/list/page/4/")
    (3, 4)
    """
    parts = urlsplit(url)
    for key, value in parse_qsl(parts.query):
        if _PAGE_KEY.fullmatch(key) and value.isdecimal() and len(value) <= LONGEST_NUMBER:
            return int(value)
    found = re.search(r"(?:page|seite|pagina|strana)[-_/=]?(\d{1,6})\b", parts.path, re.IGNORECASE)
    return int(found[1]) if found else None


def goes_on(url: str, other: str) -> bool:
    """Say whether an address is that of another page of the same list.

    >>> goes_on("https://a/list?sort=up", "https://a/list?sort=up&page=2")
    True
    """
    mine, its = urlsplit(url), urlsplit(other)
    if mine.netloc != its.netloc:
        return False
    if _plain_path(mine.path) != _plain_path(its.path):
        return False
    return _plain_query(mine.query) == _plain_query(its.query)


def _plain_path(path: str) -> list[str]:
    """Return the steps of a path without what says the page."""
    steps = [step for step in path.split("/") if step and step.lower() not in {"page", "seite"}]
    while steps and _PAGE_STEP.fullmatch(steps[-1]):
        steps.pop()
    return [_NUMBER_AT_END.sub("", step) for step in steps]


def _plain_query(query: str) -> list[tuple[str, str]]:
    pairs = parse_qsl(query, keep_blank_values=True)
    return sorted(
        (key, value) for key, value in pairs if not (_PAGE_KEY.fullmatch(key) and value.isdecimal())
    )


def _element_at(tree: HtmlElement, xpath: str) -> HtmlElement:
    found: list[HtmlElement] = tree.xpath(xpath)
    return found[0]
