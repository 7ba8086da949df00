"""Tinker Board: threads with nested replies, flat runs of siblings, values between line breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote_plus

from vertex.demo.sites import pictures
from vertex.demo.sites.builder import Builder, paged
from vertex.demo.sites.site import Asset, DemoPage, DemoSite, Query, Values
from vertex.demo.sites.tinker_board import talk
from vertex.demo.sites.words import days_before, paragraph, sentences, slug_of, tell

FOLDER = Path(__file__).parent
VERTICAL = {
    "name": "demo_thread",
    "attributes": [
        {"name": "topic", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "author", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "datePublished",
            "type": "date",
            "constant": True,
            "mandatory": True,
            "multi": False,
        },
        {"name": "board", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {
            "name": "viewCount",
            "type": "number",
            "constant": False,
            "mandatory": True,
            "multi": False,
        },
        {
            "name": "postCount",
            "type": "number",
            "constant": False,
            "mandatory": True,
            "multi": False,
        },
        {"name": "solvedBy", "type": "text", "constant": True, "mandatory": False, "multi": False},
        {"name": "tags", "type": "text", "constant": True, "mandatory": False, "multi": True},
    ],
}
SEARCHES = ["clock", "motor hums", "tube radio", "lathe"]
LAST_DAY = date(2024, 10, 6)
ROOTS_ON_A_PAGE = 4


@dataclass(frozen=True)
class Post:
    author: str
    day: date
    text: str
    signature: str
    replies: tuple[Post, ...] = ()

    @property
    def date(self) -> str:
        return short_date(self.day)

    @property
    def values(self) -> Values:
        return {"author": self.author, "datePublished": self.date, "text": self.text}


@dataclass(frozen=True)
class Thread:
    number: int
    title: str
    board: str
    board_slug: str
    n_views: int
    solved_by: str | None
    tags: list[str]
    posts: list[Post]
    poll: list[tuple[str, int]]

    @property
    def path(self) -> str:
        return f"/thread/{self.number}-{slug_of(self.title)[:40].strip('-')}"

    @property
    def starter(self) -> str:
        return self.posts[0].author

    @property
    def started(self) -> str:
        return self.posts[0].date

    @property
    def views(self) -> str:
        return f"{self.n_views:,}"

    @property
    def n_posts(self) -> int:
        return len(flat(self.posts))

    @property
    def values(self) -> Values:
        return {
            "topic": self.title,
            "author": self.starter,
            "datePublished": self.started,
            "board": self.board,
            "viewCount": self.views,
            "postCount": str(self.n_posts),
            "solvedBy": self.solved_by,
            "tags": self.tags or None,
        }

    @property
    def short(self) -> Values:
        return {
            "topic": self.title,
            "author": self.starter,
            "datePublished": self.started,
            "postCount": str(self.n_posts),
        }


def short_date(day: date) -> str:
    return f"{day.day:02}.{day.month:02}.{day.year}"


def flat(posts: Sequence[Post]) -> list[Post]:
    """Return posts and replies in the order of the page."""
    return [each for post in posts for each in (post, *flat(post.replies))]


def build(edition: str) -> DemoSite:
    """Return the board in one of its editions."""
    threads = drifted(make_threads(), edition)
    common = {
        "boards": talk.BOARDS,
        "help": talk.HELP,
        "newest": threads[:5],
        "tags": [(slug_of(tag), tag) for tag in talk.TAGS],
        "n_online": {"1": 14, "1b": 31, "2": 9}[edition],
    }
    builder = Builder(FOLDER / "templates", edition, "utf-8", "text/html; charset=UTF-8", common)
    board = Board(builder, threads)
    board.add_all()
    return DemoSite(
        name="tinker-board",
        title="Tinker Board",
        edition=edition,
        vertical=VERTICAL,
        pages=builder.pages,
        assets=make_assets(),
        redirects={"/forum": "/", f"/showthread.php?t={threads[5].number}": threads[5].path},
        queries=make_queries(threads),
        search=board.search,
        missing=board.missing,
        dead_links=frozenset({"/chat", "/gallery"}),
        forbidden=("/report",),
        untouched="member",
    )


def make_threads() -> list[Thread]:
    rng = Random("tinker-board")
    threads = [
        make_thread(rng, 2040 + 9 * number, is_poll=number % 7 == 5) for number in range(168)
    ]
    return threads[::-1]


def make_thread(rng: Random, number: int, *, is_poll: bool) -> Thread:
    slug, board = rng.choice(talk.BOARDS)
    title = tell(rng, talk.GRAMMAR, rng.choice(talk.POLLS if is_poll else talk.TITLES))
    started = days_before(rng, LAST_DAY, 1500)
    posts = [
        make_post(rng, started + timedelta(days=n), 3 if n else 0)
        for n in range(rng.choice([1, 2, 2, 3, 4, 5, 6]))
    ]
    return Thread(
        number=number,
        title=title[:1].upper() + title[1:],
        board=board,
        board_slug=slug,
        n_views=rng.randrange(20, 30000),
        solved_by=rng.choice(talk.MEMBERS) if rng.random() < 0.3 else None,
        tags=rng.sample(talk.TAGS, rng.choice([0, 1, 1, 2, 3])),
        posts=posts,
        poll=[(answer, rng.randrange(90)) for answer in rng.sample(talk.ANSWERS, 3)]
        if is_poll
        else [],
    )


def make_post(rng: Random, day: date, depth: int) -> Post:
    n_replies = rng.choice([0, 0, 1, 2]) if depth else 0
    return Post(
        author=rng.choice(talk.MEMBERS),
        day=day,
        text=paragraph(rng, talk.GRAMMAR, rng.randint(1, 4)),
        signature=rng.choice(talk.SIGNATURES),
        replies=tuple(make_post(rng, day + timedelta(days=n), depth - 1) for n in range(n_replies)),
    )


def drifted(threads: list[Thread], edition: str) -> list[Thread]:
    """Return the threads later: views and replies come in, threads start, old ones are swept."""
    if edition == "1":
        return threads[3:]
    rng = Random(f"tinker-board {edition}")
    bump = Post("tuesday", date(2024, 10, 15), "Any news on this one?", "")
    later = [
        replace(
            thread,
            n_views=thread.n_views + rng.randrange(200),
            posts=[*thread.posts, bump] if rng.random() < 0.2 else thread.posts,
        )
        for thread in threads
    ]
    return later if edition == "1b" else later[:-3]


class Board:
    """All pages of the board."""

    def __init__(self, builder: Builder, threads: list[Thread]) -> None:
        self.builder = builder
        self.threads = threads
        self.rng = Random("tinker-board pages")

    def add_all(self) -> None:
        """Add every page, the home page first."""
        counts = [
            (slug, name, sum(thread.board == name for thread in self.threads))
            for slug, name in talk.BOARDS
        ]
        self.builder.add("/", "home", "home", title="All boards", counts=counts, **self.old_links())
        for thread in self.threads:
            self.add_thread(thread)
        for slug, name in talk.BOARDS:
            threads = [thread for thread in self.threads if thread.board == name]
            for path, part in paged(threads, 10, f"/board/{slug}?start={{}}", f"/board/{slug}"):
                self.builder.add(
                    path, "board", "board", title=name, slice=part, **listed(part.items)
                )
        for tag in talk.TAGS:
            threads = [thread for thread in self.threads if tag in thread.tags]
            self.builder.add(f"/tagged/{slug_of(tag)}", "tag", "tag", title=tag, **listed(threads))
        for number, name in enumerate(talk.MEMBERS):
            self.add_member(number, name)
        for slug, title in talk.HELP:
            text = [paragraph(self.rng, talk.GRAMMAR, 3) for _ in range(4)]
            self.builder.add(f"/help/{slug}", "help", "text", title=title, paragraphs=text)
        self.builder.add("/login", "login", "login", title="Log in")
        for words in SEARCHES:
            page = self.search(words)
            self.builder.pages[page.path] = page
        for path in self.old_links()["gone"]:
            self.builder.pages[path] = self.missing(path)

    def old_links(self) -> dict[str, Any]:
        return {
            "gone": [f"/thread/{number}-deleted" for number in (11, 12, 13)],
            "old": ["/forum", f"/showthread.php?t={self.threads[5].number}", "/chat", "/gallery"],
            "members": [(member_path(number), name) for number, name in enumerate(talk.MEMBERS)],
            "searches": [(f"/search?q={quote_plus(words)}", words) for words in SEARCHES],
        }

    def add_thread(self, thread: Thread) -> None:
        """Add a thread's pages; a poll is a thread with one more box."""
        similar = [
            other for other in self.threads if other.board == thread.board and other != thread
        ]
        similar = self.rng.sample(similar, 3)
        for path, part in paged(
            thread.posts, ROOTS_ON_A_PAGE, thread.path + "?page={}", thread.path
        ):
            self.builder.add(
                path,
                "poll" if thread.poll else "thread",
                "thread",
                title=thread.title,
                thread=thread,
                starter_path=member_path(talk.MEMBERS.index(thread.starter)),
                thread_tags=[(f"/tagged/{slug_of(tag)}", tag) for tag in thread.tags],
                posts=number_posts(part.items),
                slice=part,
                similar=similar,
                values=thread.values,
                records=[post.values for post in flat(part.items)],
            )

    def add_member(self, number: int, name: str) -> None:
        """Add a member's card: an old script of its own, which no redesign has touched."""
        rng = Random(f"member {number}")
        self.builder.add(
            member_path(number),
            "member",
            "member",
            look="1",
            title=name,
            newest=[],
            n_online=0,
            drifted=False,
            town=rng.choice(talk.TOWNS),
            joined=short_date(days_before(rng, date(2020, 1, 1), 4000)),
            n_posts=rng.randrange(3, 4000),
            likes=sentences(rng, talk.GRAMMAR, 2),
            next_path=member_path((number + 1) % len(talk.MEMBERS)),
        )

    def search(self, words: str) -> DemoPage:
        """Return the page of results for a visitor's words."""
        terms = words.lower().split()
        matches = [
            thread
            for thread in self.threads
            if terms and all(term in thread.title.lower() for term in terms)
        ][:20]
        path = f"/search?q={quote_plus(words)}"
        return self.builder.render(
            path, "search", "search", title="Search", words=words, **listed(matches)
        )

    def missing(self, path: str) -> DemoPage:
        """Return the page for an address without a thread: of a deleted one, status 200."""
        status = 200 if path.startswith("/thread/") else 404
        return self.builder.render(path, "missing", "missing", title="Error", status=status)


