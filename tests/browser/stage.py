"""An installation with something of everything, written row by row."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.models import Link, Page, Snapshot
from tests.browser.cluster_stage import add_clusters
from vertex.core.models import Heartbeat, Job, Membership, Refusal, Role, Site, User
from vertex.core.services.jobs.heartbeat import CLOCK
from vertex.core.storage import page_store

PASSWORD = "correct-horse-battery"
SOURCE = """<!doctype html>
<html lang="en">
<head><title>Trail Runner 4</title><script>alert("not here")</script></head>
<body>
  <main class="product">
    <h1>Trail Runner 4</h1>
    <span class="price">{price}</span>
    <p onclick="alert(1)">Light, grippy, dries fast. \u202eright to left\u202c</p>
  </main>
</body>
</html>
"""


def add_people() -> dict[str, User]:
    people = {}
    for role in Role:
        user = User.objects.create_user(role.value, password=PASSWORD)
        Membership.objects.create(user=user, role=role)
        people[role.value] = user
    return people


def add_page(
    site: Site, url: str, *, now: datetime, bodies: tuple[bytes, ...] = (), **fields: Any
) -> Page:
    page = Page.objects.create(
        site=site,
        url=url,
        url_hash=url_hash(url),
        given_url=fields.pop("given_url", url),
        **fields,
    )
    for n, body in enumerate(bodies):
        at = now - timedelta(days=3 * (len(bodies) - n), hours=2)
        page.latest_snapshot = Snapshot.objects.create(
            page=page,
            body=page_store().put(body),
            n_bytes=len(body),
            content_type="text/html; charset=utf-8",
            encoding="utf-8",
            requested_url=url,
            final_url=url,
            fetched_at=at,
            seen_at=at + timedelta(hours=20),
        )
    page.save()
    return page


def add_job(title: str, state: Job.State, *, now: datetime, **fields: Any) -> Job:
    if state == Job.State.RUNNING:
        fields |= {
            "lease": "here",
            "leased_until": now + timedelta(hours=1),
            "claimed_at": now - timedelta(minutes=3),
            "started_at": now - timedelta(minutes=3),
        }
    elif state != Job.State.DUE:
        fields |= {
            "started_at": now - timedelta(minutes=40),
            "finished_at": now - timedelta(minutes=12),
        }
    fields.setdefault("task", "clustering.crawl_site")
    fields.setdefault("queue", Job.Queue.FETCH)
    return Job.objects.create(
        title=title, state=state, created_at=now - timedelta(minutes=45), **fields
    )


def show_workers_alive() -> None:
    for name in (CLOCK, *Job.Queue.values):
        Heartbeat.objects.update_or_create(name=name, defaults={"at": timezone.now()})


def set_stage(*, n_pages: int = 120) -> Site:
    """Fill the installation and return its fullest site."""
    now = timezone.now()
    show_workers_alive()
    shop = Site.objects.create(
        name="alpine-shop",
        title="Alpine Shop",
        root_url="https://www.alpine-shop.example/",
        n_pages=n_pages + 5,
        last_snapshot_at=now - timedelta(hours=2),
        extra_hosts=["images.alpine-shop.example"],
    )
    for n, name in enumerate(
        ["city-guide", "daily-courier", "garden-market", "museum-of-clocks", "recipe-box"]
    ):
        Site.objects.create(
            name=name,
            root_url=f"https://{name}.example/{'very/long/' * n}",
            n_pages=311 * n,
            last_snapshot_at=now - timedelta(days=2 * n) if n else None,
        )
    _add_pages(shop, n_pages, now)
    add_clusters(shop)
    _add_jobs(shop, now)
    return shop


def _add_pages(shop: Site, n_pages: int, now: datetime) -> None:
    root = shop.root_url
    seen: dict[str, Any] = {
        "visited_at": now - timedelta(hours=2),
        "first_seen_at": now - timedelta(days=6),
    }
    bodies = tuple(SOURCE.format(price=price).encode() for price in ("$89.00", "$84.00"))
    home = add_page(shop, root, now=now, bodies=bodies, state="stored", status=200, **seen)
    for n in range(n_pages):
        url = (
            f"{root}products/outdoor/running-shoes/mens/trail-runner-{n}-waterproof-edition"
            f"?colour=black&size={n}"
        )
        product = add_page(
            shop,
            url,
            now=now,
            bodies=bodies[: n % 3],
            state="stored",
            status=200,
            depth=1 + n % 4,
            **seen,
        )
        if n < 70:
            xpath = f"/html/body/main[1]/div[3]/ul[1]/li[{n + 1}]/a[1]"
            Link.objects.create(
                page=home,
                position=n,
                xpath=xpath,
                url=url,
                url_hash=product.url_hash,
                text=f"Trail Runner {n}",
            )
            Link.objects.create(
                page=product,
                position=0,
                xpath="/html/body/nav/a[1]",
                url=root,
                url_hash=home.url_hash,
                text="Home",
            )
    add_page(shop, f"{root}cart", now=now, state="refused", reason="robots.txt forbids it", **seen)
    add_page(
        shop,
        f"{root}gone",
        now=now,
        state="failed",
        status=404,
        reason="the server answered 404",
        **seen,
    )
    add_page(
        shop,
        f"{root}down",
        now=now,
        state="failed",
        status=503,
        reason="the server answered 503",
        **seen,
    )
    add_page(shop, f"{root}old", now=now, state="redirected", status=301, redirects_to=home, **seen)
    deep = add_page(
        shop, f"{root}deep", now=now, bodies=(b"<p>" * 99,), state="stored", status=200, **seen
    )
    Snapshot.objects.filter(page=deep).update(problem="truncated")
    add_page(shop, f"{root}not-yet-visited", now=now, state="due", depth=2)


def _add_jobs(shop: Site, now: datetime) -> None:
    keep: dict[str, Any] = {"queue": Job.Queue.KEEP, "task": "clustering.import_pages"}
    done = add_job(
        "Import backup.warc.gz into alpine-shop",
        Job.State.DONE,
        now=now,
        site=shop,
        n_done=1204,
        n_total=1204,
        result={"new": 1180, "unchanged": 12, "failed": 12},
        **keep,
    )
    codes = ["robots", "too_large", "bad_line"]
    Refusal.objects.bulk_create(
        Refusal(
            site=shop,
            job=done,
            subject=f"https://www.alpine-shop.example/basket/step-{n}/confirm?session=none",
            code=codes[n % 3],
            reason="the body is larger than 10 MiB; import it with a smaller picture"
            if n % 3
            else "robots.txt forbids it",
        )
        for n in range(12)
    )
    garden = Site.objects.get(name="garden-market")
    add_job(
        "Crawl garden-market",
        Job.State.FAILED,
        now=now,
        site=garden,
        error="garden-market.example does not answer: no address is known for it. "
        "Look at the site's address.",
        n_tries=5,
    )
    add_job(
        "Crawl museum-of-clocks",
        Job.State.CANCELLED,
        now=now,
        n_done=40,
        site=Site.objects.get(name="museum-of-clocks"),
    )
    add_job("Crawl recipe-box", Job.State.DUE, now=now, site=Site.objects.get(name="recipe-box"))
    add_job(
        "Crawl alpine-shop",
        Job.State.RUNNING,
        now=now,
        site=shop,
        n_done=412,
        n_total=1000,
        message="Visits www.alpine-shop.example",
        params={"entry": shop.root_url, "max_pages": 1000, "strategy": "breadth_first"},
    )
