"""The network lies in the middle of a visit.

What is known of the site stays, and nobody is told that it changed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from clustering.models import Page
from clustering.services.clusters.arrivals import assign_arrivals
from clustering.services.crawl.revisiting import LinksToFollow, revisit, start_revisit
from monitoring.models import Alert, SiteChange
from monitoring.services.checks.checking import check_request, run_checks
from rules.models import Bellwether, GoldenRecord, Record, RecordVersion, Rule
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, moved, page
from tests.apps.monitoring.monitored_shop import N
from tests.apps.monitoring.shop_on_host import Shop
from tests.apps.rules.shop_cast import extract, product
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

MOST_ROUNDS = 6  # of a check
N_TRUE = 4  # pages that come as they are before the network lies


def raw(content: bytes) -> Answer:
    """Answer with these bytes, and end the connection."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(content)
        handler.close_connection = True

    return Answer(raw=write)


def body_of(path: str) -> bytes:
    return product(int(path.rpartition("/")[2]))[1]


def cut_off(asked: Asked) -> Answer:
    body = body_of(asked.path)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return raw(head.encode() + body[: len(body) // 2])


def cut_off_chunks(asked: Asked) -> Answer:
    half = body_of(asked.path)[:200]
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return raw(head.encode() + f"{len(half):x}\r\n".encode() + half + b"\r\n")


def shorter_than_it_is(asked: Asked) -> Answer:
    body = body_of(asked.path)
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 60\r\n\r\n"
    return raw(head.encode() + body)


def nothing(_asked: Asked) -> Answer:
    return Answer(b"", headers={"Content-Type": "text/html"})


def page_of_another_host(_asked: Asked) -> Answer:
    return page("/accounts", "/loans", text="The bank of the valley")


def captive_portal(_asked: Asked) -> Answer:
    form = (
        b"<title>Wi-Fi</title><h1>Welcome</h1><form action=/go method=post><input name=room></form>"
    )
    return Answer(b"<!doctype html>" + form, headers={"Content-Type": "text/html"})


def way_to_a_portal(_asked: Asked) -> Answer:
    return moved("http://portal.test/login")


LIES = (
    cut_off,
    cut_off_chunks,
    shorter_than_it_is,
    nothing,
    page_of_another_host,
    captive_portal,
    way_to_a_portal,
)


@pytest.fixture
def shop() -> Iterator[Shop]:
    one = Shop()
    with one.host:
        yield one


def known_of(site: Site) -> dict[str, Any]:
    """Return what must not change: records, rules, golden records, bellwethers."""
    of_rules = {"rule__cluster__site": site}
    return {
        "records": list(
            Record.objects.there()
            .filter(page__site=site)
            .order_by("pk")
            .values_list("pk", "values")
        ),
        "versions": RecordVersion.objects.count(),
        "rules": list(
            Rule.objects.filter(cluster__site=site).order_by("pk").values_list("pk", "state")
        ),
        "golden": list(
            GoldenRecord.objects.filter(**of_rules).order_by("pk").values_list("pk", "records")
        ),
        "bellwethers": list(Bellwether.objects.filter(cluster__site=site).order_by("pk").values()),
    }


def visit_all(site: Site) -> Job:
    pages = Page.objects.filter(site=site, url__contains="/p/").order_by("pk")
    job = start_revisit(site=site, pages=pages.values_list("pk", flat=True), links=LinksToFollow())
    Job.objects.filter(pk=job.pk).update(due_at=job.created_at)
    return run_job(job.pk, revisit)


def go_on(site: Site) -> None:
    """Do what follows a visit: assign what came, extract it, check."""
    assign_arrivals(site=site)
    extract(site)
    check_to_its_end(site)
    extract(site)


def check_to_its_end(site: Site) -> None:
    """Check, as often as a check that found nobody or is in doubt asks to be repeated."""
    checks = Job.objects.filter(task="monitoring.run_checks", state=Job.State.DUE)
    if not checks.exists():
        enqueue(check_request(site=site))
    for _ in range(MOST_ROUNDS):
        job = checks.first()
        if job is None:
            return
        checks.update(due_at=job.created_at)
        run_job(job.pk, run_checks)


def lie_after_some(shop: Shop, lie: Callable[[Asked], Answer]) -> None:
    """Answer as it is for some pages, then otherwise for all."""
    truth = dict(shop.routes)
    n_asked = 0

    def answer(asked: Asked) -> Answer:
        nonlocal n_asked
        n_asked += 1
        return truth[asked.path](asked) if n_asked <= N_TRUE else lie(asked)

    shop.routes.update(dict.fromkeys(truth, answer))


def assert_nothing_is_believed(site: Site, known: dict[str, Any]) -> None:
    assert known == known_of(site)
    assert not SiteChange.objects.exists()
    told = {Alert.Kind.UNREACHABLE, Alert.Kind.HELD}
    assert set(Alert.objects.values_list("kind", flat=True)) <= told


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_answers_of_another_kind_change_nothing(shop: Shop, lie: Callable[[Asked], Answer]) -> None:
    site = shop.open()
    extract(site)
    known = known_of(site)
    truth = dict(shop.routes)
    lie_after_some(shop, lie)
    visit_all(site)
    go_on(site)

    assert len(known["records"]) >= N
    assert Alert.objects.filter(kind=Alert.Kind.UNREACHABLE).exists(), "the control: it lied"
    assert_nothing_is_believed(site, known)

    shop.routes.update(truth)
    visit_all(site)
    go_on(site)
    assert_nothing_is_believed(site, known)
    assert not Alert.objects.open().exists()


def test_a_name_that_leads_elsewhere_changes_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve, n_asked, is_over = socket.getaddrinfo, 0, False

    def answer(host: str, port: int, **options: Any) -> Any:
        nonlocal n_asked
        if host != "shop.test":
            return resolve(host, port, **options)
        n_asked += 1
        is_true = is_over or n_asked <= N_TRUE
        return resolve("127.0.0.1" if is_true else "10.0.0.7", port, **options)

    monkeypatch.setattr("clustering.fetching.guard.socket.getaddrinfo", answer)
    monkeypatch.setattr(
        FakeHost, "url", property(lambda host: f"http://shop.test:{host.server_port}")
    )
    shop.routes.update({path: one_connection_each(reply) for path, reply in shop.routes.items()})
    site = shop.open()
    extract(site)
    known = known_of(site)
    visit_all(site)
    go_on(site)

    assert n_asked > N_TRUE
    assert Alert.objects.filter(kind=Alert.Kind.UNREACHABLE).exists()
    assert_nothing_is_believed(site, known)

    is_over = True
    visit_all(site)
    go_on(site)
    assert_nothing_is_believed(site, known)
    assert not Alert.objects.open().exists()


def one_connection_each(reply: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """Answer as `reply` does, and end the connection: the name is asked for each time."""

    def answer(asked: Asked) -> Answer:
        once = reply(asked)
        return replace(once, headers={**once.headers, "Connection": "close"})

    return answer
