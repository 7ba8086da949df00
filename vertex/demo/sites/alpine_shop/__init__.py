"""Alpine Shop: products with reviews; semantic tags and many classes.

One layout declares its data by JSON-LD, the other one by microdata.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote_plus

from vertex.demo.sites import pictures
from vertex.demo.sites.alpine_shop import goods
from vertex.demo.sites.builder import Builder, paged
from vertex.demo.sites.site import Asset, DemoPage, DemoSite, Query, Values
from vertex.demo.sites.words import days_before, long_date, paragraph, sentences, slug_of

FOLDER = Path(__file__).parent
VERTICAL = {
    "name": "demo_product",
    "attributes": [
        {"name": "name", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "price", "type": "price", "constant": False, "mandatory": True, "multi": False},
        {
            "name": "regularPrice",
            "type": "price",
            "constant": False,
            "mandatory": False,
            "multi": False,
        },
        {"name": "brand", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "sku", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "ratingValue",
            "type": "rating",
            "constant": False,
            "mandatory": False,
            "multi": False,
        },
        {
            "name": "reviewCount",
            "type": "number",
            "constant": False,
            "mandatory": False,
            "multi": False,
        },
        {
            "name": "availability",
            "type": "text",
            "constant": False,
            "mandatory": True,
            "multi": False,
        },
        {"name": "color", "type": "text", "constant": True, "mandatory": False, "multi": True},
        {"name": "weight", "type": "text", "constant": True, "mandatory": False, "multi": False},
        {"name": "mainImage", "type": "image", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "description",
            "type": "text",
            "constant": True,
            "mandatory": False,
            "multi": False,
        },
    ],
}
OLD_ADDRESSES = 4
SEARCHES = ["winter tent", "red jacket", "rope 60 m", "kids", "firnline"]


@dataclass(frozen=True)
class Review:
    reviewer: str
    stars: int
    date: str
    text: str


@dataclass(frozen=True)
class Product:
    sku: str
    name: str
    brand: str
    category: str
    category_title: str
    drawing: str
    cents: int
    list_cents: int | None
    availability: str
    colours: list[tuple[str, str]]
    specifications: list[tuple[str, str]]
    description: str | None
    points: list[str]
    tags: list[str]
    reviews: list[Review]
    n_images: int
    parts: list[Product] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/p/{slug_of(self.name)}-{self.sku.lower()}"

    @property
    def price(self) -> str:
        return money(self.cents)

    @property
    def list_price(self) -> str | None:
        return money(self.list_cents) if self.list_cents else None

    @property
    def saving(self) -> str:
        return money((self.list_cents or self.cents) - self.cents)

    @property
    def rating(self) -> str | None:
        if not self.reviews:
            return None
        return f"{sum(review.stars for review in self.reviews) / len(self.reviews):.1f}"

    @property
    def images(self) -> list[str]:
        return [f"/img/{self.sku.lower()}-{number}.svg" for number in range(1, self.n_images + 1)]

    @property
    def values(self) -> Values:
        return {
            "name": self.name,
            "price": self.price,
            "regularPrice": self.list_price,
            "brand": self.brand,
            "sku": self.sku,
            "ratingValue": self.rating,
            "reviewCount": str(len(self.reviews)) if self.reviews else None,
            "availability": self.availability,
            "color": [name for name, _ in self.colours] or None,
            "weight": dict(self.specifications).get("Weight"),
            "mainImage": self.images[0],
            "description": self.description,
        }

    @property
    def short(self) -> Values:
        """Return what a list shows of the product."""
        return {
            "name": self.name,
            "brand": self.brand,
            "price": self.price,
            "regularPrice": self.list_price,
        }


def money(cents: int) -> str:
    return f"€{cents / 100:,.2f}"


def build(edition: str) -> DemoSite:
    """Return the shop in one of its editions."""
    products = drifted(make_products(), edition)
    builder = Builder(FOLDER / "templates", edition, common=common_names(edition))
    shop = Shop(builder, products)
    shop.add_all()
    return DemoSite(
        name="alpine-shop",
        title="Alpine Shop",
        edition=edition,
        vertical=VERTICAL,
        pages=builder.pages,
        assets=make_assets(products),
        redirects={
            f"/products/{product.sku}": product.path for product in products[:OLD_ADDRESSES]
        },
        queries=make_queries(products),
        search=shop.search,
        missing=shop.missing,
        dead_links=frozenset({"/catalogue-2019.pdf", "/jobs"}),
        forbidden=("/cart",),
        untouched="guide",
    )


def common_names(edition: str) -> dict[str, Any]:
    return {
        "categories": [(slug, title) for slug, title, *_ in goods.CATEGORIES],
        "brands": [(slug_of(name), name) for name, *_ in goods.BRANDS],
        "tags": [(slug_of(tag), tag) for tag in goods.TAGS],
        "help": goods.HELP,
        "year": 2024 if edition == "1" else 2025,
    }


def make_products() -> list[Product]:
    """Return all products and sets; they are the same in every edition."""
    rng = Random("alpine-shop")
    names: set[str] = set()
    products = [
        make_product(rng, number, category, names)
        for number, category in enumerate(goods.CATEGORIES * 15)
    ]
    sets = [make_set(rng, number, products) for number in range(2 * len(goods.SETS))]
    return products + sets


def make_product(rng: Random, number: int, category: tuple[Any, ...], names: set[str]) -> Product:
    slug, title, drawing, nouns, low, high, spec_names = category
    brand = rng.choice(goods.BRANDS)[0]
    cents = rng.randrange(low, high, 500) + rng.choice([0, 0, 0, 90])
    return Product(
        sku=f"AS-{10200 + 37 * number}",
        name=new_name(rng, brand, nouns, names),
        brand=brand,
        category=slug,
        category_title=title,
        drawing=drawing,
        cents=cents,
        list_cents=cents + rng.randrange(1000, 6000, 500) if rng.random() < 0.35 else None,
        availability=rng.choice(goods.AVAILABILITY),
        colours=rng.sample(goods.COLOURS, rng.choice([0, 1, 2, 3, 4])),
        specifications=specify(rng, spec_names),
        description=paragraph(rng, goods.GRAMMAR, rng.randint(2, 4))
        if rng.random() < 0.88
        else None,
        points=sentences(rng, goods.GRAMMAR, rng.randint(0, 4)),
        tags=rng.sample(goods.TAGS, rng.randint(0, 3)),
        reviews=make_reviews(rng),
        n_images=rng.choice([1, 1, 3, 4]),
    )


def new_name(rng: Random, brand: str, nouns: list[str], names: set[str]) -> str:
    """Return a name that no product has yet; some are long, some hold the brand."""
    while True:
        name = f"{rng.choice(goods.MODELS)} {rng.choice([2, 3, 4, 12, 35, 45, 400])} {rng.choice(nouns)}"
        if rng.random() < 0.2:
            name = f"{brand} {name}"
        if rng.random() < 0.08:
            name += (
                " – limited edition for the hundredth birthday of the workshop, numbered by hand"
            )
        if name not in names:
            names.add(name)
            return name


def specify(rng: Random, names: list[str]) -> list[tuple[str, str]]:
    """Return the table of specifications; the weight is missing on some."""
    rows = [(name, rng.choice(goods.SPECIFICATIONS[name])) for name in names if name != "Weight"]
    if rng.random() < 0.8:
        rows.insert(rng.randrange(len(rows) + 1), ("Weight", f"{rng.randrange(90, 3000, 10):,} g"))
    return rows


def make_reviews(rng: Random) -> list[Review]:
    count = rng.choice([0, 0, 1, 1, 2, 2, 3, 3, 4, 9])
    return [
        Review(
            reviewer=rng.choice(goods.REVIEWERS),
            stars=rng.choice([2, 3, 4, 4, 5, 5]),
            date=long_date(days_before(rng, date(2024, 10, 1), 900)),
            text=paragraph(rng, goods.GRAMMAR, rng.randint(1, 3), "review"),
        )
        for _ in range(count)
    ]


def make_set(rng: Random, number: int, products: list[Product]) -> Product:
    """Return a set of products: its page is like a product's but for the list of parts."""
    parts = rng.sample(products, rng.randint(2, 4))
    total = sum(part.cents for part in parts)
    name = f"{goods.SETS[number % len(goods.SETS)]} Set {'for two' if number >= len(goods.SETS) else ''}".strip()
    return replace(
        parts[0],
        sku=f"AS-{90100 + 11 * number}",
        name=name,
        cents=total * 85 // 100,
        list_cents=total,
        reviews=make_reviews(rng),
        description=paragraph(rng, goods.GRAMMAR, 3),
        n_images=rng.choice([1, 3]),
        parts=parts,
    )


