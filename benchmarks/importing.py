"""How fast pages come in, how much room they take and whether memory stays flat.

Run it with: python -m benchmarks.importing
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.report import markdown_table

ROOT = Path(__file__).resolve().parent.parent
SIZES = (500, 2000)
PAGE_BYTES = 100_000
MIB = 2**20
TITLE = "Importing"
INTRODUCTION = """`import_pages` of a manifest with stored pages of about 100 KB, one process on
SQLite, from the start of the command to its end, links included. Wanted: 250 pages a second, a page
store of at most 25 % of the raw bytes, memory that does not grow with the source.
"""
WORDS = """
alpine trail runner light jacket wind proof merino wool summit valley river granite ridge storm
shell breathable fabric recycled seam pocket zip cuff hood fit season guide review tested steep snow
rope camp stove fuel titanium bottle litre filter tent pole ground sheet peg sleeping mat down warm
dry
""".split()  # noqa: SIM905 - a list of words reads as words


@dataclass(frozen=True)
class Measure:
    """What one import took."""

    n_pages: int
    seconds: float
    n_raw_bytes: int
    n_stored_bytes: int
    n_links: int
    n_peak_bytes: int
    cpu_seconds: float

    @property
    def pages_per_second(self) -> float:
        return self.n_pages / self.seconds

    @property
    def store_share(self) -> float:
        return self.n_stored_bytes / self.n_raw_bytes


def run(data: Path | None) -> str:  # noqa: ARG001 - every benchmark takes the folder of given pages; these are made here
    """Import small and large sources and return the figures."""
    measures = [measure(n_pages) for n_pages in SIZES]
    heads = [
        "pages",
        "raw MiB",
        "seconds",
        "pages/s",
        "CPU s",
        "links a page",
        "page store",
        "peak MiB",
    ]
    rows: list[list[object]] = [
        [
            f"{one.n_pages:,}",
            f"{one.n_raw_bytes / MIB:,.0f}",
            f"{one.seconds:.1f}",
            f"{one.pages_per_second:,.0f}",
            f"{one.cpu_seconds:.1f}",
            f"{one.n_links / one.n_pages:,.0f}",
            f"{one.store_share:.1%}",
            f"{one.n_peak_bytes / MIB:,.0f}",
        ]
        for one in measures
    ]
    return f"{INTRODUCTION}\n{markdown_table(heads, rows)}\n"


def measure(n_pages: int) -> Measure:
    """Import that many pages into an empty installation, in a child process."""
    with tempfile.TemporaryDirectory(prefix="vertex-importing-") as name:
        folder = Path(name)
        n_raw = write_pages(folder / "pages", n_pages)
        environment = os.environ | {"VERTEX_VAR": str(folder / "var"), "DATABASE_URL": ""}
        call(environment, "add_site", "bench", "--url", "http://bench.example/")
        began = time.perf_counter()
        peak, cpu_seconds = call(
            environment,
            "import_pages",
            "bench",
            str(folder / "pages"),
            "--output",
            str(folder / "out.jsonl"),
        )
        seconds = time.perf_counter() - began
        lines = (folder / "out.jsonl").read_bytes().splitlines()
        assert [b"new"] * n_pages == [orjson.loads(line)["snapshot"].encode() for line in lines]
        return Measure(
            n_pages=n_pages,
            seconds=seconds,
            n_raw_bytes=n_raw,
            n_stored_bytes=size_of(folder / "var" / "pages"),
            n_links=count_links(folder / "var" / "vertex.sqlite3"),
            n_peak_bytes=peak,
            cpu_seconds=cpu_seconds,
        )


def call(environment: dict[str, str], *arguments: str) -> tuple[int, float]:
    """Run a command and return its memory at its peak and the seconds of processor that it used."""
    command = [sys.executable, "manage.py", *arguments]
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit status {child.returncode}")
    return used.ru_maxrss * 1024, used.ru_utime + used.ru_stime


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def count_links(database: Path) -> int:
    connection = sqlite3.connect(database)
    (n_links,) = connection.execute("SELECT count(*) FROM clustering_link").fetchone()
    connection.close()
    return int(n_links)


def write_pages(folder: Path, n_pages: int) -> int:
    """Write a manifest and its pages, and return how many bytes the pages have."""
    folder.mkdir(parents=True)
    numbers = random.Random(n_pages)
    n_bytes = 0
    with (folder / "manifest.jsonl").open("wb") as manifest:
        for number in range(n_pages):
            body = page(numbers, number).encode()
            n_bytes += len(body)
            (folder / f"{number}.html").write_bytes(body)
            url = f"http://bench.example/products/{number}-{'-'.join(numbers.choices(WORDS, k=3))}"
            manifest.write(
                orjson.dumps(
                    {"url": url, "file": f"{number}.html"}, option=orjson.OPT_APPEND_NEWLINE
                )
            )
    return n_bytes


def text(numbers: random.Random, n_words: int) -> str:
    words = numbers.choices(WORDS, k=n_words)
    # Some of the words occur nowhere else, as names and numbers do on real pages.
    for place in range(0, n_words, 9):
        words[place] = f"{numbers.choice(WORDS)}{numbers.randrange(10_000)}"
    return " ".join(words).capitalize()


def page(numbers: random.Random, number: int) -> str:
    """Return a product page as a shop's template makes it: a frame around what differs."""
    body = [HEAD.format(title=text(numbers, 5), number=number, description=text(numbers, 25)), MENU]
    body.append(
        f'<main class="product" itemscope itemtype="http://schema.org/Product" data-id="{number}">'
        f'<h1 itemprop="name">{text(numbers, 4)}</h1>'
        f'<span class="price" itemprop="price">${numbers.randrange(1000, 99999) / 100:.2f}</span>'
        f'<div class="description" itemprop="description"><p>{text(numbers, 120)}</p>'
        f"<p>{text(numbers, 90)}</p></div>"
    )
    size = sum(map(len, body)) + len(FOOT)
    while size < PAGE_BYTES:
        part = card(numbers) if size < PAGE_BYTES * 0.6 else review(numbers)
        body.append(part)
        size += len(part)
    return "".join([*body, FOOT])


