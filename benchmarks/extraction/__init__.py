"""What a page costs from bytes to a record of 14 attributes, beside lxml parsing the same bytes.

And how many pages find a cluster at all (`matching`).

Run it with: python -m benchmarks.run extraction
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree, html
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.extraction import matching
from benchmarks.report import markdown_table
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.published.shingles import shingle_vector
from clustering.dom.page import parse_page
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.matching import BY_SIGNATURE, ClusterProfile, Clusters, match_page
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import transform
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.extraction import extract

TITLE = "Extraction"
N_PAGES, N_ROUNDS, N_ANNOTATED, N_SAMPLES = 40, 5, 3, 20
URL = "http://bench.example/p/1"
LABELS = ["Brand", "Model", "Weight", "Colour", "Warranty", "Material"]
# The fields as a person writes them for parsel, and as an editor marks them.
FIELDS = {
    "name": "//h1[@class='product-title']",
    "price": "//span[@class='price']",
    "description": "//div[@id='description']",
    "sku": "//*[@class='sku']",
    "seller": "//a[@class='seller']",
    "rating": "//span[@class='rating']",
    "reviews": "//span[@class='n-reviews']",
    "stock": "//*[@id='stock']",
    **{
        label.lower(): f"//th[normalize-space()='{label}:']/following-sibling::td"
        for label in LABELS
    },
}


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    numbers = random.Random(1)
    bodies = [made_page(numbers, number) for number in range(N_PAGES)]
    learnt_rule(bodies)  # what is imported and compiled once
    began = time.process_time()
    rule = learnt_rule(bodies)
    seconds = time.process_time() - began
    sections = []
    for title, fields in {
        "14 attributes": set(FIELDS),
        "the 8 without labels": set(list(FIELDS)[:8]),
    }.items():
        rows = costs(bodies, rule, fields)
        sections += [f"{title}:", markdown_table(["step", "ms a page", "times lxml parsing"], rows)]
    size = sum(map(len, bodies)) // N_PAGES // 1000
    about = (
        f"{N_PAGES} pages of {size} KB; learnt from {N_ANNOTATED} annotated pages and "
        f"{N_SAMPLES} others"
    )
    about += f" in {seconds:.2f} s of processor time, their pages parsed."
    parts = [about, *sections, absent(), "## Pages that find a cluster", matching.section(data)]
    return "\n\n".join(part for part in parts if part)


def made_page(numbers: random.Random, number: int) -> bytes:
    """Return a product page of about 100 KB and 1,000 tags."""
    rows = "".join(
        f"\n<tr>\n <th>{label}:</th>\n <td>{words(numbers, 2)}</td>\n</tr>" for label in LABELS
    )
    menu = "".join(
        f'\n<li class="item"><a href="/c/{n}">{words(numbers, 2)}</a></li>' for n in range(80)
    )
    cards = "".join(
        f'\n<div class="card c{n % 3}">\n <a class="t" href="/p/{n}">{words(numbers, 5)}</a>\n'
        f' <span class="old">{n} EUR</span>\n <p>{words(numbers, 40)}</p>\n</div>'
        for n in range(160)
    )
    details = (
        f'<p><span class="rating">4.{number % 10}</span> by <span '
        f'class="n-reviews">{number * 3}</span>'
        f' <i id="stock">{number} left</i></p>'
    )
    return f"""<!doctype html><html lang="en"><head><title>Shop {number}</title>