def member_path(number: int) -> str:
    return f"/member.php?u={100 + number}"


def number_posts(posts: Sequence[Post], first: int = 1) -> list[dict[str, Any]]:
    """Return posts with their numbers in document order, as the template needs them."""
    numbered = []
    for post in posts:
        path = member_path(talk.MEMBERS.index(post.author))
        numbered.append(
            {
                "number": first,
                "post": post,
                "path": path,
                "replies": number_posts(post.replies, first + 1),
            }
        )
        first += len(flat([post]))
    return numbered


def listed(threads: Any) -> dict[str, Any]:
    return {"threads": threads, "records": [thread.short for thread in threads]}


def make_queries(threads: list[Thread]) -> list[Query]:
    rng = Random("tinker-board log")
    lines = [
        Query(thread.title.lower(), thread.path, rng.randint(1, 30))
        for thread in threads
        if rng.random() < 0.6
    ]
    lines += [
        Query(f"{thread.title.lower()} forum", thread.path, rng.randint(1, 5))
        for thread in threads[::5]
    ]
    lines += [
        Query(f"{name.lower()} forum", f"/board/{slug}", rng.randint(5, 50))
        for slug, name in talk.BOARDS
    ]
    lines += [
        Query(f"{name} tinker board", member_path(number), rng.randint(1, 4))
        for number, name in enumerate(talk.MEMBERS)
    ]
    return list({(line.query, line.path): line for line in lines}.values())


def make_assets() -> dict[str, Asset]:
    """Return style sheets, faces and the logo."""
    assets = {
        f"/theme/{name}.css": Asset((FOLDER / f"static/{name}.css").read_bytes(), "text/css")
        for name in "12"
    }
    gear = '<circle cx="24" cy="24" r="13" fill="none" stroke="#d97706" stroke-width="7" stroke-dasharray="7 3.2"/><circle cx="24" cy="24" r="9" fill="#d97706"/>'
    assets["/theme/gear.svg"] = pictures.svg(48, 48, gear)
    for number, _ in enumerate(talk.MEMBERS):
        assets[f"/face/{100 + number}.png"] = pictures.png(48, 48, face(number))
    return assets


def face(number: int) -> Any:
    """Return the colours of a member's picture: a pattern that is the same on both sides."""
    rng = Random(f"face {number}")
    ink = (rng.randrange(30, 200), rng.randrange(30, 200), rng.randrange(30, 200))
    cells = [[rng.random() < 0.5 for _ in range(3)] for _ in range(6)]
    return lambda x, y: ink if cells[y // 8][min(x // 8, 5 - x // 8)] else (240, 240, 240)
