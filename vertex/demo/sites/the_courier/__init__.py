"""The Courier: articles in utility classes, some of them generated.

Its pages are in ISO-8859-2, which only the HTTP header says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote_plus

from vertex.demo.sites import pictures
from vertex.demo.sites.builder import Builder, paged
from vertex.demo.sites.site import Asset, DemoPage, DemoSite, Query, Values
from vertex.demo.sites.the_courier import news
from vertex.demo.sites.words import days_before, long_date, paragraph, slug_of, tell

FOLDER = Path(__file__).parent
VERTICAL = {
    "name": "demo_article",
    "attributes": [
        {"name": "headline", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "authors", "type": "text", "constant": True, "mandatory": True, "multi": True},
        {
            "name": "datePublished",
            "type": "date",
            "constant": True,
            "mandatory": True,
            "multi": False,
        },
        {"name": "section", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "description",
            "type": "text",
            "constant": True,
            "mandatory": False,
            "multi": False,
        },
        {
            "name": "articleBody",
            "type": "html",
            "constant": True,
            "mandatory": True,
            "multi": False,
        },
        {"name": "keywords", "type": "text", "constant": True, "mandatory": False, "multi": True},
        {
            "name": "commentCount",
            "type": "number",
            "constant": False,
            "mandatory": False,
            "multi": False,
        },
        {
            "name": "mainImage",
            "type": "image",
            "constant": True,
            "mandatory": False,
            "multi": False,
        },
    ],
}
SEARCHES = ["tram line", "wolves", "brno bridge", "łódź"]
LAST_DAY = date(2024, 10, 6)
# A class of the style sheet whose name is made anew at each deployment.
GENERATED = re.compile(r"@(?!media)([a-z]+)")


@dataclass(frozen=True)
class Comment:
    reader: str
    date: str
    text: str
    replies: tuple[Comment, ...] = ()


@dataclass(frozen=True)
class Article:
    number: int
    headline: str
    authors: list[str]
    day: date
    section: str
    section_slug: str
    lead: str | None
    paragraphs: list[str]
    tags: list[str]
    comments: list[Comment]
    image: str | None
    kicker: str | None
    is_opinion: bool

    @property
    def path(self) -> str:
        return f"/{self.day:%Y/%m/%d}/{slug_of(self.headline)[:60].strip('-')}-{self.number}"

    @property
    def date(self) -> str:
        return long_date(self.day)

    @property
    def n_comments(self) -> int:
        return len(flat(self.comments))

    @property
    def values(self) -> Values:
        return {
            "headline": self.headline,
            "authors": self.authors,
            "datePublished": self.date,
            "section": self.section,
            "description": self.lead,
            "articleBody": " ".join(self.paragraphs),
            "keywords": self.tags or None,
            "commentCount": str(self.n_comments) if self.comments else None,
            "mainImage": self.image,
        }

    @property
    def short(self) -> Values:
        return {"headline": self.headline, "authors": self.authors, "datePublished": self.date}


def flat(comments: Sequence[Comment]) -> list[Comment]:
    """Return comments and replies in the order of the page."""
    return [each for comment in comments for each in (comment, *flat(comment.replies))]


def build(edition: str) -> DemoSite:
    """Return the newspaper in one of its editions."""
    articles = drifted(make_articles(), edition)
    common = {
        "sections": news.SECTIONS,
        "help": news.HELP,
        "css": generated_names(edition),
        "latest": articles[:6],
        "tags": [(slug_of(tag), tag) for tag in news.TAGS],
    }
    builder = Builder(
        FOLDER / "templates", edition, "iso-8859-2", "text/html; charset=ISO-8859-2", common
    )
    paper = Paper(builder, articles)
    paper.add_all()
    return DemoSite(
        name="the-courier",
        title="The Courier",
        edition=edition,
        vertical=VERTICAL,
        pages=builder.pages,
        assets=make_assets(edition),
        redirects={"/feed": "/", f"/article.php?id={articles[8].number}": articles[8].path},
        queries=make_queries(articles),
        search=paper.search,
        missing=paper.missing,
        dead_links=frozenset({"/podcast", "/e-paper"}),
        forbidden=("/account/saved",),
        untouched="recipe",
    )


def generated_names(edition: str) -> dict[str, str]:
    """Return class names as a build tool makes them: other ones at each deployment."""
    roles = sorted(set(GENERATED.findall((FOLDER / "static/1.css").read_text())))
    return {role: "css-" + sha256(f"{edition} {role}".encode()).hexdigest()[:6] for role in roles}


def make_articles() -> list[Article]:
    rng = Random("the-courier")
    articles = [
        make_article(rng, 40310 + 13 * number, is_opinion=number % 7 == 3) for number in range(176)
    ]
    return sorted(articles, key=lambda article: (article.day, article.number), reverse=True)


def make_article(rng: Random, number: int, *, is_opinion: bool) -> Article:
    slug, section = rng.choice(news.SECTIONS)
    n_comments = rng.choice([0, 0, 1, 2, 3, 5])
    return Article(
        number=number,
        headline=capital(tell(rng, news.GRAMMAR, rng.choice(news.HEADLINES))),
        authors=rng.sample(news.AUTHORS, 1 if is_opinion else rng.choice([1, 1, 1, 2, 3])),
        day=days_before(rng, LAST_DAY, 170),
        section=section,
        section_slug=slug,
        lead=paragraph(rng, news.GRAMMAR, rng.choice([1, 2]), "lead")
        if rng.random() < 0.85
        else None,
        paragraphs=[
            paragraph(rng, news.GRAMMAR, rng.randint(2, 4)) for _ in range(rng.randint(3, 7))
        ],
        tags=rng.sample(news.TAGS, rng.choice([0, 1, 2, 2, 3, 4])),
        comments=[make_comment(rng, 2) for _ in range(n_comments)],
        image=f"/media/{number}.svg" if rng.random() < 0.65 else None,
        kicker=rng.choice(news.KICKERS) if rng.random() < 0.3 else None,
        is_opinion=is_opinion,
    )


def make_comment(rng: Random, depth: int) -> Comment:
    n_replies = rng.choice([0, 0, 0, 1, 2]) if depth else 0
    return Comment(
        reader=rng.choice(news.READERS),
        date=long_date(days_before(rng, LAST_DAY, 170)),
        text=paragraph(rng, news.GRAMMAR, rng.randint(1, 2), "comment"),
        replies=tuple(make_comment(rng, depth - 1) for _ in range(n_replies)),
    )


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def drifted(articles: list[Article], edition: str) -> list[Article]:
    """Return the articles as they are later: comments come in, new articles appear, old ones go."""
    if edition == "1":
        return articles[3:]
    rng = Random(f"the-courier {edition}")
    late = Comment("late reader", "12 October 2024", "I only read this today.")
    later = [
        replace(article, comments=[*article.comments, late])
        if article.comments and rng.random() < 0.4
        else article
        for article in articles
    ]
    return later if edition == "1b" else later[:-3]


class Paper:
    """All pages of the newspaper."""

    def __init__(self, builder: Builder, articles: list[Article]) -> None:
        self.builder = builder
        self.articles = articles
        self.rng = Random("the-courier pages")

    def add_all(self) -> None:
        """Add every page, the home page first."""
        recipes = [(f"/recipes/{slug_of(title)}", title) for title in news.RECIPES]
        self.builder.add(
            "/",
            "home",
            "home",
            title="News from the middle",
            top=self.articles[:9],
            recipes=recipes,
            **self.old_links(),
        )
        for article in self.articles:
            self.add_article(article)
        self.add_lists()
        for number, title in enumerate(news.RECIPES):
            self.add_recipe(title, news.RECIPES[(number + 1) % len(news.RECIPES)])
        for slug, title in news.HELP:
            text = [paragraph(self.rng, news.GRAMMAR, 3) for _ in range(3)]
            self.builder.add(f"/{slug}", "help", "text", title=title, paragraphs=text)
        self.builder.add("/account/login", "login", "login", title="Log in")
        for words in SEARCHES:
            page = self.search(words)
            self.builder.pages[page.path] = page
        for path in self.old_links()["gone"]:
            self.builder.pages[path] = self.missing(path)

    def old_links(self) -> dict[str, Any]:
        return {
            "gone": [f"/2019/0{number}/1{number}/archived-story-{number}" for number in (1, 2, 3)],
            "old": ["/feed", f"/article.php?id={self.articles[8].number}", "/podcast", "/e-paper"],
            "authors": [(f"/author/{slug_of(name)}", name) for name in news.AUTHORS],
            "months": self.months(),
            "searches": [(f"/search?q={quote_plus(words)}", words) for words in SEARCHES],
        }

    def months(self) -> list[tuple[str, str]]:
        return [
            (f"/archive/{month}", month)
            for month in sorted({f"{article.day:%Y-%m}" for article in self.articles})
        ]

    def add_article(self, article: Article) -> None:
        """Add an article, or an opinion, which is alike but for the box about its author."""
        related = [
            other
            for other in self.articles
            if other.section == article.section and other != article
        ]
        comments = flat(article.comments)
        self.builder.add(
            article.path,
            "opinion" if article.is_opinion else "article",
            "article",
            title=article.headline,
            article=article,
            authors=[(f"/author/{slug_of(name)}", name) for name in article.authors],
            article_tags=[(f"/tag/{slug_of(tag)}", tag) for tag in article.tags],
            comments=number_comments(article.comments),
            related=self.rng.sample(related, min(3, len(related))),
            minutes=len(" ".join(article.paragraphs)) // 300 + 1,
            values=article.values,
            records=[
                {"reader": comment.reader, "comment_date": comment.date, "comment": comment.text}
                for comment in comments
            ],
        )

    def add_lists(self) -> None:
        for slug, title in news.SECTIONS:
            articles = [article for article in self.articles if article.section_slug == slug]
            for path, part in paged(articles, 10, f"/{slug}/page/{{}}", f"/{slug}"):
                self.builder.add(
                    path,
                    "section",
                    "section",
                    title=title,
                    current=slug,
                    slice=part,
                    **listed(part.items),
                )
        for name in news.AUTHORS:
            articles = [article for article in self.articles if name in article.authors]
            about = paragraph(Random(name), news.GRAMMAR, 1, "lead")
            self.builder.add(
                f"/author/{slug_of(name)}",
                "author",
                "author",
                title=name,
                about=about,
                **listed(articles),
            )
        for tag in news.TAGS:
            articles = [article for article in self.articles if tag in article.tags]
            self.builder.add(f"/tag/{slug_of(tag)}", "tag", "tag", title=tag, **listed(articles))
        for path, month in self.months():
            articles = [article for article in self.articles if f"{article.day:%Y-%m}" == month]
            self.builder.add(
                path,
                "archive",
                "archive",
                title=f"Archive {month}",
                months=self.months(),
                **listed(articles),
            )

    def add_recipe(self, title: str, next_title: str) -> None:
        """Add a recipe: that part is another system, which the redesign does not reach."""
        rng = Random(title)
        self.builder.add(
            f"/recipes/{slug_of(title)}",
            "recipe",
            "recipe",
            look="1",
            title=title,
            css=generated_names("1"),
            latest=[],
            drifted=False,
            serves=rng.randint(2, 8),
            minutes=rng.choice([20, 35, 50, 90, 180]),
            ingredients=rng.sample(news.GRAMMAR["ingredient"], 5),
            steps=[capital(tell(rng, news.GRAMMAR, step)) for step in news.GRAMMAR["step"]],
            next_path=f"/recipes/{slug_of(next_title)}",
            next_title=next_title,
        )

    def search(self, words: str) -> DemoPage:
        """Return the page of results for a visitor's words."""
        terms = words.lower().split()
        texts = [
            (article, f"{article.headline} {' '.join(article.tags)} {article.section}".lower())
            for article in self.articles
        ]
        matches = [
            article for article, text in texts if terms and all(term in text for term in terms)
        ][:20]
        path = f"/search?q={quote_plus(words)}"
        return self.builder.render(
            path, "search", "search", title=f"Search: {words}", words=words, **listed(matches)
        )

    def missing(self, path: str) -> DemoPage:
        """Return the page for an address without an article: of an old one, status 200."""
        status = 200 if re.match(r"/20\d\d/", path) else 404
        return self.builder.render(path, "missing", "missing", title="Not available", status=status)