<style>{words(numbers, 900)}</style></head><body><nav><ul>{menu}</ul></nav><main>
<h1 class="product-title">{words(numbers, 4)}</h1> <span class="price">$ {number}.99</span>
<b class="sku">A-{number * 7}</b> <a class="seller" href="/s">{words(numbers, 2)}</a>{details}
<div id="description"><p>{words(numbers, 80)}</p> <p>{words(numbers, 60)}</p></div>
<table>{rows}</table></main><aside>{cards}</aside>
<script>{words(numbers, 1500)}</script></body></html>""".encode()


def words(numbers: random.Random, n: int) -> str:
    return " ".join(
        "".join(numbers.choices("aeioulmnrst", k=numbers.randint(3, 9))) for _ in range(n)
    )


def tree_of(body: bytes) -> HtmlElement:
    tree = parse_page(body).tree
    if tree is None:
        raise ValueError("the page has no tree")
    return tree


def learnt_rule(bodies: list[bytes]) -> ClusterRule:
    trees = [tree_of(body) for body in bodies[: N_ANNOTATED + N_SAMPLES]]
    pages = [
        AnnotatedPage(
            f"{URL}{number}",
            tree,
            {name: [MarkedNode(find(tree, xpath)[0])] for name, xpath in FIELDS.items()},
        )
        for number, tree in enumerate(trees[:N_ANNOTATED])
    ]
    return learn_cluster(pages, trees[N_ANNOTATED:], [AttributeType(name) for name in FIELDS])


def find(tree: _Element, xpath: str) -> list[Any]:
    nodes: list[Any] = etree.XPath(xpath, regexp=False)(tree)  # type: ignore[assignment]  # these give nodes
    return nodes


def costs(bodies: list[bytes], rule: ClusterRule, fields: set[str]) -> list[list[object]]:
    """Return processor time by step: the least of interleaved rounds."""
    attributes = tuple(attribute for attribute in rule.attributes if attribute.attribute in fields)
    stylesheet = stylesheet_of(type(rule)(attributes))
    runnable = RunnableRule(
        "c", 1, stylesheet, tuple(AttributeType(attribute.attribute) for attribute in attributes)
    )
    xpaths = [xpath for name, xpath in FIELDS.items() if name in fields]
    profile = ClusterProfile("c", signature=f"{shingle_vector(bodies[0]):016x}")
    clusters = Clusters((profile,), variant=BY_SIGNATURE)
    steps: dict[str, Callable[[bytes], object]] = {
        "lxml parsing alone": lambda body: etree.fromstring(
            body, etree.HTMLParser(encoding="utf-8")
        ),
        "parse_page": parse_page,
        "bytes to result tree": lambda body: transform(stylesheet, tree_of(body), votes=False),
        "bytes to record": lambda body: extract(RawPage(URL, body), runnable, votes=False),
        "the same with matching by signature": lambda body: matched(body, clusters, runnable),
        "bytes to record with the losers' votes": lambda body: extract(
            RawPage(URL, body), runnable
        ),
        "bytes to record with votes and places": lambda body: extract(
            RawPage(URL, body), runnable, nodes=True
        ),
        "text, lxml, element.xpath for each field": lambda body: by_hand(body.decode(), xpaths),
        **peers(xpaths, bodies[0]),
    }
    rounds = [[milliseconds(step, bodies) for step in steps.values()] for _ in range(N_ROUNDS)]
    best = [min(times) for times in zip(*rounds, strict=True)]
    return [
        [name, f"{ms:.2f}", f"{ms / best[0]:.2f}"] for name, ms in zip(steps, best, strict=True)
    ]


def matched(body: bytes, clusters: Clusters, rule: RunnableRule) -> object:
    match_page(RawPage(URL, body), clusters)
    return extract(RawPage(URL, body), rule, votes=False)


def by_hand(text: str, xpaths: list[str]) -> list[str]:
    """Do what parsel does: parse a text, and ask for each field by itself."""
    tree = html.document_fromstring(text)
    return [str(tree.xpath(f"string({xpath})")) for xpath in xpaths]


def peers(xpaths: list[str], body: bytes) -> dict[str, Callable[[bytes], object]]:
    """Return the libraries that are installed, each with the same fields."""
    result: dict[str, Callable[[bytes], object]] = {}
    if importlib.util.find_spec("parsel"):
        selector = importlib.import_module("parsel").Selector
        result["parsel"] = lambda page: by_parsel(selector(page.decode()), xpaths)
    if importlib.util.find_spec("autoscraper"):
        scraper = importlib.import_module("autoscraper").AutoScraper()
        wanted = [" ".join(find(tree_of(body), f"string({xpath})")) for xpath in xpaths]
        scraper.build(html=body.decode(), wanted_list=wanted)
        result["autoscraper"] = lambda page: scraper.get_result_exact(html=page.decode())
    return result


def by_parsel(selector: Any, xpaths: list[str]) -> list[Any]:  # parsel may be absent
    return [selector.xpath(f"string({xpath})").get() for xpath in xpaths]


def absent() -> str:
    missing = [name for name in ("parsel", "autoscraper") if not importlib.util.find_spec(name)]
    if not missing:
        return ""
    install = "pip install -r benchmarks/requirements.txt"
    return (
        f"Not installed here, so not measured: {', '.join(missing)}. Install them with `{install}`."
    )


def milliseconds(step: Callable[[bytes], object], bodies: list[bytes]) -> float:
    began = time.process_time()
    for body in bodies:
        step(body)
    return (time.process_time() - began) / len(bodies) * 1000
