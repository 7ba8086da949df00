"""How time and memory of each algorithm grow with the pages of a site."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.clustering import memory
from clustering.algorithms.grouping import Click, Clusterer, ClusteringInputs, RawPage, SiteLink

N_TYPES = 12
WORDS = [
    f"{a}{b}"
    for a in ("ka", "lo", "mi", "ne", "ru", "sa", "ti")
    for b in ("ba", "den", "lor", "nix", "pe")
]


def measure(clusterer: Clusterer, n_pages: int) -> dict[str, Any]:
    """Return the processor time and the memory that a site of so many pages takes."""
    links, clicks = list(links_between(n_pages)), list(clicks_for(n_pages))
    urls = [url_of(number) for number in range(n_pages)]
    base = memory.start()
    began = time.process_time()
    observations = [
        clusterer.observe(page_of(number)) if clusterer.observe else None
        for number in range(n_pages)
    ]
    observed = time.process_time() - began
    evidence = ClusteringInputs(
        links=links, clicks=clicks, read=lambda url: page_of(number_of(url)).tree
    )
    grouping = clusterer.cluster_pages(urls, observations, evidence)
    seconds = time.process_time() - began - observed
    return {
        "observing": observed,
        "seconds": seconds,
        "mib": memory.peak() - base,
        "clusters": len(grouping.groups),
    }


def page_of(number: int) -> RawPage:
    """Make a page of about 2 KB of one of the types, each with optional parts."""
    chance = random.Random(number)
    kind = number % N_TYPES
    shared = "".join(f'<a href="{url_of(other)}">{WORDS[other]}</a>' for other in range(N_TYPES))
    fields = "".join(
        f'<dl class="f{field}"><dt>{WORDS[field]}</dt><dd><b>{chance.choice(WORDS)} '
        f"{number}</b></dd></dl>"
        for field in range(kind % 5 + 2)
        if field == 0 or chance.random() > 0.1
    )
    rows = "".join(f"<li><i>{chance.choice(WORDS)}</i></li>" for _ in range(chance.randint(1, 9)))
    around = ("article", "section", "table", "form")[kind % 4]
    body = (
        "<html><body "
        f"class='k{kind}'><nav>{shared}</nav><{around}><h1>{chance.choice(WORDS)} {number}</h1>"
        f"{fields}<ul>{rows}</ul></{around}><p>{' '.join(chance.choices(WORDS, k=60))}</p>"
        "</body></html>"
    )
    return RawPage(url_of(number), body.encode())


def url_of(number: int) -> str:
    return f"https://grown.example/{WORDS[number % N_TYPES]}/{number}"


def number_of(url: str) -> int:
    return int(url.rsplit("/", 1)[1])


def links_between(n_pages: int) -> Iterator[SiteLink]:
    """Yield two links to each page, from lists of its type and from the page before."""
    for number in range(1, n_pages):
        kind = number % N_TYPES
        yield SiteLink(url_of(kind), f"/html/body/nav/a[{kind + 1}]", url_of(number), WORDS[kind])
        yield SiteLink(url_of(number - 1), "/html/body/p/a", url_of(number), WORDS[kind])


def clicks_for(n_pages: int) -> Iterator[Click]:
    for number in range(0, n_pages, 4):
        yield Click(f"{WORDS[number % len(WORDS)]} {number}", url_of(number))