def drifted(products: list[Product], edition: str) -> list[Product]:
    """Return the products as they are later: prices move, reviews come in, a few come and go."""
    if edition == "1":
        return products[:-3]
    rng = Random(f"alpine-shop {edition}")
    later = [drift(rng, product) for product in products]
    return later[:-3] if edition == "1b" else later[3:]


def drift(rng: Random, product: Product) -> Product:
    if rng.random() < 0.7:
        return product
    cents = product.cents + rng.choice([-500, -200, 300, 1000])
    review = Review(
        rng.choice(goods.REVIEWERS), rng.randint(3, 5), "14 October 2024", "Arrived in two days."
    )
    return replace(
        product,
        cents=cents,
        list_cents=max(cents + 1000, product.list_cents) if product.list_cents else None,
        availability=rng.choice(goods.AVAILABILITY),
        reviews=[review, *product.reviews] if product.reviews else [],
    )


class Shop:
    """All pages of the shop."""

    def __init__(self, builder: Builder, products: list[Product]) -> None:
        self.builder = builder
        self.products = products
        self.rng = Random("alpine-shop pages")

    def add_all(self) -> None:
        """Add every page, the home page first."""
        offers = [product for product in self.products if product.list_price][:8]
        self.builder.add(
            "/", "home", "home", title="Gear for the high way", offers=offers, **self.old_links()
        )
        for product in self.products:
            self.add_product(product)
        self.add_lists()
        self.add_guides()
        for slug, title in goods.HELP:
            text = [paragraph(self.rng, goods.GRAMMAR, 3, "advice") for _ in range(3)]
            self.builder.add(f"/help/{slug}", "help", "text", title=title, paragraphs=text)
        self.builder.add("/account/login", "login", "login", title="Log in")
        self.builder.add("/cart", "login", "login", title="Your cart", is_cart=True)
        for words in SEARCHES:
            page = self.search(words)
            self.builder.pages[page.path] = page
        for product in self.products[:3]:
            path = f"/p/discontinued-{product.sku.lower()}"
            self.builder.pages[path] = self.missing(path)

    def old_links(self) -> dict[str, Any]:
        """Return what the home page still links to: guides, old addresses, gone products."""
        return {
            "guides": [(f"/guide/{slug_of(title)}", title) for title in goods.GUIDES],
            "old": [f"/products/{product.sku}" for product in self.products[:OLD_ADDRESSES]],
            "gone": [f"/p/discontinued-{product.sku.lower()}" for product in self.products[:3]],
            "searches": [(f"/search?q={quote_plus(words)}", words) for words in SEARCHES],
        }

    def add_product(self, product: Product) -> None:
        similar = [
            other
            for other in self.products
            if other.category == product.category and other != product
        ]
        self.builder.add(
            product.path,
            "set" if product.parts else "product",
            "product",
            title=product.name,
            product=product,
            similar=self.rng.sample(similar, min(4, len(similar))),
            shown_reviews=product.reviews[:3],
            brand_slug=slug_of(product.brand),
            colours=product.colours,
            product_tags=[(slug_of(tag), tag) for tag in product.tags],
            values=product.values,
            records=[review_values(review) for review in product.reviews[:3]],
        )
        if len(product.reviews) > 3:
            self.builder.add(
                f"{product.path}/reviews",
                "reviews",
                "reviews",
                title=f"Reviews of {product.name}",
                product=product,
                records=[review_values(review) for review in product.reviews],
            )

    def add_lists(self) -> None:
        for slug, title, *_ in goods.CATEGORIES:
            products = [product for product in self.products if product.category == slug]
            self.add_list(
                "list", f"/c/{slug}?page={{}}", f"/c/{slug}", products, title=title, current=slug
            )
        newest = sorted(self.products, key=lambda product: product.sku, reverse=True)
        self.add_list(
            "list", "/new?page={}", "/new", newest[:60], title="New & noteworthy", current="new"
        )
        for name, town, since in goods.BRANDS:
            products = [product for product in self.products if product.brand == name][:10]
            story = paragraph(self.rng, goods.GRAMMAR, 3)
            names = {"title": name, "town": town, "since": since, "story": story}
            self.builder.add(
                f"/brand/{slug_of(name)}", "brand", "brand", **names, **listed(products)
            )
        for tag in goods.TAGS:
            products = [product for product in self.products if tag in product.tags]
            self.builder.add(f"/tag/{slug_of(tag)}", "tag", "tag", title=tag, **listed(products))

    def add_list(
        self, kind: str, address: str, first: str, products: list[Product], **names: Any
    ) -> None:
        for path, part in paged(products, 12, address, first):
            self.builder.add(path, kind, "list", slice=part, **names, **listed(part.items))

    def add_guides(self) -> None:
        """Add the guides, which a redesign forgets: they keep the first templates."""
        for number, title in enumerate(goods.GUIDES):
            rng = Random(title)
            self.builder.add(
                f"/guide/{slug_of(title)}",
                "guide",
                "guide",
                look="1",
                title=title,
                author=rng.choice(goods.REVIEWERS[:8]),
                minutes=rng.randint(3, 14),
                sections=[
                    (heading, paragraph(rng, goods.GRAMMAR, 4, "advice"))
                    for heading in rng.sample(
                        [
                            "Before you go",
                            "On the way",
                            "At home",
                            "What we use",
                            "Common mistakes",
                        ],
                        3,
                    )
                ],
                next_guide=goods.GUIDES[(number + 1) % len(goods.GUIDES)],
                next_path=f"/guide/{slug_of(goods.GUIDES[(number + 1) % len(goods.GUIDES)])}",
                year=2024,
                drifted=False,
            )

    def search(self, words: str) -> DemoPage:
        """Return the page of results for a visitor's words."""
        terms = words.lower().split()
        texts = [
            (
                product,
                f"{product.name} {product.brand} {' '.join(product.tags)} {dict(product.colours)}".lower(),
            )
            for product in self.products
        ]
        matches = [
            product for product, text in texts if terms and any(term in text for term in terms)
        ][:20]
        path = f"/search?q={quote_plus(words)}"
        return self.builder.render(
            path, "search", "search", title=f"Search: {words}", words=words, **listed(matches)
        )

    def missing(self, path: str) -> DemoPage:
        """Return the page for an address without a product: of one that is gone, status 200."""
        status = 200 if path.startswith("/p/") else 404
        return self.builder.render(
            path,
            "missing",
            "missing",
            title="Nothing here",
            status=status,
            offers=self.products[:4],
        )


