"""Made-up sites with things that have values, and looks in which they are shown."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from html import escape
from typing import Final, NamedTuple

WORDS: Final = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "juniper",
    "kestrel",
    "lantern",
    "meadow",
    "north",
    "opal",
    "prairie",
    "quartz",
    "river",
    "summit",
    "timber",
    "upland",
    "valley",
    "willow",
    "yarrow",
    "zephyr",
    "anchor",
    "bridge",
    "canyon",
    "dawn",
)
AD_WORDS: Final = (
    "sale",
    "now",
    "click",
    "winter",
    "offer",
    "save",
    "today",
    "best",
    "deal",
    "subscribe",
    "club",
    "free",
    "gift",
)


class Attribute(NamedTuple):
    name: str
    type: str
    label: str
    is_constant: bool = False
    is_mandatory: bool = False
    share: float = 1.0  # of the things that have it


KINDS: Final[dict[str, tuple[Attribute, ...]]] = {
    "product": (
        Attribute("name", "text", "", True, True),
        Attribute("brand", "text", "Brand", True),
        Attribute("sku", "text", "Item no.", True, True),
        Attribute("price", "price", "Our price", False, True),
        Attribute("list_price", "price", "List price", share=0.7),
        Attribute("stock", "number", "In stock"),
    ),
    "book": (
        Attribute("title", "text", "", True, True),
        Attribute("author", "text", "Author", True, True),
        Attribute("isbn", "text", "ISBN", True),
        Attribute("price", "price", "Price", False, True),
        Attribute("list_price", "price", "RRP", share=0.8),
        Attribute("pages", "number", "Pages", True, share=0.9),
    ),
    "event": (
        Attribute("title", "text", "", True, True),
        Attribute("venue", "text", "Venue", True, True),
        Attribute("date", "date", "Date", True),
        Attribute("price", "price", "Members", False, True),
        Attribute("list_price", "price", "At the door", share=0.8),
        Attribute("seats", "number", "Seats left"),
    ),
}


def words(chance: random.Random, n: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(n))


def make_values(kind: str, number: int, chance: random.Random) -> dict[str, str]:
    """Return the values of a thing in the first week."""
    price = chance.uniform(8, 300)
    pages = {
        "name": f"{words(chance, 2).title()} {number}",
        "title": f"{words(chance, 3).title()} {number}",
        "brand": words(chance, 1).title(),
        "author": words(chance, 2).title(),
        "venue": f"{words(chance, 1).title()} Hall",
        "sku": f"{chance.choice('ABCD')}-{chance.randrange(10**5):05}",
        "isbn": f"978-{chance.randrange(10**9):09}-{chance.randrange(10)}",
        "date": f"{chance.randrange(1, 29)} March 2026",
        "price": f"€{price:.2f}",
        "list_price": f"€{price * chance.uniform(1.05, 1.5):.2f}",
        "stock": str(chance.randrange(90)),
        "seats": str(chance.randrange(400)),
        "pages": str(chance.randrange(90, 900)),
    }
    return {
        attribute.name: pages[attribute.name]
        for attribute in KINDS[kind]
        if chance.random() < attribute.share
    }


def drifted(values: dict[str, str], chance: random.Random, share: float) -> dict[str, str]:
    """Return the values some time later: counts move always, prices of a share of the things."""
    later = dict(values)
    for name in ("stock", "seats"):
        if name in later:
            later[name] = str(max(0, int(later[name]) + chance.randrange(-9, 10)))
    if chance.random() < share:
        factor = chance.choice([0.9, 0.95, 1.04, 1.1])
        for name in {"price", "list_price"} & set(later):
            later[name] = times(later[name], factor)
    return later


def in_a_sale(values: dict[str, str]) -> dict[str, str]:
    """Return the values of a thing whose price is a fifth lower for some time."""
    return values | {"price": times(values["price"], 0.8)}


def without_tax(values: dict[str, str], tax: float) -> dict[str, str]:
    """Return the values of a thing whose prices are those without a tax, such as 1.19."""
    prices = {"price", "list_price"} & set(values)
    return values | {name: times(values[name], 1 / tax) for name in prices}


def times(price: str, factor: float) -> str:
    return f"€{float(price[1:]) * factor:.2f}"


@dataclass(frozen=True)
class Look:
    """A template, drawn at random."""

    prefix: str
    heading: str
    field_form: str  # how a label and its value stand
    order: tuple[str, ...]
    n_wrappers: int
    has_sidebar_first: bool
    classes: dict[str, str] = field(default_factory=dict)


def draw_look(kind: str, chance: random.Random) -> Look:
    names = [attribute.name for attribute in KINDS[kind]][1:]
    chance.shuffle(names)
    return Look(
        prefix="".join(chance.choice("bcdfghklmnprst") for _ in range(3)),
        heading=chance.choice(["h1", "h2", "div"]),
        field_form=chance.choice(["rows", "list", "spans", "terms"]),
        order=tuple(names),
        n_wrappers=chance.randrange(1, 4),
        has_sidebar_first=chance.random() < 0.5,
        classes={name: f"{words(chance, 1)}-{chance.randrange(100)}" for name in ["title", *names]},
    )


@dataclass
class Week:
    """What is about all pages of a week."""

    seed: int
    has_ads: bool = False
    has_banner: bool = False
    has_reviews: bool = False
    extra_class: str = ""
    is_swapped: bool = False


def detail_page(kind: str, look: Look, values: dict[str, str], week: Week, number: int) -> str:
    """Return a page on which each value's element carries data-v with the name of its attribute."""
    chance = random.Random(f"{week.seed}-{number}")
    main = [
        _title(kind, look, values),
        *_sections(chance, week, 0),
        _fields(kind, look, values, week),
    ]
    main += [f'<div class="{look.prefix}-text">{escape(words(chance, 30))}</div>']
    main += _sections(chance, week, 1)
    if week.has_reviews:
        reviews = [
            f"<li><b>{words(chance, 1)}</b> {words(chance, 12)}</li>" for _ in range(number % 4 + 1)
        ]
        main.append(f'<ul class="{look.prefix}-reviews">{"".join(reviews)}</ul>')
    inner = "".join(main)
    for level in range(look.n_wrappers):
        inner = f'<div class="{look.prefix}-{level}">{inner}</div>'
    return frame(look, week, inner, values.get("name") or values.get("title", ""), chance)


