"""How long the lists take with 1,000 sites and 1,000,000 pages in a real PostgreSQL."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.http.response import HttpResponseBase

from benchmarks.report import markdown_table
from tests.servers import postgres

TITLE = "Lists"
ROOT = Path(__file__).resolve().parent.parent
N_SITES, N_PAGES = 1_000, 1_000_000
N_ROUNDS = 200 if os.environ.get("VERTEX_FULL") else 40
BAR_MS = 300
# A few sites have most of the pages, as in life. The smallest have some dozens.
FILL = """
SELECT setseed(0.5);

INSERT INTO core_site (
    name, title, root_url, extra_hosts, crawl_delay, obey_robots, render, created_at, n_pages)
SELECT 'site-' || lpad(i::text, 4, '0'), 'Site ' || i, 'https://site-' || i || '.example/',
       '[]', 1, true, false, now(), 0
FROM generate_series(1, {n_sites}) AS i;

-- Both ways at once: the database looks at the references when the transaction ends.
INSERT INTO clustering_page (
    id, site_id, url, url_hash, given_url, state, status, reason, depth, n_tries,
    latest_snapshot_id, first_seen_at, visited_at)
SELECT i, first.id + k, url, substr(sha256(url::bytea), 1, 16), url,
       (ARRAY['stored', 'stored', 'stored', 'due', 'skipped', 'failed'])[1 + i % 6],
       200, '', i % 7, 1, i, now() - i * interval '1 second', now() - i * interval '1 second'
FROM (SELECT min(id) AS id FROM core_site) AS first,
     (SELECT i, floor({n_sites} * power(random(), 3))::int AS k
      FROM generate_series(1, {n_pages}) AS i) AS numbered,
     LATERAL (
         SELECT 'https://site-' || k || '.example/product/' || i || '.html' AS url) AS addressed;

INSERT INTO clustering_snapshot (
    id, page_id, body, n_bytes, status, content_type, encoding, requested_url, final_url, problem,
    is_rendered, fetched_at, seen_at)
SELECT id, id, encode(sha256(id::text::bytea), 'hex'), 90000, 200, 'text/html', 'utf-8', url, url,
       '', false, visited_at, visited_at
FROM clustering_page;

UPDATE core_site SET n_pages = counted.n, last_snapshot_at = now()
FROM (SELECT site_id, count(*) AS n FROM clustering_page GROUP BY site_id) AS counted
WHERE counted.site_id = core_site.id;
"""


def run(data: Path | None) -> str:  # noqa: ARG001 - this one makes its own rows
    """Fill a PostgreSQL, ask for the lists many times, and return the figures."""
    with postgres() as address, tempfile.TemporaryDirectory() as folder:
        environ = os.environ | {"DATABASE_URL": address, "VERTEX_VAR": folder}
        child = [sys.executable, "-m", "benchmarks.lists"]
        process = subprocess.run(child, env=environ, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    figures = json.loads(process.stdout)
    rows = [[name, *(f"{figure:.0f}" for figure in row)] for name, row in figures["lists"].items()]
    of_sites = [
        row for name, row in figures["lists"].items() if name.partition(": ")[2].startswith("sites")
    ]
    slowest = max(p95 for _, p95 in of_sites)
    return (
        f"{N_SITES:,} sites and {N_PAGES:,} pages with a snapshot each; "
        f"{N_ROUNDS} requests a list, "
        f"through all of the application but the socket.\n\n"
        + markdown_table(["list", "median ms", "p95 ms"], rows)
        + f"\n\nSlowest p95 of the lists of sites: {slowest:.0f} ms (bar: {BAR_MS} ms). "
        f"1,000 pages through the API take 1/{figures['ratio']:.1f} of the time "
        "that a plain ModelSerializer takes for them (bar: 1/4)."
    )


def measure() -> None:
    """Do the work in a process whose database is the PostgreSQL."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.API_RATE = 10**9
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    fill()
    lists = {name: timed(ask) for name, ask in requests().items()}
    json.dump({"lists": lists, "ratio": ratio_to_model_serializer()}, sys.stdout)


def fill() -> None:
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute(FILL.format(n_sites=N_SITES, n_pages=N_PAGES))
        cursor.execute("VACUUM ANALYZE")


