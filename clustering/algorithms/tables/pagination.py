"""Find the pages that a list goes on at.

Notation:   The answer is the next page's address, and all pages of the list that the page links to.
Readings:   In this order: what the page declares (`rel=next`), the words or signs of a link, the
            number after that of this page among a run of page numbers, and the address that goes on
            as this page's own does. A link that leads to another kind of page (the next article,
            the next month) goes on no list: its address must be that of this page but for numbers
            and what says the page.
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
    "|weiter|nächste|nächste seite|suivant|suivante|page "
    "suivante|siguiente|próxima|próximo|seguinte"
    "|avanti|successivo|successiva|dalej|następna|następna "
    "strona|další|ďalší|volgende|næste|nästa|neste"
    "|seuraava|далее|следующая|вперед|次へ|次のページ|次|下一页|下一頁|下页|다음|sonraki|következő"
)
_SIGNS = "[\u00bb\u203a>\u2192\u21d2\u25b6\u276f]"  # guillemets, arrows
_NEXT = re.compile(rf"(?:(?:{_WORDS})\s*{_SIGNS}*|{_SIGNS}{{1,2}})", re.IGNORECASE)
_NEXT_NAME = re.compile(r"(?:^|[\s_-])(?:pag\w{0,30}[_-]?)?next(?:[\s_-]|$)", re.IGNORECASE)
_PAGE_KEY = re.compile(
    r"(?:p|pg|page|pagina|paged|seite|start|offset|from|s|b|first|skip|begin|pn|pageno|page_?num\w*)",
    re.IGNORECASE,
)
_PAGE_STEP = re.compile(r"(?:page|p|seite|pagina|strana)[-_/=]?\d+|\d+", re.IGNORECASE)
_PAGE_IN_PATH = re.compile(r"(?:page|seite|pagina|strana)[-_/=]?(\d{1,6})\b", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"[-_]?(?<!\d)\d++(?=\.\w+$|$)")
MIN_NUMBERS = 2  # that make a run
MAX_PAGES = 500
MAX_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Pagination:
    """Where a list goes on."""

    next_url: str = ""
    pages: tuple[str, ...] = ()  # this page not among them
    why: str = ""  # declared, words, numbers, address
    xpath: str = ""  # of the link to the next page; blank where the head declares it


def find_pagination(tree: HtmlElement, url: str, encoding: str = "utf-8") -> Pagination:
    """Return where a list goes on; blank where it does not."""
    links = [
        link
        for link in find_links(tree, url, encoding)
        if link.url != url and goes_on(url, link.url)
    ]
    numbered = _numbered(links)
    pages = tuple(dict.fromkeys(link.url for link in numbered))[:MAX_PAGES]
    declared_url = _declared_next(tree, url)
    if declared_url:
        xpath = next((link.xpath for link in links if link.url == declared_url), "")
        return Pagination(declared_url, pages, "declared", xpath)
    next_link, why = _find_next(tree, url, links, numbered)
    if next_link is None:
        return Pagination(pages=pages)
    return Pagination(next_link.url, pages, why, next_link.xpath)


def _find_next(
    tree: HtmlElement, url: str, links: Sequence[FoundLink], numbered: Sequence[FoundLink]
) -> tuple[FoundLink | None, str]:
    """Return the link to the next page and why it is the one; None where there is none."""
    elements = [_element_at(tree, link.xpath) for link in links]
    for link, element in zip(links, elements, strict=True):
        if _is_rel_next(element):
            return link, "declared"
    for link, element in zip(links, elements, strict=True):
        if _says_next(link, element):
            return link, "words"
    following = _following_number(numbered, url)
    if following:
        return following, "numbers"
    number = page_number(url)
    if number is not None and len(numbered) >= MIN_NUMBERS:
        for link in links:
            if page_number(link.url) == number + 1:
                return link, "address"
    return None, ""


def _is_rel_next(element: HtmlElement) -> bool:
    return "next" in str(element.get("rel") or "").lower().split()


def _declared_next(tree: HtmlElement, url: str) -> str:
    """Return the next page that the head of a page declares; blank where it declares none."""
    base = find_base(tree, url)
    for element in tree.iter("link"):
        if _is_rel_next(element) and element.get("href"):
            try:
                return join_url(base, str(element.get("href")))
            except BadAddress:
                return ""
    return ""


def _says_next(link: FoundLink, element: HtmlElement) -> bool:
    """Return whether the words of a link, or its names, lead to the next page."""
    texts = [link.text, str(element.get("aria-label") or ""), str(element.get("title") or "")]
    if any(_NEXT.fullmatch(" ".join(text.split())) for text in texts):
        return True
    names = [str(element.get("class") or ""), str(element.get("id") or "")]
    parent = element.getparent()
    if parent is not None:
        names.append(str(parent.get("class") or ""))
    return any(_NEXT_NAME.search(name) for name in names)


def _numbered(links: Sequence[FoundLink]) -> list[FoundLink]:
    """Return the links that show page numbers; at most one where all show the same number."""
    numbered = [
        link for link in links if _shown_number(link).isdecimal() and len(link.text) <= MAX_DIGITS
    ]
    n_numbers = len({link.text for link in numbered})
    return numbered if n_numbers >= MIN_NUMBERS else numbered[:1]


def _shown_number(link: FoundLink) -> str:
    return link.text.strip("[]() .")


def _following_number(numbered: Sequence[FoundLink], url: str) -> FoundLink | None:
    """Return the link to the page after this one, whose own number is the one that is no link."""
    link_by_number = {int(_shown_number(link)): link for link in reversed(numbered)}
    if not link_by_number:
        return None
    missing = [n for n in range(1, max(link_by_number) + 1) if n not in link_by_number]
    number = page_number(url)
    if number in missing:
        return link_by_number.get(number + 1)
    for n in missing:
        if n + 1 in link_by_number:
            return link_by_number[n + 1]
    return None


def page_number(url: str) -> int | None:
    """Return the number of the page that an address names.

    >>> page_number("https://a/list?page=3"), page_number("https://a/list/page/4/")
    (3, 4)
    """
    parts = urlsplit(url)
    for key, value in parse_qsl(parts.query):
        if _PAGE_KEY.fullmatch(key) and value.isdecimal() and len(value) <= MAX_DIGITS:
            return int(value)
    match = _PAGE_IN_PATH.search(parts.path)
    return int(match[1]) if match else None


def goes_on(url: str, other: str) -> bool:
    """Return whether an address is that of another page of the same list.

    >>> goes_on("https://a/list?sort=up", "https://a/list?sort=up&page=2")
    True
    """
    parts, other_parts = urlsplit(url), urlsplit(other)
    return (
        parts.netloc == other_parts.netloc
        and _path_without_page(parts.path) == _path_without_page(other_parts.path)
        and _query_without_page(parts.query) == _query_without_page(other_parts.query)
    )


def _path_without_page(path: str) -> list[str]:
    """Return the steps of a path without what names the page."""
    steps = [step for step in path.split("/") if step and step.lower() not in {"page", "seite"}]
    while steps and _PAGE_STEP.fullmatch(steps[-1]):
        steps.pop()
    return [_NUMBER_AT_END.sub("", step) for step in steps]


def _query_without_page(query: str) -> list[tuple[str, str]]:
    pairs = parse_qsl(query, keep_blank_values=True)
    return sorted(
        (key, value) for key, value in pairs if not (_PAGE_KEY.fullmatch(key) and value.isdecimal())
    )


def _element_at(tree: HtmlElement, xpath: str) -> HtmlElement:
    elements: list[HtmlElement] = tree.xpath(xpath)
    return elements[0]
