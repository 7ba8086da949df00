"""Follow the links of a demo site as a visitor would, without a server."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import lxml.html

from clustering.dom.page import parse_page
from vertex.demo.sites.site import DemoPage, DemoSite


def tree_of(body: bytes, content_type: str) -> lxml.html.HtmlElement:
    parsed = parse_page(body, content_type)
    assert parsed.tree is not None
    assert parsed.problem == ""
    return parsed.tree


def tree(page: DemoPage) -> lxml.html.HtmlElement:
    return tree_of(page.body, page.content_type)


def links(page: DemoPage) -> set[str]:
    base = "http://site.example" + page.path
    targets = (urlsplit(urljoin(base, href)) for href in tree(page).xpath("//a/@href"))
    return {
        target.path + ("?" + target.query if target.query else "")
        for target in targets
        if target.netloc == "site.example"
    }


def reachable(site: DemoSite) -> dict[str, set[str]]:
    """Return every path that can be reached from the home page, with the paths that link to it."""
    sources: dict[str, set[str]] = {"/": set()}
    due = ["/"]
    while due:
        path = due.pop()
        page = site.page_at(site.redirects.get(path, path))
        for target in links(page) if page else ():
            if target not in sources:
                due.append(target)
            sources.setdefault(target, set()).add(path)
    return sources