def listed(products: list[Product] | Any) -> dict[str, Any]:
    """Return what a template needs to show products, and the truth about them."""
    return {"products": products, "records": [product.short for product in products]}


def review_values(review: Review) -> Values:
    return {"reviewer": review.reviewer, "review_date": review.date, "review_text": review.text}


def make_queries(products: list[Product]) -> list[Query]:
    """Return a search log: names, brands with kinds, categories, questions for help pages."""
    rng = Random("alpine-shop log")
    lines = [
        Query(product.name.lower(), product.path, rng.randint(1, 40))
        for product in products
        if rng.random() < 0.6
    ]
    lines += [
        Query(f"{product.brand} {product.drawing}".lower(), product.path, rng.randint(1, 9))
        for product in products[::3]
    ]
    lines += [
        Query(f"buy {title.lower()}", f"/c/{slug}", rng.randint(20, 90))
        for slug, title, *_ in goods.CATEGORIES
    ]
    lines += [
        Query(f"{name.lower()} shop", f"/brand/{slug_of(name)}", rng.randint(5, 30))
        for name, *_ in goods.BRANDS
    ]
    lines += [
        Query(title.lower(), f"/guide/{slug_of(title)}", rng.randint(2, 25))
        for title in goods.GUIDES
    ]
    lines += [
        Query(f"alpine shop {title.lower()}", f"/help/{slug}", rng.randint(1, 15))
        for slug, title in goods.HELP
    ]
    return list({(line.query, line.path): line for line in lines}.values())


