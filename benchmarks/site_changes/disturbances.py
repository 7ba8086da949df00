"""What happens to sites beside new versions: outages, walls, other languages, designs on trial."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Final, NamedTuple

from lxml import html
from lxml.html import HtmlElement

from benchmarks.redesigns.cases import Edition, PageVersion
from clustering.dom.page import parse_page
from monitoring.algorithms.lost_pages import FIRST_DENSE_LETTER

CALM: Final = frozenset({"as_it_was", "content_changed"})
SILENT: Final = frozenset({"unreachable", "undecided"})
UNDECIDED: Final = frozenset({"undecided"})
REDESIGNED: Final = frozenset({"redesigned"})
UTF8: Final = "text/html; charset=utf-8"
N_TEASER_CHARS: Final = 160
FIRST_SIGN, N_SIGNS = 0x4E00, 0x4000
_WORD = re.compile(r"[^\W\d_]{2,}")
_AMOUNT = re.compile(r"\$\s?\d[\d,]*(\.\d+)?")

Change = Callable[[Edition, Mapping[str, Edition]], Edition]


class Disturbance(NamedTuple):
    """Something that happens to a site, made of its first version or a later one."""

    name: str
    right_states: frozenset[str]
    of: Change


@dataclass(frozen=True)
class Answering:
    """What some of a version's pages answer in their place."""

    answer: Callable[[PageVersion, Edition], PageVersion]
    share: float = 1.0
    version: str = ""  # blank: the first one

    def __call__(self, first: Edition, later: Mapping[str, Edition]) -> Edition:
        edition = later[self.version] if self.version else first
        chance = random.Random(f"{self.share} {self.version}")
        return {
            path: self.answer(page, edition) if chance.random() < self.share else page
            for path, page in sorted(edition.items())
        }


@dataclass(frozen=True)
class Tested:
    """A new design that some of the pages are shown in."""

    share: float
    version: str = "v4"

    def __call__(self, first: Edition, later: Mapping[str, Edition]) -> Edition:
        chance = random.Random(f"tested {self.share}")
        return {
            path: later[self.version].get(path, page) if chance.random() < self.share else page
            for path, page in sorted(first.items())
        }


def _shown(body: str, status: int = 200) -> Callable[[PageVersion, Edition], PageVersion]:
    def answer(page: PageVersion, _edition: Edition) -> PageVersion:
        return replace(
            page, body=body.encode(), status=status, values={}, lines=(), content_type=UTF8
        )

    return answer


def _page(title: str, body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>"


def _home(page: PageVersion, edition: Edition) -> PageVersion:
    home = edition.get("/") or next(iter(edition.values()))
    return replace(page, body=home.body, values={}, lines=(), content_type=home.content_type)


def _teaser_wall(page: PageVersion, _edition: Edition) -> PageVersion:
    """Keep the title and the first words of a page, and ask for a password instead of the rest."""
    tree = _tree(page)
    title = " ".join("".join(map(str, e.itertext())) for e in tree.iter("title"))
    heading = " ".join("".join(map(str, e.itertext())) for e in tree.iter("h1"))
    paragraphs = ["".join(map(str, e.itertext())) for e in tree.iter("p")]
    teaser = max(paragraphs, key=len, default="")[:N_TEASER_CHARS]
    form = '<form><input name="u"><input type="password" name="p"><button>OK</button></form>'
    body = (
        f"<h1>{escape(heading)}</h1><p>{escape(teaser)}</p><section>Sisu on ainult "
        f"liikmetele.{form}</section>"
    )
    return _shown(_page(escape(title), body))(page, {})


def _shell(page: PageVersion, _edition: Edition) -> PageVersion:
    title = " ".join("".join(map(str, e.itertext())) for e in _tree(page).iter("title"))
    return _shown(
        _page(escape(title), '<div id="root"></div><script src="/app.9f3c.js"></script>')
    )(page, {})


def _translated(page: PageVersion, _edition: Edition) -> PageVersion:
    """Write every word in letters of another language; numbers stay."""
    return _rewritten(page, lambda text: _WORD.sub(_other_word, text))


def _other_currency(page: PageVersion, _edition: Edition) -> PageVersion:
    return _rewritten(page, lambda text: _AMOUNT.sub(_in_crowns, text))


def _other_word(match: re.Match[str]) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    shifted = "оеаинтслвркмдпуяыьгзбчйхжш"
    word = match[0].casefold().translate(str.maketrans(letters, shifted))
    return "".join(
        _other_sign(letter) if letter >= FIRST_DENSE_LETTER else letter for letter in word
    )


def _other_sign(letter: str) -> str:
    return chr(FIRST_SIGN + 7 * ord(letter) % N_SIGNS)


def _in_crowns(match: re.Match[str]) -> str:
    amount = float(re.sub(r"[^\d.]", "", match[0]))
    return f"{amount * 23.4:,.0f} Kč".replace(",", " ")


def _rewritten(page: PageVersion, change: Callable[[str], str]) -> PageVersion:
    tree = _tree(page)
    for element in tree.iter():
        if not isinstance(element.tag, str) or element.tag in {"script", "style"}:
            continue
        element.text = change(element.text) if element.text else element.text
        element.tail = change(element.tail) if element.tail else element.tail
    body = b"<!DOCTYPE html>" + html.tostring(tree, encoding="utf-8")
    return replace(page, body=body, values={}, lines=(), content_type=UTF8)


def _tree(page: PageVersion) -> HtmlElement:
    parsed = parse_page(page.body, page.content_type)
    return html.document_fromstring("<p></p>") if parsed.tree is None else parsed.tree


_MAINTENANCE = _shown(_page("Huoltokatko", "<h1>Huoltokatko</h1><p>Palaamme pian takaisin.</p>"))
_CONSENT = _shown(
    _page("Zgoda", "<h1>Twoja prywatność</h1><p>Używamy plików cookie.</p><button>OK</button>")
)
_BOT_WALL = _shown(
    _page("Just a moment...", "<p>Verify you are human</p><div class='cf-challenge'></div>")
)

DISTURBANCES: Final = (
    Disturbance("all 503", SILENT, Answering(_shown("", 503))),
    Disturbance("maintenance", SILENT, Answering(_MAINTENANCE)),
    Disturbance("consent wall", SILENT, Answering(_CONSENT)),
    Disturbance("bot wall", SILENT, Answering(_BOT_WALL)),
    Disturbance("redirected home", SILENT, Answering(_home)),
    Disturbance("wall with teaser", SILENT, Answering(_teaser_wall)),
    Disturbance("empty shells", SILENT, Answering(_shell)),
    Disturbance("content, 30 % 503", CALM, Answering(_shown("", 503), 0.3, "v1")),
    Disturbance("content, 30 % maintenance", CALM, Answering(_MAINTENANCE, 0.3, "v1")),
    Disturbance("content, 30 % walls", CALM, Answering(_teaser_wall, 0.3, "v1")),
    Disturbance("redesign, 30 % 503", REDESIGNED, Answering(_shown("", 503), 0.3, "v4")),
    Disturbance("redesign, 70 % maintenance", SILENT, Answering(_MAINTENANCE, 0.7, "v4")),
    Disturbance("other language", UNDECIDED, Answering(_translated)),
    Disturbance("redesign in another language", UNDECIDED, Answering(_translated, 1.0, "v4")),
    Disturbance("other currency", CALM, Answering(_other_currency)),
    Disturbance("new design for 20 %", UNDECIDED, Tested(0.2)),
    Disturbance("new design for 50 %", UNDECIDED, Tested(0.5)),
)