def number_comments(comments: Sequence[Comment], first: int = 1) -> list[dict[str, Any]]:
    """Return comments with their numbers in document order, as the template needs them."""
    numbered = []
    for comment in comments:
        numbered.append(
            {
                "number": first,
                "comment": comment,
                "replies": number_comments(comment.replies, first + 1),
            }
        )
        first += len(flat([comment]))
    return numbered


def listed(articles: Any) -> dict[str, Any]:
    return {"articles": articles, "records": [article.short for article in articles]}


def make_queries(articles: list[Article]) -> list[Query]:
    rng = Random("the-courier log")
    lines = [
        Query(article.headline.lower(), article.path, rng.randint(1, 60))
        for article in articles
        if rng.random() < 0.5
    ]
    lines += [
        Query(" ".join(article.headline.lower().split()[-3:]), article.path, rng.randint(1, 9))
        for article in articles[::3]
    ]
    lines += [
        Query(f"courier {title.lower()}", f"/{slug}", rng.randint(10, 99))
        for slug, title in news.SECTIONS
    ]
    lines += [
        Query(name.lower(), f"/author/{slug_of(name)}", rng.randint(2, 20)) for name in news.AUTHORS
    ]
    lines += [
        Query(f"{title.lower()} recipe", f"/recipes/{slug_of(title)}", rng.randint(3, 50))
        for title in news.RECIPES
    ]
    lines += [Query(f"{tag} news", f"/tag/{slug_of(tag)}", rng.randint(3, 30)) for tag in news.TAGS]
    return list({(line.query, line.path): line for line in lines}.values())


def make_assets(edition: str) -> dict[str, Asset]:
    """Return style sheets and pictures."""
    assets = {
        "/assets/main.css": Asset(style_sheet(edition).encode(), "text/css"),
        "/assets/2.css": Asset((FOLDER / "static/2.css").read_bytes(), "text/css"),
    }
    for article in make_articles():
        if article.image:
            assets[article.image] = pictures.landscape(article.image, 960, 480)
    return assets


def style_sheet(edition: str) -> str:
    """Return the first look's sheet, under the edition's names and those that recipes keep."""
    sheet = (FOLDER / "static/1.css").read_text()
    tables = [generated_names("1")] + ([generated_names("1b")] if edition == "1b" else [])
    return "\n".join(rename_classes(sheet, table) for table in tables)


def rename_classes(sheet: str, names: dict[str, str]) -> str:
    return GENERATED.sub(lambda found: f".{names[found[1]]}", sheet)
