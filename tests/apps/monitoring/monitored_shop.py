"""A small shop with a published rule, and archives of its pages as they are later."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from monitoring.services.checks.checking import check_request, run_checks
from monitoring.services.repair.repairing import repair_request, repair_site
from rules.models import Rule
from tests.apps.clustering.demo_sites import articles
from tests.apps.rules.shop_cast import learnt_shop, product
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

REDESIGN = (
    "<html><head><title>{name} | shop</title></head><body><header><a "
    "href='/'>Shop</a></header><main>"
    "<section><div class='t'>{name}</div><table><tr><th>Now</th><td>{price} "
    "EUR</td></tr>{more}</table>"
    "</section></main><footer><p>All prices with tax</p></footer></body></html>"
)
N = 12
Made = tuple[str, bytes, str]


def shop() -> Site:
    return learnt_shop(N)[0]


def rules_of(site: Site) -> list[tuple[int, str]]:
    return list(
        Rule.objects.filter(cluster__site=site).order_by("version").values_list("version", "state")
    )


def redesigned(n: int) -> Made:
    more = f"<tr><th>Weighs</th><td>{n * 10 + 5} g</td></tr>" if n % 3 else ""
    return (
        f"p/{n}",
        REDESIGN.format(name=f"Rope {n}", price=f"{n}.50", more=more).encode(),
        "text/html",
    )


def with_ad(n: int) -> Made:
    path, body, kind = product(n)
    ad = b"<div><div><a><img></a><span><i></i></span></div><aside><p><b></b></p></aside></div>"
    return path, body.replace(b"<body>", b"<body>" + ad), kind


def dearer(n: int) -> Made:
    return product(n, price=f"{n}.99")


def archive(
    folder: Path,
    site: Site,
    make: Callable[[int], Made] = product,
    *,
    status: int = 200,
    more: Iterable[Made] = (),
) -> str:
    """Write the shop's pages as they are now, and return the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    pages = [*(make(n) for n in range(1, N + 1)), *articles(range(N // 2)), *more]
    for number, (path, body, kind) in enumerate(pages):
        (folder / f"{number}.html").write_bytes(body)
        line = {"url": site.root_url + path, "file": f"{number}.html", "content_type": kind}
        lines.append(json.dumps(line | {"status": status}))
    manifest = folder / "manifest.jsonl"
    manifest.write_text("\n".join(lines))
    return str(manifest)


def check(site: Site, source: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Check a site in this process; return the lines of its pages and that of the site."""
    lines: list[dict[str, Any]] = []
    job = create_here(check_request(site=site, source=source, is_patient=False))
    done = run_job(job.pk, run_checks, report=lines.append)
    assert done.state == Job.State.DONE, done.error
    return lines[:-1], lines[-1]


def repair(site: Site, source: str, *, accept: bool = False) -> list[dict[str, Any]]:
    """Repair a site in this process and return the lines."""
    lines: list[dict[str, Any]] = []
    job = create_here(
        repair_request(site=site, source=source, is_accepted=accept, is_patient=False)
    )
    done = run_job(job.pk, repair_site, report=lines.append)
    assert done.state == Job.State.DONE, done.error
    return lines
