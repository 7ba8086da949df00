"""Make list pages of many layouts, and pages without a list; elements of records are marked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

N_OF_A_LAYOUT = 5
N_EMPTY = 24
MARK = "data-record"
_WORDS = """
able acid aged also area army away baby back ball band bank base bath bear beat been beer bell belt
best bird blow blue boat body bomb bond bone book boom born boss both bowl bulk burn bush busy call
calm came camp card care case cash cast cell chat chip city club coal coat code cold come cook cool
cope copy core
"""
WORDS = _WORDS.split()


class Maker:
    """Chance, and the habits of one site: what its markup is like, what its records have."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.has_classes = self.is_so(0.6)
        self.has_links = self.is_so(0.8)
        self.has_images = self.is_so(0.4)
        self.has_prices = self.is_so(0.4)
        self.longest = self.number(4, 40)  # words of a description
        self.n_records = self.number(3, 9) if self.is_so(0.4) else self.number(10, 30)

    def number(self, least: int, most: int) -> int:
        return self.chance.randint(least, most)

    def is_so(self, share: float) -> bool:
        return self.chance.random() < share

    def words(self, least: int, most: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.number(least, most))).capitalize()

    def named(self, word: str) -> str:
        return f" class={word}" if self.has_classes else ""

    def link(self, text: str) -> str:
        return f"<a href=/{self.number(1, 9**6)}>{text}</a>"

    def title(self) -> str:
        text = self.words(2, 6)
        return self.link(text) if self.has_links else text

    def about(self) -> str:
        return self.words(3, max(self.longest, 4))

    def extras(self) -> list[str]:
        """Return what a record has besides; some of it only now and then."""
        texts = []
        if self.is_so(0.7):
            texts.append(f"{self.number(1, 28)} May {self.number(1996, 2024)}")
        if self.has_prices and self.is_so(0.9):
            texts.append(f"${self.number(2, 400)}.95")
        if self.is_so(0.3):
            texts.append(f"{self.number(1, 500)} votes")
        return texts

    def image(self) -> str:
        return f"<img src=/{self.number(1, 999)}.png>" if self.has_images else ""

    def rule(self) -> str:
        return self.chance.choice(["<hr>", "<br><br>", "<p>"])


def marked(number: int) -> str:
    return f" {MARK}={number}"


def _items(make: Maker) -> str:
    tag = make.chance.choice(["ul", "ol"])
    rows = "".join(
        f"<li{marked(n)}{make.named('item')}>{make.title()} {' - '.join(make.extras())} "
        f"{make.about()}</li>"
        for n in range(make.n_records)
    )
    return f"<{tag}>{rows}</{tag}>"


def _links(make: Maker) -> str:
    rows = [f"<li{marked(n)}>{make.link(make.words(3, 9))}</li>" for n in range(make.n_records)]
    return f"<h1>{make.words(1, 3)}</h1><ul>{''.join(rows)}</ul>"


def _card(make: Maker, number: int, inner: str = "") -> str:
    extras = "".join(f"<span{make.named('meta')}>{extra}</span>" for extra in make.extras())
    return (
        f"<div{marked(number)}{make.named('card')}>{make.image()}<h3>{make.title()}</h3>"
        f"<p>{make.about()}</p>{extras}{inner}</div>"
    )


def _cards(make: Maker) -> str:
    share = 0.15 if make.is_so(0.5) else 0.0
    pieces = []
    for number in range(make.n_records):
        if make.is_so(share):
            pieces.append(
                f"<div{make.named('promo')}><p>Advertisement</p>{make.link(make.words(2, 5))}</div>"
            )
        pieces.append(_card(make, number))
    return f"<div{make.named('results')}>{''.join(pieces)}</div>"


def _cards_of_several(make: Maker) -> str:
    def inner() -> str:
        rows = "".join(
            f"<li><b>{make.words(1, 2)}</b> {make.words(2, 12)}</li>"
            for _ in range(make.number(0, 5))
        )
        return f"<ul{make.named('inner')}>{rows}</ul>"

    cards = "".join(_card(make, number, inner()) for number in range(min(make.n_records, 12)))
    return f"<section>{cards}</section>"


