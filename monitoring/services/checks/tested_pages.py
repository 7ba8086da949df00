"""What all tests of monitoring need of a page: bytes, tree, text, and what a rule extracts."""

from __future__ import annotations

from lxml.html import HtmlElement

from clustering.algorithms.grouping import RawPage
from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Snapshot
from monitoring.algorithms import soft_errors
from rules.algorithms.running.record_lines import Line, lines_of_extracted
from rules.algorithms.running.records import RunnableRule
from rules.bundle.extraction import extract
from vertex.core.storage import BodyDamaged, BodyMissing, page_store


def read_body(name: str) -> bytes | None:
    """Return a stored body, None where it is gone or damaged. Raises StoreAway."""
    try:
        return page_store().read(name)
    except (BodyMissing, BodyDamaged):
        return None


def read_stored(url: str, snapshot: Snapshot) -> RawPage | None:
    """Return a page as it was, None where its bytes are gone or damaged. Raises StoreAway."""
    body = read_body(snapshot.body)
    return None if body is None else RawPage(url, body, snapshot.content_type)


def read_tree(page: RawPage) -> tuple[HtmlElement | None, str]:
    """Return the tree of a page and what is wrong with it.

    The tree is not kept with the page: a check has thousands of pages in hand.
    """
    try:
        parsed = parse_page(page.body, page.content_type)
    except PageTooLarge:
        return None, soft_errors.TRUNCATED
    return parsed.tree, parsed.problem


def read_text(page: RawPage) -> str:
    """Return what a page shows; nothing where it has no tree."""
    tree, _ = read_tree(page)
    return "" if tree is None else soft_errors.read_shown(tree).text


def extract_lines(rule: RunnableRule, page: RawPage, *, nodes: bool = False) -> list[Line]:
    """Return what a rule extracts from a page; `nodes` adds where each value stands."""
    extracted = extract(page, rule, nodes=nodes)
    return lines_of_extracted(page.url, rule, extracted)