def requests() -> dict[str, Callable[[], Any]]:
    """Return what is asked, by name."""
    from django.test import Client
    from django.urls import reverse

    administrator, viewer = callers()
    browser = Client()
    browser.force_login(administrator[0])
    api = "/api/v1"
    deep = deep_address(administrator[1], f"{api}/pages/?limit=1000")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1800))

    def ask(address: str, headers: dict[str, str]) -> Callable[[], Any]:
        return lambda: expect_ok(Client().get(address, headers=headers))

    return {
        "browser: sites": lambda: expect_ok(browser.get(reverse("sites"))),
        "browser: pages of the largest site": lambda: expect_ok(
            browser.get(reverse("pages", args=["site-0001"]))
        ),
        "API: sites, 100": ask(f"{api}/sites/", administrator[1]),
        "API: sites, 1,000": ask(f"{api}/sites/?limit=1000", administrator[1]),
        "API: sites, viewer of 500": ask(f"{api}/sites/?limit=1000", viewer[1]),
        "API: pages, 100": ask(f"{api}/pages/", administrator[1]),
        "API: pages, 1,000": ask(f"{api}/pages/?limit=1000", administrator[1]),
        "API: pages, 1,000, half-way through": ask(deep, administrator[1]),
        "API: pages, viewer of 500 sites": ask(f"{api}/pages/", viewer[1]),
        "API: pages of the largest site": ask(f"{api}/pages/?site=site-0001", administrator[1]),
        "API: pages of a small site": ask(f"{api}/pages/?site=site-0999", administrator[1]),
        "API: failed pages of the largest site": ask(
            f"{api}/pages/?site=site-0001&state=failed", administrator[1]
        ),
        "API: page by its address": ask(
            f"{api}/pages/?url=https://site-500.example/product/1.html", administrator[1]
        ),
        "API: pages changed in the last half hour": ask(
            f"{api}/pages/?changed_since={since}", administrator[1]
        ),
        "API: pages visited in the last half hour": ask(
            f"{api}/pages/?visited_since={since}", administrator[1]
        ),
        "API: page of status 500 of the largest site (there is none)": ask(
            f"{api}/pages/?site=site-0001&status=500", administrator[1]
        ),
    }


def callers() -> list[tuple[Any, dict[str, str]]]:
    """Return an administrator and a viewer of every second site, each with a token's headers."""
    from vertex.core.models import Membership, Role, Scope, Site, User
    from vertex.core.services.people.tokens import create_token

    administrator = User.objects.create_user("ada")
    Membership.objects.create(user=administrator, role=Role.ADMINISTRATOR)
    viewer = User.objects.create_user("vic")
    sites = Site.objects.order_by("name")[::2]
    Membership.objects.bulk_create(
        Membership(user=viewer, site=site, role=Role.VIEWER) for site in sites
    )
    keys = [
        create_token(user=user, name="bench", scopes=Scope.reading(), actor=None)[1]
        for user in (administrator, viewer)
    ]
    return [
        (user, {"Authorization": f"Token {key}"})
        for user, key in zip((administrator, viewer), keys, strict=True)
    ]


def deep_address(headers: dict[str, str], address: str) -> str:
    """Return an address of the list whose cursor stands half-way, without walking there."""
    from django.test import RequestFactory
    from rest_framework.request import Request

    from clustering.models import Page
    from vertex.core.api.paging import write_cursor

    middle = Page.objects.order_by("id").values_list("id", flat=True)[N_PAGES // 2]
    request = Request(RequestFactory().get(address, headers=headers))
    return f"{address}&cursor={write_cursor(middle, request)}"


def timed(ask: Callable[[], Any]) -> tuple[float, float]:
    """Return median and 95th percentile of the milliseconds that a request takes."""
    for _ in range(3):
        ask()
    times = []
    for _ in range(N_ROUNDS):
        begun = time.perf_counter()
        ask()
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times), sorted(times)[int(0.95 * len(times))]


def ratio_to_model_serializer() -> float:
    """Return how many times longer a plain ModelSerializer takes for the same 1,000 rows."""
    import orjson
    from rest_framework.renderers import JSONRenderer
    from rest_framework.serializers import ModelSerializer

    from clustering.api.pages.pages import PageRow
    from clustering.models import Page

    class Plain(ModelSerializer[Page]):
        class Meta:
            model = Page
            exclude = ("url_hash", "crawl", "n_tries")

    pages = Page.objects.order_by("id")[:1000]
    plain, _ = timed(lambda: JSONRenderer().render(Plain(pages.all(), many=True).data))
    ours, _ = timed(lambda: orjson.dumps(PageRow.read(pages.all())))
    return plain / ours


def expect_ok(response: HttpResponseBase) -> None:
    if response.status_code != 200:
        raise RuntimeError(f"{response.status_code}: {getattr(response, 'content', b'')[:500]!r}")


if __name__ == "__main__":
    measure()