SHAPES = {
    "tent": '<path d="M60 230 L200 70 L340 230 Z" fill="{c}"/><path d="M200 70 L165 230 L235 230 Z" fill="#0006"/>',
    "pack": '<rect x="130" y="60" width="140" height="190" rx="40" fill="{c}"/><rect x="150" y="150" width="100" height="70" rx="12" fill="#0003"/><path d="M150 70 q50 -60 100 0" fill="none" stroke="#0005" stroke-width="10"/>',
    "bag": '<path d="M90 110 q110 -70 220 0 l-30 140 q-80 30 -160 0 Z" fill="{c}"/><path d="M120 130 h160 M128 165 h144 M136 200 h128" stroke="#0003" stroke-width="6"/>',
    "boot": '<path d="M130 70 h70 v90 l90 30 q20 10 20 40 H120 Z" fill="{c}"/><rect x="112" y="228" width="206" height="20" rx="6" fill="#333"/>',
    "jacket": '<path d="M150 70 h100 l70 40 -30 60 -25 -12 v92 h-130 v-92 l-25 12 -30 -60 Z" fill="{c}"/><path d="M200 75 v175" stroke="#0005" stroke-width="5"/>',
    "pot": '<rect x="110" y="120" width="180" height="110" rx="14" fill="{c}"/><rect x="100" y="105" width="200" height="18" rx="9" fill="#555"/><rect x="288" y="140" width="60" height="14" rx="7" fill="#555"/>',
    "lamp": '<circle cx="200" cy="150" r="62" fill="{c}"/><circle cx="200" cy="150" r="36" fill="#fff8d0"/><path d="M70 150 h68 M262 150 h68" stroke="#444" stroke-width="16"/>',
    "rope": '<g fill="none" stroke="{c}" stroke-width="15"><ellipse cx="200" cy="140" rx="90" ry="56"/><ellipse cx="200" cy="156" rx="90" ry="56"/><ellipse cx="200" cy="172" rx="90" ry="56"/></g>',
    "pole": '<path d="M150 50 L120 260 M240 50 L270 260" stroke="{c}" stroke-width="10"/><path d="M150 50 v46 M240 50 v46" stroke="#333" stroke-width="18"/>',
    "bottle": '<rect x="160" y="90" width="80" height="165" rx="24" fill="{c}"/><rect x="176" y="56" width="48" height="38" rx="8" fill="#444"/><rect x="160" y="150" width="80" height="40" fill="#fff5"/>',
}  # fmt: skip