def listing_page(look: Look, things: list[dict[str, str]], week: Week, number: int) -> str:
    chance = random.Random(f"{week.seed}-list-{number}")
    rows = [
        f'<li><a href="/d/{place}">{escape(next(iter(thing.values())))}</a> '
        f"<i>{thing['price']}</i></li>"
        for place, thing in enumerate(things)
    ]
    inner = (
        f'<h2>{words(chance, 1).title()}</h2><ol class="{look.prefix}-list">{"".join(rows)}</ol>'
    )
    return frame(look, week, inner, f"List {number}", chance)


def frame(look: Look, week: Week, inner: str, title: str, chance: random.Random) -> str:
    side = "".join(
        f'<p><a href="/d/{chance.randrange(20)}">{words(chance, 2)}</a> '
        f"€{chance.uniform(8, 300):.2f}</p>"
        for _ in range(3)
    )
    aside = f'<div class="{look.prefix}-side">{side}</div>'
    main = f'<div id="{look.prefix}main" class="{look.prefix}-main{week.extra_class}">{inner}</div>'
    body = aside + main if look.has_sidebar_first else main + aside
    banner = (
        f'<div class="banner{week.seed % 7}">{words(chance, 4)}</div>' if week.has_banner else ""
    )
    links = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS[:5])
    return (
        f"<!DOCTYPE html><html><head><title>{escape(title)}</title>"
        f'<link rel="stylesheet" href="/css/{week.seed}.css"></head><body>{banner}'
        f'<ul class="{look.prefix}-nav">{links}</ul>{body}'
        f'<div class="foot">week {week.seed}</div>'
        "</body></html>"
    )


def _sections(chance: random.Random, week: Week, place: int) -> list[str]:
    if not week.has_ads or chance.random() < 0.4:
        return []
    text = " ".join(chance.choice(AD_WORDS) for _ in range(6))
    inner = (
        f'<a href="/ad"><img src="/ad{place}.png" '
        f'alt="">{text}</a><b>€{chance.uniform(5, 99):.2f}</b>'
    )
    return [f'<div class="ad"><div>{inner}</div></div>']


def _title(kind: str, look: Look, values: dict[str, str]) -> str:
    name = KINDS[kind][0].name
    mark = f'class="{look.classes["title"]}" data-v="{name}"'
    return f"<{look.heading} {mark}>{escape(values[name])}</{look.heading}>"


def _fields(kind: str, look: Look, values: dict[str, str], week: Week) -> str:
    labels = {attribute.name: attribute.label for attribute in KINDS[kind]}
    shown = dict(values)
    if week.is_swapped and "list_price" in shown:
        shown["price"], shown["list_price"] = shown["list_price"], shown["price"]
    rows = [(name, labels[name], shown[name]) for name in look.order if name in shown]
    created = [_field(look, name, label, value) for name, label, value in rows]
    outer = {"rows": "table", "list": "ul", "spans": "div", "terms": "dl"}[look.field_form]
    return f'<{outer} class="{look.prefix}-fields">{"".join(created)}</{outer}>'


def _field(look: Look, name: str, label: str, value: str) -> str:
    mark = f'class="{look.classes[name]}" data-v="{name}"'
    text = escape(value)
    return {
        "rows": f"<tr><th>{label}</th><td {mark}>{text}</td></tr>",
        "list": f"<li><b>{label}:</b> <span {mark}>{text}</span></li>",
        "spans": f"<p><span>{label}</span> <strong {mark}>{text}</strong></p>",
        "terms": f"<dt>{label}</dt><dd {mark}>{text}</dd>",
    }[look.field_form]
