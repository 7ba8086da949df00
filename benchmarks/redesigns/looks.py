"""Templates for values of generated pages, drawn at random; none was looked at in development."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from benchmarks.hold_out.pages import Maker

FORMS: Final = ("rows", "terms", "labelled", "cards")
LONG: Final = 60  # characters from which a value is a paragraph of its own


@dataclass(frozen=True)
class Template:
    """How a kind of pages looks."""

    kind: str
    prefix: str
    heading: str
    form: str
    manys: str  # how several values stand
    seed: str
    n_wrappers: int
    has_sidebar_first: bool
    sections: frozenset[str]  # attributes with several values or long ones

    def page(self, values: Mapping[str, Sequence[str]]) -> bytes:
        """Return a page that shows these values."""
        title = values["name"][0]
        make = Maker(f"{self.seed}-{title}")
        names = sorted(
            (name for name in values if name != "name"), key=lambda name: _rank(self.seed, name)
        )
        single = [name for name in names if name not in self.sections]
        facts = "".join(self._fact(name, values[name][0]) for name in single)
        outer = {"rows": "table", "terms": "dl", "labelled": "ul", "cards": "div"}[self.form]
        parts = [f'<{outer} class="{self.prefix}-facts">{facts}</{outer}>']
        parts += [self._section(name, values[name]) for name in names if name not in single]
        inner = (
            f"<{self.heading} "
            f'class="{self.prefix}-name">{escape(title)}</{self.heading}>{"".join(parts)}'
        )
        for level in range(self.n_wrappers):
            inner = f'<div class="{self.prefix}-{level}">{inner}</div>'
        side = "".join(f"<li>{make.title()} <i>{make.number(1, 900)}</i></li>" for _ in range(4))
        aside = f'<section class="{self.prefix}-more"><h4>See also</h4><ul>{side}</ul></section>'
        body = aside + inner if self.has_sidebar_first else inner + aside
        return (
            "<!doctype html><html><head><meta "
            f"charset=utf-8><title>{escape(title)}</title></head><body>"
            f'<div class="{self.prefix}-top"><a href="/">Home</a> <a '
            f'href="/list/0">All</a></div>{body}'
            f'<div class="{self.prefix}-end">{make.sentence()}</div></body></html>'
        ).encode()

    def _fact(self, name: str, value: str) -> str:
        label, mark, text = (
            _label(name),
            f'class="{self.prefix}-{_rank(self.seed, name):x}"',
            escape(value),
        )
        return {
            "rows": f"<tr><td>{label}</td><td {mark}>{text}</td></tr>",
            "terms": f"<dt>{label}</dt><dd {mark}>{text}</dd>",
            "labelled": f"<li><em>{label}</em>: <b {mark}>{text}</b></li>",
            "cards": f"<div><small>{label}</small><div {mark}>{text}</div></div>",
        }[self.form]

    def _section(self, name: str, values: Sequence[str]) -> str:
        if max(map(len, values)) >= LONG:
            shown = "".join(f"<p>{escape(value)}</p>" for value in values)
        elif self.manys == "list":
            shown = "<ol>" + "".join(f"<li>{escape(value)}</li>" for value in values) + "</ol>"
        else:
            shown = "<p>" + " ".join(f"<span>{escape(value)}</span>" for value in values) + "</p>"
        return (
            "<div "
            f'class="{self.prefix}-{_rank(self.seed, name):x}"><h3>{_label(name)}</h3>{shown}</div>'
        )


def draw_template(
    kind: str,
    pages: Iterable[Mapping[str, Sequence[str]]],
    multi: Collection[str],
    chance: random.Random,
) -> Template:
    """Return a template by chance for pages with these values."""
    long = {
        name
        for values in pages
        for name, own in values.items()
        if max(map(len, own), default=0) >= LONG
    }
    return Template(
        kind,
        "".join(chance.choice("bcdfghjklmnpqrst") for _ in range(4)),
        chance.choice(["h1", "h2", "strong"]),
        chance.choice(FORMS),
        chance.choice(["list", "spans"]),
        f"{kind}-{chance.random()}",
        chance.randrange(1, 4),
        chance.random() < 0.5,
        frozenset({*multi, *long}),
    )


def listing(names: Sequence[str], *, is_new: bool) -> bytes:
    """Return a page that lists things."""
    rows = "".join(f"<li><a href='/x/{n}'>{escape(name)}</a></li>" for n, name in enumerate(names))
    shown = (
        f"<main><section class=all><ol>{rows}</ol></section></main>"
        if is_new
        else f"<ul>{rows}</ul>"
    )
    return (
        f"<!doctype html><html><head><title>All</title></head><body>{shown}</body></html>".encode()
    )


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _rank(seed: str, name: str) -> int:
    return random.Random(f"{seed}-{name}").randrange(4096)
