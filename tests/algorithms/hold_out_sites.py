"""Two made-up sites in styles of their own, on which the default clusterer was not developed.

A museum shows its collection in nested tables of the nineties, at addresses of a script. A jobs
portal is a soup of `div` elements with hashed class names, at addresses that are mere numbers. Both
have pages that were removed but answer as the others do, optional parts, and near-twins.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import md5

SYLLABLES = (
    "an",
    "be",
    "cor",
    "du",
    "el",
    "fi",
    "gar",
    "hem",
    "is",
    "jo",
    "ka",
    "lun",
    "mor",
    "ne",
    "ol",
    "pa",
    "qui",
    "ro",
    "sel",
    "tam",
    "ur",
    "vin",
    "wa",
    "xe",
    "yl",
    "zo",
)
MATERIALS = (
    "Oil on canvas",
    "Tempera on wood",
    "Ink on paper",
    "Bronze",
    "Marble",
    "Chalk on paper",
)
FORMS = ("Full time", "Part time", "Freelance")


@dataclass(frozen=True)
class MadePage:
    url: str
    body: bytes
    type: str


@dataclass
class Site:
    """Pages of a site while it is being made."""

    chance: random.Random
    pages: list[MadePage] = field(default_factory=list)

    def words(self, least: int, most: int) -> str:
        n = self.chance.randint(least, most)
        return " ".join(
            "".join(self.chance.choices(SYLLABLES, k=self.chance.randint(2, 3))) for _ in range(n)
        )

    def name(self) -> str:
        return self.words(2, 2).title()

    def is_lucky(self, share: float) -> bool:
        return self.chance.random() < share


def make_museum(seed: int = 0) -> list[MadePage]:
    """Return museum pages: works, prints with edition, artists, rooms, shows, letters, errors."""
    site = Site(random.Random(f"museum {seed}"))
    works = [f"http://museum.example/coll.asp?nr={number}" for number in range(1001, 1141)]
    artists = [f"http://museum.example/artist.asp?nr={number}" for number in range(31)]
    for number, url in enumerate(works):
        is_print = number % 6 == 0
        body = _work(site, artists, is_print)
        site.pages.append(_museum_page(site, url, "print" if is_print else "work", body))
    for url in artists:
        site.pages.append(_museum_page(site, url, "artist", _artist(site, works)))
    for number in range(18):
        url = f"http://museum.example/room.asp?floor={number // 6}&room={number % 6}"
        site.pages.append(_museum_page(site, url, "room", _room(site, works)))
    for number in range(14):
        url = f"http://museum.example/shows/{number + 1987}.htm"
        site.pages.append(_museum_page(site, url, "show", _show(site)))
    for number in range(9):
        url = f"http://museum.example/letter/{number:03}.htm"
        site.pages.append(_museum_page(site, url, "letter", _letter(site)))
    for number in range(5):
        url = f"http://museum.example/coll.asp?nr={9000 + number}"
        gone = (
            "<font color=red>No work has this number.</font><p>Please use the <a "
            "href=/index.asp>index</a>."
        )
        site.pages.append(_museum_page(site, url, "missing", gone))
    welcome = "<center><img src=/front.gif><p>Open daily except Monday</center>"
    site.pages.append(_museum_page(site, "http://museum.example/index.asp", "home", welcome))
    return site.pages


def _museum_page(site: Site, url: str, type_: str, body: str) -> MadePage:
    menu = "".join(
        f'<tr><td bgcolor=#003366><a href="/{word}.asp"><font '
        f"color=white>{word.title()}</font></a></td></tr>"
        for word in (
            "collection",
            "artists",
            "rooms",
            "shows",
            "letters",
            "shop",
            "visit",
            "friends",
        )
    )
    html = (
        "<html><head><title>City museum</title></head><body bgcolor=white><table "
        "width=760><tr><td colspan=2>"
        f"<img src=/top.gif></td></tr><tr><td width=120 valign=top><table>{menu}</table></td>"
        f"<td valign=top>{body}</td></tr><tr><td colspan=2><font size=1>Counter: "
        f"{site.chance.randint(1000, 99999)}</font></td></tr></table></body></html>"
    )
    return MadePage(url, html.encode(), type_)


def _rows(site: Site, rows: Sequence[tuple[str, str, float]]) -> str:
    shown = "".join(
        f"<tr><td align=right><font size=2><b>{label}</b></font></td><td><font "
        f"size=2>{value}</font></td></tr>"
        for label, value, share in rows
        if site.is_lucky(share)
    )
    return f"<table cellpadding=2>{shown}</table>"


def _work(site: Site, artists: Sequence[str], is_print: bool) -> str:  # a builder's own  # noqa: FBT001 - a test's own builder
    chance = site.chance
    artist = f'<a href="{chance.choice(artists)}">{site.name()}</a>'
    rows = [
        ("Artist", artist, 1.0),
        ("Date", str(chance.randint(1480, 1950)), 0.95),
        ("Material", chance.choice(MATERIALS), 0.0 if is_print else 1.0),
        ("Size", f"{chance.randint(10, 300)} x {chance.randint(10, 300)} cm", 0.9),
        ("Given by", site.name(), 0.4),
        ("Inventory", f"{chance.randint(1, 99)}.{chance.randint(1, 999)}", 1.0),
    ]
    body = (
        f"<font size=4><i>{site.words(2, 5)}</i></font><br><img "
        f"src=/w/{chance.randint(1, 999)}.jpg>"
    )
    body += _rows(site, rows)
    if is_print:
        states = "".join(
            f"<tr><td>{state}</td><td><tt>{chance.randint(5, 200)}</tt></td><td><em>{site.name()}</em></td></tr>"
            for state in ("First", "Second", "Third")[: chance.randint(1, 3)]
        )
        head = "<tr><th>State</th><th>Impressions</th><th>Printer</th></tr>"
        body += f"<h5>Edition</h5><table border=1>{head}{states}</table><h5>Plate</h5><tt>{site.words(2, 4)}</tt>"
    if site.is_lucky(0.5):
        body += f"<p><font face=times>{site.words(30, 90)}</font></p>"
    if site.is_lucky(0.3):
        body += (
            "<b>Shown at</b><ul>" + "".join(f"<li>{site.words(2, 4)}" for _ in range(2)) + "</ul>"
        )
    return body


def _artist(site: Site, works: Sequence[str]) -> str:
    chance = site.chance
    born = chance.randint(1440, 1900)
    body = (
        f"<h2>{site.name()}</h2><i>{born} - {born + chance.randint(25, 90)}, "
        f"{site.words(1, 1).title()}</i>"
    )
    if site.is_lucky(0.6):
        body += f"<p>{site.words(40, 120)}"
    selection = chance.sample(list(works), chance.randint(2, 9))
    cells = "".join(
        f'<td><a href="{url}"><img src=/t.gif></a><br><small>{site.words(2, 3)}</small></td>'
        for url in selection
    )
    return body + f"<hr><b>Works in the collection:</b><table><tr>{cells}</tr></table>"


def _room(site: Site, works: Sequence[str]) -> str:
    selection = site.chance.sample(list(works), site.chance.randint(5, 14))
    listed = "".join(
        f'<dt><a href="{url}">{site.words(2, 4)}</a><dd>{site.name()}, '
        f"wall {site.chance.randint(1, 4)}"
        for url in selection
    )
    return f"<h3>Room of {site.words(1, 2)}</h3><img src=/plan.gif usemap=#m><dl>{listed}</dl>"


def _show(site: Site) -> str:
    chance = site.chance
    when = (
        f"{chance.randint(1, 28)}.{chance.randint(1, 6)}. "
        f"to {chance.randint(1, 28)}.{chance.randint(7, 12)}."
    )
    body = f"<center><h1>{site.words(2, 4)}</h1><h4>{when}</h4></center><blockquote>{site.words(40, 100)}"
    return (
        body + f"</blockquote><pre>Admission {chance.randint(3, 12)}\nCatalogue "
        f"{chance.randint(15, 60)}</pre>"
    )


def _letter(site: Site) -> str:
    parts = "".join(
        f"<p align=justify>{site.words(20, 70)}" for _ in range(site.chance.randint(2, 6))
    )
    return f"<p align=right>{site.name()}<br>{site.chance.randint(1800, 1900)}</p>{parts}<p><i>{site.name()}</i>"


def make_jobs(seed: int = 0) -> list[MadePage]:
    """Return job portal pages: jobs, employers, results, advice, salaries, events, expired jobs."""
    site = Site(random.Random(f"jobs {seed}"))
    numbers = [str(number) for number in site.chance.sample(range(10**6, 10**7), 400)]
    jobs, employers, others = numbers[:150], numbers[150:190], numbers[190:]
    for number in jobs:
        site.pages.append(_portal_page(site, number, "job", _job(site, employers, jobs)))
    for number in employers:
        site.pages.append(_portal_page(site, number, "employer", _employer(site, jobs)))
    kinds = (("results", 30), ("advice", 25), ("salary", 16), ("event", 12), ("expired", 6))
    for type_, n in kinds:
        for number in others[:n]:
            site.pages.append(_portal_page(site, number, type_, _other(site, type_, jobs)))
        others = others[n:]
    start = _div(
        "hero", _div("h", "Find work") + _div("box", "<input name=q><button>Search</button>")
    )
    site.pages.append(_portal_page(site, "", "home", start + _cards(site, jobs, 4)))
    return site.pages


def _div(name: str, inner: str) -> str:
    return f'<div class="css-{md5(name.encode()).hexdigest()[:6]}">{inner}</div>'


def _portal_page(site: Site, number: str, type_: str, body: str) -> MadePage:
    menu = "".join(_div("nav", f'<a href="/{100 + n}">Menu {n}</a>') for n in range(24))
    sign = _div("modal", _div("txt", "Sign in") + "<form><input><input type=password></form>")
    foot = _div(
        "foot", "".join(_div("fl", f'<a href="/{900 + n}">Legal {n}</a>') for n in range(12))
    )
    banner = _div("ban", _div("txt", site.words(3, 8))) if site.is_lucky(0.3) else ""
    html = (
        f"<!doctype html><title>Jobs</title><body>"
        f"{_div('root', _div('top', menu) + sign + banner + _div('main', body) + foot)}"
    )
    return MadePage(f"https://jobs.example/{number}", html.encode(), type_)


def _cards(site: Site, jobs: Sequence[str], n: int) -> str:
    return "".join(
        _div("card", f'<a href="/{number}">{site.words(2, 4)}</a>' + _div("sub", site.name()))
        for number in site.chance.sample(list(jobs), n)
    )


def _pair(label: str, value: str) -> str:
    return _div("row", _div("lab", label) + _div("val", value))


def _job(site: Site, employers: Sequence[str], jobs: Sequence[str]) -> str:
    chance = site.chance
    head = _div("h", site.words(2, 5)) + _div(
        "by", f'<a href="/{chance.choice(employers)}">{site.name()}</a>'
    )
    rows = _pair("Place", site.words(1, 1).title()) + _pair("Contract", chance.choice(FORMS))
    if site.is_lucky(0.6):
        rows += _pair("Pay", f"{chance.randint(20, 90)},000")
    if site.is_lucky(0.8):
        rows += _pair("Start", f"{chance.randint(1, 28)}.{chance.randint(1, 12)}.")
    body = head + _div("facts", rows)
    for title, share in (("Tasks", 1.0), ("Profile", 0.9), ("We offer", 0.7), ("Your team", 0.3)):
        if site.is_lucky(share):
            items = "".join(_div("li", site.words(3, 9)) for _ in range(chance.randint(2, 6)))
            body += _div("sec", _div("st", title) + _div("ul", items))
    body += _div(
        "apply", "<button>Apply</button>" + _div("ref", f"Ref {chance.randint(1000, 9999)}")
    )
    if site.is_lucky(0.5):
        body += _div("sim", _div("st", "Similar jobs") + _cards(site, jobs, 3))
    return body


def _employer(site: Site, jobs: Sequence[str]) -> str:
    chance = site.chance
    rows = _pair("Industry", site.words(1, 2)) + _pair("Employees", str(chance.randint(5, 5000)))
    if site.is_lucky(0.7):
        rows += _pair("Founded", str(chance.randint(1850, 2020)))
    reviews = "".join(
        _div("rev", _div("stars", str(chance.randint(1, 5))) + _div("rt", site.words(8, 30)))
        for _ in range(chance.randint(0, 4))
    )
    body = _div("logo", "<img src=/l.png>") + _div("h", site.name()) + _div("facts", rows)
    body += _div("about", _div("p", site.words(30, 80)))
    return (
        body + _div("revs", reviews) + _div("open", _div("st", "Open jobs") + _cards(site, jobs, 2))
    )


def _other(site: Site, type_: str, jobs: Sequence[str]) -> str:
    chance = site.chance
    if type_ == "results":
        count = _div("cnt", f"{chance.randint(10, 900)} jobs")
        return count + _div("grid", _cards(site, jobs, chance.randint(5, 15)))
    if type_ == "advice":
        parts = "".join(_div("p", site.words(30, 70)) for _ in range(chance.randint(3, 8)))
        return (
            _div("h", site.words(4, 8))
            + _div("date", f"{chance.randint(1, 28)} May")
            + _div("art", parts)
        )
    if type_ == "salary":
        bars = "".join(
            _div("bar", _div("bl", level) + _div("bv", str(chance.randint(20, 120))))
            for level in ("Junior", "Middle", "Senior")
        )
        return (
            _div("h", f"Pay of {site.words(1, 2)}")
            + _div("chart", bars)
            + _div("p", site.words(15, 30))
        )
    if type_ == "event":
        rows = _pair("When", f"{chance.randint(1, 28)} June") + _pair("Where", site.words(1, 2))
        stands = "".join(_div("stand", f"{site.name()}") for _ in range(chance.randint(3, 12)))
        return _div("h", site.words(2, 4)) + _div("facts", rows) + _div("stands", stands)
    return _div(
        "gone", _div("h", "This job has expired") + _div("p", "Look at our newest jobs instead.")
    )
