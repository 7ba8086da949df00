"""Town Guide: businesses in nested tables, unclosed tags and windows-1252, as in the 1990s."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote_plus

from vertex.demo.sites import pictures
from vertex.demo.sites.builder import Builder, paged
from vertex.demo.sites.site import SESSION, Asset, DemoPage, DemoSite, Query, Values
from vertex.demo.sites.town_guide import places
from vertex.demo.sites.words import days_before, paragraph, slug_of

FOLDER = Path(__file__).parent
VERTICAL = {
    "name": "demo_business",
    "attributes": [
        {"name": "name", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "telephone", "type": "phone", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "faxNumber",
            "type": "phone",
            "constant": True,
            "mandatory": False,
            "multi": False,
        },
        {
            "name": "streetAddress",
            "type": "text",
            "constant": True,
            "mandatory": True,
            "multi": False,
        },
        {
            "name": "addressLocality",
            "type": "text",
            "constant": True,
            "mandatory": True,
            "multi": False,
        },
        {"name": "postalCode", "type": "zip", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "openingHours",
            "type": "text",
            "constant": False,
            "mandatory": False,
            "multi": True,
        },
        {
            "name": "paymentAccepted",
            "type": "text",
            "constant": False,
            "mandatory": False,
            "multi": True,
        },
        {
            "name": "ratingValue",
            "type": "rating",
            "constant": False,
            "mandatory": False,
            "multi": False,
        },
        {"name": "website", "type": "url", "constant": True, "mandatory": False, "multi": False},
        {"name": "category", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "description",
            "type": "text",
            "constant": True,
            "mandatory": False,
            "multi": False,
        },
    ],
}
SEARCHES = ["coffee", "lobster", "dentist", "parking free", "müller"]
N_EVENTS = 30
OFFICE_PHONE = "(207) 555-0199"


@dataclass(frozen=True)
class Business:
    number: int
    name: str
    category: str
    category_number: int
    phone: str
    fax: str | None
    street: str
    town: str
    zip: str
    hours: list[str]
    payment: list[str]
    rating: str | None
    website: str | None
    about: str | None
    photo: str | None
    comments: list[tuple[str, str, str]]
    rooms: list[tuple[str, str]]

    @property
    def path(self) -> str:
        return f"/{'stay' if self.rooms else 'listing'}.asp?id={self.number}"

    @property
    def values(self) -> Values:
        return {
            "name": self.name,
            "telephone": self.phone,
            "faxNumber": self.fax,
            "streetAddress": self.street,
            "addressLocality": self.town,
            "postalCode": self.zip,
            "openingHours": self.hours or None,
            "paymentAccepted": self.payment or None,
            "ratingValue": self.rating,
            "website": self.website,
            "category": self.category,
            "description": self.about,
        }

    @property
    def short(self) -> Values:
        return {
            "name": self.name,
            "streetAddress": self.street,
            "addressLocality": self.town,
            "telephone": self.phone,
        }


def build(edition: str) -> DemoSite:
    """Return the guide in one of its editions."""
    businesses = drifted(make_businesses(), edition)
    builder = Builder(
        FOLDER / "templates",
        edition,
        "windows-1252",
        "text/html",
        {"categories": places.CATEGORIES, "towns": places.TOWNS, "office_phone": OFFICE_PHONE},
    )
    guide = Guide(builder, businesses)
    guide.add_all()
    return DemoSite(
        name="town-guide",
        title="Pelican Bay Town Guide",
        edition=edition,
        vertical=VERTICAL,
        pages=builder.pages,
        assets=make_assets(),
        redirects={"/index.html": "/", "/guide/map.htm": "/town.asp?zip=04610"},
        queries=make_queries(businesses),
        search=guide.search,
        missing=guide.missing,
        dead_links=frozenset({"/weather.asp", "/webcam/harbor.htm"}),
        forbidden=("/admin.asp",),
        untouched="event",
    )


def make_businesses() -> list[Business]:
    rng = Random("town-guide")
    names: set[str] = set()
    plain = [make_business(rng, 1001 + 7 * number, names, is_stay=False) for number in range(143)]
    stays = [make_business(rng, 5003 + 3 * number, names, is_stay=True) for number in range(27)]
    return plain + stays


def make_business(rng: Random, number: int, names: set[str], *, is_stay: bool) -> Business:
    category, title, nouns = (
        (0, "Lodging", places.STAY_NOUNS) if is_stay else rng.choice(places.CATEGORIES)
    )
    town, code = rng.choice(places.TOWNS)
    name = new_name(rng, nouns, town, names)
    return Business(
        number=number,
        name=name,
        category=title,
        category_number=category,
        phone=phone_number(rng),
        fax=phone_number(rng) if rng.random() < 0.3 else None,
        street=f"{rng.randrange(1, 480)} {rng.choice(places.STREETS)}",
        town=town,
        zip=code,
        hours=rng.choice([[], *places.HOURS]),
        payment=rng.sample(places.PAYMENTS, rng.choice([0, 1, 2, 3, 5])),
        rating=f"{rng.randrange(20, 51) / 10:.1f}" if rng.random() < 0.75 else None,
        website=f"www.{slug_of(name)[:24].strip('-')}.example" if rng.random() < 0.5 else None,
        about=make_paragraph(rng) if rng.random() < 0.85 else None,
        photo=f"/images/photo{rng.randrange(1, 13):02}.png" if rng.random() < 0.5 else None,
        comments=[make_comment(rng) for _ in range(rng.choice([0, 0, 1, 2, 4]))],
        rooms=make_rooms(rng) if is_stay else [],
    )


def make_paragraph(rng: Random) -> str:
    return paragraph(rng, places.GRAMMAR, rng.randint(2, 4), "about")


def make_rooms(rng: Random) -> list[tuple[str, str]]:
    rooms = rng.sample(places.ROOMS, rng.randint(2, 4))
    return [(room, f"${rng.randrange(45, 190)}.00") for room in rooms]


def new_name(rng: Random, nouns: list[str], town: str, names: set[str]) -> str:
    while True:
        name = f"{rng.choice(places.OWNERS)} {rng.choice(nouns)}"
        if rng.random() < 0.15:
            name += f" of {town}"
        if name not in names:
            names.add(name)
            return name


def phone_number(rng: Random) -> str:
    return f"(207) 555-{rng.randrange(200, 9999):04}"


def make_comment(rng: Random) -> tuple[str, str, str]:
    day = days_before(rng, date(2024, 9, 30), 2000)
    return (
        rng.choice(places.VISITORS),
        f"{day:%m/%d/%Y}",
        paragraph(rng, places.GRAMMAR, rng.randint(1, 3), "comment"),
    )


def drifted(businesses: list[Business], edition: str) -> list[Business]:
    """Return the businesses as they are later: ratings and hours move, comments come in."""
    if edition == "1":
        return businesses[:-3]
    rng = Random(f"town-guide {edition}")
    later = [drift(rng, business) for business in businesses]
    return later[:-3] if edition == "1b" else later[3:]


def drift(rng: Random, business: Business) -> Business:
    if rng.random() < 0.7:
        return business
    return replace(
        business,
        rating=f"{rng.randrange(25, 51) / 10:.1f}" if business.rating else None,
        hours=rng.choice(places.HOURS) if business.hours else [],
        comments=[*business.comments, ("Anonymous", "10/12/2024", "Still here, still good.")],
    )


class Guide:
    """All pages of the guide."""

    def __init__(self, builder: Builder, businesses: list[Business]) -> None:
        self.builder = builder
        self.businesses = businesses
        self.rng = Random("town-guide pages")

    def add_all(self) -> None:
        """Add every page, the home page first."""
        self.builder.add(
            "/", "home", "home", title="Welcome", picks=self.businesses[20:26], **self.old_links()
        )
        for business in self.businesses:
            self.add_business(business)
        self.add_lists()
        for number in range(N_EVENTS):
            self.add_event(number)
        for number, title in places.HELP:
            text = [paragraph(self.rng, places.GRAMMAR, 3, "about") for _ in range(3)]
            self.builder.add(
                f"/info.asp?page={number}",
                "help",
                "text",
                title=title,
                paragraphs=text,
                help=places.HELP,
            )
        self.builder.add("/member/login.asp", "login", "login", title="Member login")
        for words in SEARCHES:
            page = self.search(words)
            self.builder.pages[page.path] = page
        for number in (999, 998, 997):
            path = f"/listing.asp?id={number}"
            self.builder.pages[path] = self.missing(path)

    def old_links(self) -> dict[str, Any]:
        return {
            "help": places.HELP,
            "events": [
                (f"/event.asp?no={number}", event_title(number)) for number in range(N_EVENTS)
            ],
            "old": ["/index.html", "/guide/map.htm", "/weather.asp", "/webcam/harbor.htm"],
            "gone": [f"/listing.asp?id={number}" for number in (999, 998, 997)],
            "with_session": f"{self.businesses[30].path}&{SESSION}=4F2A77C0B19E3D5512AC",
            "searches": [(f"/search?q={quote_plus(words)}", words) for words in SEARCHES],
        }

    def add_business(self, business: Business) -> None:
        near = [
            other for other in self.businesses if other.town == business.town and other != business
        ]
        self.builder.add(
            business.path,
            "stay" if business.rooms else "listing",
            "listing",
            title=business.name,
            business=business,
            near=self.rng.sample(near, 4),
            comments=business.comments,
            values=business.values,
            records=[
                {"visitor": who, "comment_date": day, "comment": text}
                for who, day, text in business.comments
            ],
        )

    def add_lists(self) -> None:
        for number, title, _ in places.CATEGORIES:
            businesses = [business for business in self.businesses if business.category == title]
            self.add_list("list", f"/browse.asp?cat={number}", businesses, title=title)
        stays = [business for business in self.businesses if business.rooms]
        self.add_list("list", "/browse.asp?cat=0", stays, title="Lodging")
        for town, code in places.TOWNS:
            businesses = [business for business in self.businesses if business.town == town]
            names = {
                "title": town,
                "zip": code,
                "text": paragraph(self.rng, places.GRAMMAR, 2, "about"),
            }
            self.builder.add(f"/town.asp?zip={code}", "town", "town", **names, **listed(businesses))
        for letter in sorted(
            {business.name[0] for business in self.businesses if business.name[0].isalpha()}
        ):
            businesses = [
                business for business in self.businesses if business.name.startswith(letter)
            ]
            path = f"/index.asp?letter={quote_plus(letter, encoding='windows-1252')}"
            self.builder.add(
                path,
                "letter",
                "letter",
                title=f"{letter} – all entries",
                letters=self.letters(),
                **listed(businesses),
            )

    def letters(self) -> list[tuple[str, str]]:
        initials = sorted(
            {business.name[0] for business in self.businesses if business.name[0].isalpha()}
        )
        return [
            (letter, f"/index.asp?letter={quote_plus(letter, encoding='windows-1252')}")
            for letter in initials
        ]

    def add_list(self, kind: str, address: str, businesses: list[Business], **names: Any) -> None:
        for path, part in paged(businesses, 8, address + "&page={}", address):
            self.builder.add(path, kind, "list", slice=part, **names, **listed(part.items))

    def add_event(self, number: int) -> None:
        """Add an event, whose pages belong to the church and no redesign touches."""
        rng = Random(f"event {number}")
        town, _ = rng.choice(places.TOWNS)
        self.builder.add(
            f"/event.asp?no={number}",
            "event",
            "event",
            look="1",
            title=event_title(number),
            town=town,
            day=f"{date(2024, 7 + number % 6, 1 + number % 28):%A, %B %d}",
            hour=f"{rng.randrange(1, 9)}:{rng.choice(['00', '30'])} pm",
            text=paragraph(rng, places.GRAMMAR, 4, "event"),
            next_path=f"/event.asp?no={(number + 1) % N_EVENTS}",
            phone=phone_number(rng),
            drifted=False,
        )

    def search(self, words: str) -> DemoPage:
        """Return the page of results for a visitor's words."""
        terms = words.lower().split()
        texts = [
            (business, f"{business.name} {business.category} {business.about}".lower())
            for business in self.businesses
        ]
        matches = [
            business for business, text in texts if terms and all(term in text for term in terms)
        ][:25]
        path = f"/search?q={quote_plus(words)}"
        return self.builder.render(
            path, "search", "search", title="Search results", words=words, **listed(matches)
        )

    def missing(self, path: str) -> DemoPage:
        """Return the page for an address without an entry: of an unknown number, status 200."""
        status = (
            200
            if path.partition("?")[0].endswith(("/listing.asp", "/stay.asp", "/browse.asp"))
            else 404
        )
        return self.builder.render(path, "missing", "missing", title="Not found", status=status)