def make_assets(products: list[Product]) -> dict[str, Asset]:
    """Return style sheets and drawings."""
    assets = {
        f"/static/{name}.css": Asset((FOLDER / f"static/{name}.css").read_bytes(), "text/css")
        for name in "12"
    }
    assets["/img/hero.svg"] = pictures.landscape("alpine hero", 1200, 380)
    assets["/img/logo.svg"] = pictures.svg(
        40, 40, '<path d="M2 34 L15 8 L22 20 L27 12 L38 34 Z" fill="#0f766e"/>'
    )
    for number, _ in enumerate(goods.GUIDES, start=1):
        assets[f"/img/guide-{number}.svg"] = pictures.landscape(f"guide {number}")
    for product in products:
        for number, path in enumerate(product.images):
            assets[path] = draw(product, number)
    return assets


def draw(product: Product, number: int) -> Asset:
    """Return the drawing of a product in one of its colours."""
    colours = [colour for _, colour in product.colours] or ["#7a8794"]
    shape = SHAPES[product.drawing].replace("{c}", colours[number % len(colours)])
    paper = ["#f1f4f3", "#f6f1ea", "#eef2f7", "#f4eef1"][number % 4]
    turn = f'<g transform="rotate({number * 7} 200 150)">{shape}</g>'
    return pictures.svg(400, 300, f'<rect width="400" height="300" fill="{paper}"/>{turn}')
