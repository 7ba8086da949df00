"""Rewrite a site's addresses as another site's might be, so that trees do not learn them by heart.

A scheme says where the word of a page's type stands, what names the page itself, and whether a
folder that has nothing to do with the type, such as a brand, stands around it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

import xxhash

from clustering.algorithms.automatic.page_features import PageFeatures

HOST = "https://rewritten.example"
N_BRANDS = 8
SHARE_OF_SPLIT_WORDS = 0.1  # types with two words, and pairs of types with one word

_WORD = re.compile(r"[a-z0-9]+")


class Scheme(NamedTuple):
    """How the addresses of pages are built."""

    type_word: str  # folder, last folder, prefix, suffix, query or none
    item: str  # slug, number, hash or dated slug
    has_brand: bool
    ending: str


def random_scheme(rng: random.Random) -> Scheme:
    return Scheme(
        rng.choice(
            ["folder", "folder", "last folder", "prefix", "suffix", "query", "none", "none"]
        ),
        rng.choice(["slug", "slug", "number", "hash", "dated slug"]),
        rng.random() < 0.25,
        rng.choice(["", "", "/", ".html", ".php"]),
    )


def rewrite_addresses(
    types: Sequence[str], pages: Sequence[PageFeatures], rng: random.Random
) -> list[str]:
    """Return new addresses for pages of known types."""
    distinct = sorted(set(types))
    word_of = {
        type_: f"{rng.choice('bcdfglmprst')}{rng.choice('aeiou')}{number}x"
        for number, type_ in enumerate(distinct)
    }
    word_of = {
        type_: re.sub(r"\d", lambda digit: "qwrtzplkhg"[int(digit[0])], word)
        for type_, word in word_of.items()
    }
    for type_ in distinct:
        if rng.random() < SHARE_OF_SPLIT_WORDS:
            word_of[type_] = word_of[rng.choice(distinct)]
    second_word = {type_ for type_ in distinct if rng.random() < SHARE_OF_SPLIT_WORDS}
    of_site = random_scheme(rng)
    is_by_type = rng.random() < 0.4
    scheme_of = {type_: random_scheme(rng) if is_by_type else of_site for type_ in distinct}
    urls = []
    for number, (type_, page) in enumerate(zip(types, pages, strict=True)):
        word = word_of[type_]
        if type_ in second_word and rng.random() < 0.5:
            word += "s"
        urls.append(_address(scheme_of[type_], word, number, page))
    return urls


def _address(scheme: Scheme, word: str, number: int, page: PageFeatures) -> str:
    mixed = xxhash.xxh64_hexdigest(f"{number} {page.title}".encode("utf-8", "surrogatepass"))
    slug = "-".join(_WORD.findall((page.heading or page.title).lower())[:5]) or mixed[:8]
    id_ = str(int(mixed[:6], 16))
    item = {
        "slug": slug,
        "number": id_,
        "hash": mixed,
        "dated slug": f"2{id_[:3]}/0{id_[-1]}/{slug}",
    }[scheme.item]
    brand = f"/brand{'abcdefgh'[int(mixed[-1], 16) % N_BRANDS]}" if scheme.has_brand else ""
    match scheme.type_word:
        case "folder":
            return f"{HOST}/{word}{brand}/{item}{scheme.ending}"
        case "last folder":
            return f"{HOST}{brand}/{item}/{word}{scheme.ending}"
        case "prefix":
            return f"{HOST}{brand}/{word}-{item}{scheme.ending}"
        case "suffix":
            return f"{HOST}{brand}/{item}-{word}{scheme.ending}"
        case "query":
            return f"{HOST}{brand}/index.php?view={word}&id={item}"
        case _:
            return f"{HOST}{brand}/{item}{scheme.ending}"