def _grid(make: Maker) -> str:
    width, rows = make.number(2, 4), make.number(2, 6)
    cells = [
        f"<td{marked(n)} "
        f"align=center>{make.image()}<br>{make.title()}<br>{'<br>'.join(make.extras())}"
        for n in range(width * rows)
    ]
    lines = ["<tr>" + "".join(cells[at : at + width]) for at in range(0, len(cells), width)]
    return f"<table width='100%'>{''.join(lines)}</table>"


def _rows(make: Maker) -> str:
    n_columns = make.number(1, 4)
    head = "<tr><th>Name" + "".join(f"<th>{make.words(1, 1)}" for _ in range(n_columns))
    lines = [
        f"<tr{marked(n)}><td>{make.title()}"
        + "".join(
            f"<td>{make.words(1, 3) if make.is_so(0.5) else make.number(1, 900)}"
            for _ in range(n_columns)
        )
        for n in range(make.n_records)
    ]
    foot = f"<tr><td colspan={n_columns + 1}>{make.words(3, 6)}" if make.is_so(0.4) else ""
    return f"<table>{head if make.is_so(0.7) else ''}{''.join(lines)}{foot}</table>"


def _double_rows(make: Maker) -> str:
    lines = [
        f"<tr{marked(n)}><td>{n + 1}<td>{make.title()}<tr{marked(n)}><td><td>{make.about()}"
        + ("<tr><td colspan=2>&nbsp;" if make.longest % 2 else "")
        for n in range(make.n_records)
    ]
    return f"<table>{''.join(lines)}</table>"


def _tables(make: Maker) -> str:
    return "".join(
        f"<table{marked(n)}><tr><td>{make.image()}{n + 1}.<td><b>{make.title()}</b>"
        f"<br>{make.about()}<br><font size=1>{' - '.join(make.extras())}</font></table>"
        for n in range(make.n_records)
    )


def _terms(make: Maker) -> str:
    most = make.number(1, 3)
    rows = []
    for n in range(make.n_records):
        result = "".join(f"<dd{marked(n)}>{make.about()}" for _ in range(make.number(1, most)))
        rows.append(f"<dt{marked(n)}>{make.title()}{result}")
    return f"<dl>{''.join(rows)}</dl>"


def _heads(make: Maker) -> str:
    head = make.chance.choice(["h2", "h3", "h4"])
    return "".join(
        f"<{head}{marked(n)}>{make.title()}</{head}><p{marked(n)}>{make.about()}</p>"
        + "".join(f"<div{marked(n)}>{extra}</div>" for extra in make.extras()[:1])
        for n in range(make.n_records)
    )


def _breaks(make: Maker) -> str:
    rule = make.chance.choice(["<hr>", "<br><br>"])
    return (
        "<div>"
        + rule.join(
            f"<b{marked(n)}>{make.title()}</b><br>{make.about()}<br{marked(n)}>"
            f"<i{marked(n)}>{make.words(1, 3)}</i>"
            for n in range(make.n_records)
        )
        + "</div>"
    )


def _paragraphs(make: Maker) -> str:
    return "".join(
        f"<p{marked(n)}>{make.link(make.words(2, 7))}<br>{make.about()}<br>"
        f"{' '.join(make.extras())}</p>"
        for n in range(make.n_records)
    )


def _groups(make: Maker) -> str:
    pieces, number = [], 0
    for _ in range(make.number(2, 4)):
        n_here = make.number(2, 7)
        items = "".join(
            f"<li{marked(n)}><b>{make.words(1, 3)}</b> {make.about()}</li>"
            for n in range(number, number + n_here)
        )
        pieces.append(f"<h3>{make.words(1, 2)}</h3><ul>{items}</ul>")
        number += n_here
    return "".join(pieces)


def _hashed(make: Maker) -> str:
    return (
        "<div class=sc-1>"
        + "".join(
            f"<div class=sc-{make.number(100, 999)}{marked(n)}><div><div>{make.title()}</div>"
            f"<div>{make.about()}</div></div><div>{' '.join(make.extras())}</div></div>"
            for n in range(make.n_records)
        )
        + "</div>"
    )