def event_title(number: int) -> str:
    return f"{places.EVENTS[number % len(places.EVENTS)]} {places.TOWNS[number % 7][0]}"


def listed(businesses: list[Business] | Any) -> dict[str, Any]:
    return {"businesses": businesses, "records": [business.short for business in businesses]}


def make_queries(businesses: list[Business]) -> list[Query]:
    rng = Random("town-guide log")
    lines = [
        Query(f"{business.name} {business.town}".lower(), business.path, rng.randint(1, 30))
        for business in businesses
        if rng.random() < 0.7
    ]
    lines += [
        Query(business.phone, business.path, rng.randint(1, 4)) for business in businesses[::4]
    ]
    lines += [
        Query(f"{title.lower()} pelican bay", f"/browse.asp?cat={number}", rng.randint(9, 60))
        for number, title, _ in places.CATEGORIES
    ]
    lines += [
        Query(f"{town.lower()} {code}", f"/town.asp?zip={code}", rng.randint(9, 60))
        for town, code in places.TOWNS
    ]
    lines += [
        Query(event_title(number).lower(), f"/event.asp?no={number}", rng.randint(1, 12))
        for number in range(N_EVENTS)
    ]
    return list({(line.query, line.path): line for line in lines}.values())


def make_assets() -> dict[str, Asset]:
    """Return style sheets and small bitmaps."""
    assets = {
        f"/style{name}.css": Asset((FOLDER / f"static/{name}.css").read_bytes(), "text/css")
        for name in "12"
    }
    assets |= {
        f"/images/photo{number:02}.png": pictures.street(f"photo {number}")
        for number in range(1, 13)
    }
    assets["/images/spacer.png"] = pictures.png(1, 1, lambda *_: (255, 255, 255))
    assets["/images/banner.png"] = pictures.png(
        360,
        70,
        lambda x, y: (
            (20 + y, 60 + y + x // 8, 120 + x // 4) if y < 46 + (x * 7 % 23) // 8 else (30, 70, 90)
        ),
    )
    assets["/images/ad.png"] = pictures.png(
        120,
        240,
        lambda x, y: (255, 230 - y // 3, 120) if (x // 12 + y // 12) % 2 else (255, 245, 190),
    )
    assets["/images/dot.png"] = pictures.png(
        9, 9, lambda x, y: (190, 40, 30) if (x - 4) ** 2 + (y - 4) ** 2 < 16 else (255, 255, 255)
    )
    return assets
