"""What all tests of monitoring need of a page: its tree, its text, what a rule makes of it."""

from __future__ import annotations

from lxml.html import HtmlElement

from clustering.dom.page import PageTooLarge, parse_page
from monitoring.algorithms import soft_errors
from monitoring.services.checks.fresh_pages import FreshPage
from rules.algorithms.running.record_lines import Line, lines_of_extracted
from rules.algorithms.running.records import RunnableRule
from rules.bundle.extraction import extract
from vertex.core.storage import BodyDamaged, BodyMissing, page_store


def read_body(name: str) -> bytes:
    """Return a stored body; nothing where it is gone."""
    try:
        return page_store().read(name)
    except (BodyMissing, BodyDamaged):
        return b""


def tree_of_body(body: bytes, content_type: str) -> tuple[HtmlElement | None, str]:
    """Return the tree of a page's bytes and what is wrong with it."""
    try:
        parsed = parse_page(body, content_type)
    except PageTooLarge:
        return None, soft_errors.TRUNCATED
    return parsed.tree, parsed.problem


def text_of_body(body: bytes, content_type: str) -> str:
    """Return what a page shows; nothing where it has no tree."""
    tree, _ = tree_of_body(body, content_type)
    return "" if tree is None else soft_errors.read_shown(tree).text


def lines_with(rule: RunnableRule, fresh: FreshPage, *, nodes: bool = False) -> list[Line]:
    """Return what a rule extracts from a page; `nodes` adds where each value stands."""
    extracted = extract(fresh.body, fresh.content_type, fresh.url, rule, nodes=nodes)
    return lines_of_extracted(fresh.url, rule, extracted)
