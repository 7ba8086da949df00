"""Play histories in an installation of its own: `playing DIR FIRST N N_WEEKS`."""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import django
import time_machine
from lxml import html

from benchmarks.histories.shops import (
    KINDS,
    Look,
    Week,
    detail_page,
    draw_look,
    drifted,
    in_a_sale,
    listing_page,
    make_values,
    without_tax,
)
from benchmarks.histories.walls import Answer, answer, draw_outage

BEGAN = datetime(2026, 1, 5, tzinfo=UTC)
N_THINGS, N_LISTS, N_ANNOTATED = 24, 6, 3
SHARE_IN_SALE = 0.5  # of the things
TAXES = (1.07, 1.1, 1.19, 1.25)
_MARK = re.compile(r' data-v="[^"]*"')


def main(arguments: list[str]) -> int:
    """Print a line for each week of each history."""
    folder, (first, n_histories, n_weeks) = Path(arguments[0]), map(int, arguments[1:])
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    call("migrate", "--no-input", "-v0")
    for seed in range(first, first + n_histories):
        with time_machine.travel(BEGAN) as clock:
            for week in history(seed, n_weeks, folder):
                clock.shift(timedelta(days=7))
                print(json.dumps(week), flush=True)
    return 0


def call(*arguments: str) -> list[dict[str, Any]]:
    """Return the lines that a command tells."""
    from django.core.management import call_command

    output = StringIO()
    call_command(*arguments, stdout=output, stderr=StringIO())
    return [json.loads(line) for line in output.getvalue().splitlines() if line.startswith("{")]


def history(seed: int, n_weeks: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what happened in each week of a site and what the check said."""
    chance = random.Random(seed)
    kind = sorted(KINDS)[seed % len(KINDS)]
    site, look = f"site-{seed}", draw_look(kind, chance)
    things = [make_values(kind, number, chance) for number in range(N_THINGS)]
    begin(site, kind, folder, pages_of(kind, look, things, Week(seed * 100), site))
    yield {"site": site, "week": 0, "kind": "begun"}
    end = ("redesign", "swap", "redesign", "without tax")[seed % 4]
    for number in range(1, n_weeks + 1):
        things = [drifted(values, chance, 0.1) for values in things]
        happened, week = draw_week(seed * 100 + number, chance)
        detail = ""
        if number == n_weeks:
            happened = end
            week.is_swapped = end == "swap"
            look = draw_look(kind, chance) if end == "redesign" else look
        if end == "without tax" and number == n_weeks - 1:
            happened = "sale"
            things = [
                in_a_sale(values) if chance.random() < SHARE_IN_SALE else values
                for values in things
            ]
        if happened == "without tax":
            tax = chance.choice(TAXES)
            things = [without_tax(values, tax) for values in things]
        answers = {
            url: Answer(200, page) for url, page in pages_of(kind, look, things, week, site).items()
        }
        if happened == "outage":
            detail, share = draw_outage(chance)
            met = {url for url in answers if chance.random() < share}
            answers = {
                url: answer(detail, one.body) if url in met else one for url, one in answers.items()
            }
        verdict = check(site, folder, answers)
        yield {"site": site, "week": number, "kind": happened, "detail": detail, **verdict}


def draw_week(number: int, chance: random.Random) -> tuple[str, Week]:
    """Return what happens in a week beside the drift of values."""
    week = Week(number)
    drawn = chance.random()
    if drawn < 0.2:
        return "quiet", week
    if drawn < 0.4:
        return "outage", week
    if drawn < 0.5:
        week.extra_class = f" v{number}"
        return "cosmetic", week
    week.has_ads, week.has_banner = chance.random() < 0.6, chance.random() < 0.4
    week.has_reviews = chance.random() < 0.5
    return "drift", week


def pages_of(
    kind: str,
    look: Look,
    things: list[dict[str, str]],
    week: Week,
    site: str,
) -> dict[str, str]:
    """Return the pages of a week, still with the marks of their values."""
    home = f"http://{site}.example"
    details = {
        f"{home}/d/{number}": detail_page(kind, look, values, week, number)
        for number, values in enumerate(things)
    }
    lists = {
        f"{home}/list/{n}": listing_page(look, things[n : n + 9], week, n) for n in range(N_LISTS)
    }
    return details | lists


def begin(site: str, kind: str, folder: Path, pages: Mapping[str, str]) -> None:
    """Bring in the first week, annotate some pages and publish the rule."""
    vertical = {
        "name": kind,
        "attributes": [
            {
                "name": attribute.name,
                "type": attribute.type,
                "constant": attribute.is_constant,
                "mandatory": attribute.is_mandatory,
            }
            for attribute in KINDS[kind]
        ],
    }
    (folder / "vertical.json").write_text(json.dumps(vertical))
    call("load_vertical", f"{folder}/vertical.json")
    call("add_site", site, "--url", f"http://{site}.example/", "--vertical", kind)
    answers = {url: Answer(200, page) for url, page in pages.items()}
    call("import_pages", site, write_pages(folder, answers))
    assigned = {line["url"]: line["cluster"] for line in call("cluster_site", site)}
    cluster = assigned[f"http://{site}.example/d/0"]
    samples = [line["url"] for line in call("draw_samples", site) if line["cluster"] == cluster]
    marked = [url for url in samples if "/d/" in url][:N_ANNOTATED]
    lines = [json.dumps(line) for url in marked for line in said_of(kind, url, pages[url])]
    (folder / "annotations.jsonl").write_text("\n".join(lines) + "\n")
    call("import_annotations", site, f"{folder}/annotations.jsonl")
    call("learn_rules", site)
    call("extract_records", site)


def said_of(kind: str, url: str, page: str) -> Iterator[dict[str, Any]]:
    """Yield what an editor would say of a page."""
    tree = html.document_fromstring(page)
    marked = {
        str(element.get("data-v")): element for element in tree.iter() if element.get("data-v")
    }
    for attribute in KINDS[kind]:
        if attribute.name in marked:
            path = tree.getroottree().getpath(marked[attribute.name])
            text = str(marked[attribute.name].text)
            yield {"url": url, "attribute": attribute.name, "xpath": path, "text": text}
        else:
            yield {"url": url, "attribute": attribute.name, "absent": True}


def check(site: str, folder: Path, answers: Mapping[str, Answer]) -> dict[str, Any]:
    """Return what a check says of the pages of a week; extract them too if the week looks well."""
    manifest = write_pages(folder, answers)
    *tests, line = call("run_checks", site, "--source", manifest)
    good = {url: answer for url, answer in answers.items() if answer.status == 200}
    if good and not line["site_changed"]:
        call("import_pages", site, write_pages(folder, good))
        call("extract_records", site)
    suspicious = line.get("suspicious", [])
    told = {
        "site_changed": line["site_changed"],
        "suspicious": bool(suspicious),
        "reason": line["reason"],
    }
    return told | {"n_failed": sum(len(test["failed"]) for test in tests)}


def write_pages(folder: Path, answers: Mapping[str, Answer]) -> str:
    """Write pages as an archive and return its manifest."""
    place = folder / "pages"
    place.mkdir(exist_ok=True)
    with (folder / "manifest.jsonl").open("w") as lines:
        for number, (url, one) in enumerate(answers.items()):
            (place / f"{number}.html").write_text(_MARK.sub("", one.body))
            entry = {"url": url, "file": f"pages/{number}.html", "status": one.status}
            lines.write(json.dumps(entry | {"content_type": "text/html; charset=utf-8"}) + "\n")
    return f"{folder}/manifest.jsonl"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