def _posts(make: Maker) -> str:
    return "".join(
        f"<div{marked(n)}{make.named('post')}><b>{make.words(1, 2)}</b> {make.number(1, 23)}:00"
        + (f"<blockquote>{make.words(4, 20)}</blockquote>" if make.is_so(0.3) else "")
        + f"<p>{make.words(3, 60)}</p><ul><li>Reply<li>Quote</ul></div>"
        for n in range(min(make.n_records, 15))
    )


LAYOUTS: dict[str, Callable[[Maker], str]] = {
    "items": _items,
    "links": _links,
    "cards": _cards,
    "cards with lists": _cards_of_several,
    "cells": _grid,
    "rows": _rows,
    "double rows": _double_rows,
    "tables": _tables,
    "terms": _terms,
    "heads": _heads,
    "breaks": _breaks,
    "paragraphs": _paragraphs,
    "groups": _groups,
    "hashed": _hashed,
    "posts": _posts,
}


def _furnished(make: Maker, body: str) -> str:
    """Return a page around a body: menus, a sidebar, a pager, a foot."""
    menu = _menu(make, make.number(4, 9))
    side = _menu(make, make.number(5, 40), counted=True) if make.is_so(0.5) else ""
    pager = (
        "".join(make.link(str(n)) + " " for n in range(1, make.number(3, 9)))
        if make.is_so(0.5)
        else ""
    )
    foot = " | ".join(make.link(make.words(1, 2)) for _ in range(make.number(2, 8)))
    lead = f"<h1>{make.words(1, 4)}</h1><p>{make.words(3, 30)}</p>" if make.is_so(0.6) else ""
    form = "<form><input name=q><button>Search</button></form>" if make.is_so(0.5) else ""
    main = f"<div{make.named('main')}>{lead}{body}<div>{pager}</div></div>"
    if make.is_so(0.25):  # a page laid out by a table
        main = f"<table><tr><td valign=top>{side}<td>{main}</table>"
    else:
        main = f"{side}{main}" if make.is_so(0.5) else f"{main}{side}"
    head = f"<html><head><title>{make.words(1, 4)}</title>"
    return f"{head}<body>{menu}{form}{main}<div>{foot}</div></body></html>"


def _menu(make: Maker, n: int, *, counted: bool = False) -> str:
    def entry() -> str:
        return make.link(make.words(1, 2)) + (f" ({make.number(1, 99)})" if counted else "")

    match make.number(0, 2):
        case 0:
            return (
                f"<ul{make.named('menu')}>"
                + "".join(f"<li>{entry()}</li>" for _ in range(n))
                + "</ul>"
            )
        case 1:
            return "<table><tr>" + "".join(f"<td>{entry()}" for _ in range(n)) + "</table>"
        case _:
            return f"<div{make.named('links')}>" + "<br>".join(entry() for _ in range(n)) + "</div>"


def _without_a_list(make: Maker) -> str:
    match make.number(0, 4):
        case 0:
            return "".join(f"<p>{make.words(15, 90)}</p>" for _ in range(make.number(2, 9)))
        case 1:
            rows = "".join(
                f"<tr><th>{make.words(1, 2)}<td>{make.words(1, 3)}"
                for _ in range(make.number(3, 9))
            )
            return (
                f"<h1>{make.words(2, 4)}</h1><img "
                f"src=a.png><p>{make.words(20, 70)}</p><table>{rows}</table>"
            )
        case 2:
            fields = "".join(
                f"<label>{make.words(1, 2)}<input></label>" for _ in range(make.number(2, 9))
            )
            return f"<form>{fields}<button>Send</button></form>"
        case 3:
            return f"<p>Nothing was found for {make.words(1, 2)}.</p><p>{make.words(5, 25)}</p>"
        case _:
            return f"<p>1 result</p>{_card(make, 0)}".replace(marked(0), "")


def made_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages of every layout with its name, and pages without a list, named by a blank."""
    for place, (name, layout) in enumerate(LAYOUTS.items()):
        for number in range(N_OF_A_LAYOUT):
            make = Maker(100 * place + number)
            yield name, _furnished(make, layout(make))
    for number in range(N_EMPTY):
        make = Maker(10_000 + number)
        yield "", _furnished(make, _without_a_list(make))