def card(numbers: random.Random) -> str:
    number = numbers.randrange(100_000)
    picture = f"/media/cache/{numbers.randbytes(8).hex()}/{number}_small.jpg"
    return f"""
      <article class="card card--small js-track" data-position="{number % 40}" data-sku="A{number:06d}">
        <a class="card__link" href="/products/{number}?ref=similar"><img class="card__image" loading="lazy"
          src="{picture}" alt="{text(numbers, 3)}" width="240" height="180"></a>
        <div class="card__body"><h3 class="card__title">{text(numbers, 4)}</h3>
          <p class="card__text">{text(numbers, 40)}</p>
          <div class="card__foot"><span class="price"><span class="price__currency">$</span><span
            class="price__amount">{number % 300}.95</span></span>
          <span class="stars" aria-label="{number % 5} of 5"></span>
          <button class="button button--add" type="button">Add to basket</button></div>
        </div>
      </article>"""


def review(numbers: random.Random) -> str:
    number = numbers.randrange(100_000)
    day, month = number % 28 + 1, number % 12 + 1
    return f"""
      <section class="review" itemprop="review" itemscope itemtype="http://schema.org/Review">
        <header class="review__head"><a class="review__author" href="/people/{number}">{text(numbers, 2)}</a>
          <time class="review__date" datetime="2024-{month:02d}-{day:02d}">{day}.{month}.</time>
          <span class="stars stars--{number % 5}"></span></header>
        <h4>{text(numbers, 5)}</h4>
        <p class="review__text">{text(numbers, 110)}</p>
        <footer class="review__foot"><button type="button">Helpful</button>
          <button type="button">Report</button></footer>
      </section>"""


HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} | Alpine shop</title>
<meta name="description" content="{description}">
<link rel="canonical" href="http://bench.example/products/{number}">
<link rel="stylesheet" href="/static/css/main.8f3a1c.css">
<script src="/static/js/app.77ab12.js" defer></script>
</head><body class="page page--product" data-page="{number}">
"""
MENU_ITEM = """
  <li class="menu__item menu__item--{level}"><a class="menu__link" href="/c/{word}">{word}</a></li>"""
MENU_ITEMS = "".join(MENU_ITEM.format(level=n % 3, word=word) for n, word in enumerate(WORDS[:30]))
MENU = f'<header class="site-header"><nav class="menu"><ul>{MENU_ITEMS}</ul></nav></header>\n'
FOOT_LINKS = "".join(
    f'<a class="site-footer__link" href="/help/{word}">{word}</a> ' for word in WORDS[:12]
)
FOOT = f"""
</main><footer class="site-footer">{FOOT_LINKS}
<p>Prices include taxes. Delivery within three working days.</p></footer>
</body></html>
"""


if __name__ == "__main__":
    sys.stdout.write(run(None))
