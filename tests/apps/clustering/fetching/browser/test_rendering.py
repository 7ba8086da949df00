"""A page is what its scripts make of it, and the browser reaches only what the fetcher may."""

from __future__ import annotations

import os
import resource
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from clustering.dom.addresses import url_hash
from clustering.fetching.browser import chromium, rendering
from clustering.fetching.browser.chromium import BrowserFailed, BrowserMissing
from clustering.fetching.browser.proxy import Proxy
from clustering.fetching.browser.rendering import Renderer
from clustering.fetching.deadlines import Deadline
from clustering.fetching.guard import AddressRefused, Guard, networks
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.sessions import SiteSession
from clustering.models import (
    Cluster,
    ClusterFigures,
    Clustering,
    Page,
    PageMembership,
    Snapshot,
)
from clustering.services.crawl import crawling
from clustering.services.crawl.crawl_results import takes_page
from clustering.services.crawl.errands import open_errands
from clustering.services.crawl.fetch_tasks import Errand
from clustering.services.sites.site_fetching import change_fetching
from tests.apps.clustering.fake_host import LONG_BEFORE, Answer, FakeHost, canary, hang, moved, page
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store
from vertex.management.commands.fetch import open_more_files

BINARY = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
AGENT = "Vertex/test"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not Path(BINARY).exists(), reason="CHROMIUM NOT FOUND: apt-get install chromium"
    ),
]

HTML = {"Content-Type": "text/html; charset=iso-8859-1"}
MADE = Answer(
    b"""<!doctype html><title>shop</title><p id="place">nothing yet</p><script>
    alert("hello");
    fetch("/price").then(answer => answer.text()).then(price => {
      document.getElementById("place").innerHTML = `<a href="/made">caf\xe9 for ${price}</a>`;
    });
    </script>""",
    headers=HTML,
)
PRICE = Answer("7 €".encode(), headers={"Content-Type": "text/plain; charset=utf-8"})


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Renderer:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Renderer(BINARY, AGENT, Guard(networks(["127.0.0.1/32"])))


def test_scripts_have_run_and_the_page_is_utf_8(renderer: Renderer, tmp_path: Path) -> None:
    with FakeHost({"/": MADE, "/price": PRICE}) as host:
        answer = renderer.render(host.url, takes=takes_page)

    assert (answer.status, answer.is_rendered, answer.content_type) == (
        200,
        True,
        "text/html; charset=utf-8",
    )
    assert '<a href="/made">café for 7 €</a>' in answer.body.decode()
    assert answer.body.startswith(b"<!DOCTYPE html>")
    assert host.asked[0].headers["User-Agent"] == AGENT
    assert list(tmp_path.iterdir()) == []  # the profile is gone


def test_redirects_and_other_kinds_of_answers_are_told_like_the_fetcher_does(
    renderer: Renderer,
) -> None:
    routes = {
        "/old": moved("/new", 301),
        "/new": page(),
        "/file": Answer(b"%PDF", headers={"Content-Type": "application/pdf"}),
        "/gone": Answer(b"<p>gone", 404, HTML),
    }
    with FakeHost(routes) as host:
        old, file, gone = (
            renderer.render(f"{host.url}{path}", takes=takes_page)
            for path in ("/old", "/file", "/gone")
        )

    assert (old.status, old.location, old.body) == (301, f"{host.url}/new", b"")
    assert (file.status, file.content_type, file.body) == (200, "application/pdf", b"")
    assert (gone.status, b"gone" in gone.body) == (404, True)
    assert "/new" not in host.paths


def test_a_script_does_not_lead_the_browser_to_another_page(renderer: Renderer) -> None:
    with FakeHost(
        {
            "/": Answer(b"<p>here</p><script>location = '/there'</script>", headers=HTML),
            "/there": page(),
        }
    ) as host:
        answer = renderer.render(host.url, takes=takes_page)

    assert b"here" in answer.body
    assert "/there" not in host.paths


# Ways out of a page; {} is the canary's place.
WAYS_OUT = [
    "<img src='http://{}/img'>",
    "<iframe src='http://{}/frame'></iframe>",
    "<link rel=stylesheet href='http://{}/style'>",
    "<link rel=prefetch href='http://{}/prefetch'><link rel=preconnect href='http://{}/'>",
    "<script src='http://{}/script'></script>",
    "<script>fetch('http://{}/fetch', {{mode: 'no-cors'}})</script>",
    "<script>navigator.sendBeacon('http://{}/beacon', 'x')</script>",
    "<script>new WebSocket('ws://{}/socket')</script>",
    "<script>new EventSource('http://{}/events')</script>",
    "<script>window.open('http://{}/window')</script>",
    "<script>location = 'http://{}/location'</script>",
    "<meta http-equiv=refresh content='0;url=http://{}/refresh'>",
    "<form id=f action='http://{}/form' method=post></form><script>f.submit()</script>",
    "<video src='http://{}/film' autoplay></video>",
    "<object data='http://{}/object'></object>",
    "<script>new Worker(URL.createObjectURL(new Blob([`fetch('http://{}/worker')`])))</script>",
]


@pytest.fixture
def ways_out() -> Iterator[tuple[FakeHost, Any]]:
    with canary("127.0.0.2") as bird:
        place = f"127.0.0.2:{bird.port}"
        body = (
            "".join(way.replace("{}", place) for way in WAYS_OUT)
            .replace("{{", "{")
            .replace("}}", "}")
        )
        with FakeHost({"/": Answer(f"<p>trap</p>{body}".encode(), headers=HTML)}) as host:
            yield host, bird


def test_nothing_in_a_page_reaches_an_address_that_is_not_allowed(
    renderer: Renderer, ways_out: tuple[FakeHost, Any]
) -> None:
    host, bird = ways_out
    assert b"trap" in renderer.render(host.url, takes=takes_page).body

    time.sleep(0.1)
    assert bird.n_connections == 0


def test_the_same_page_reaches_it_where_it_is_allowed(
    renderer: Renderer, ways_out: tuple[FakeHost, Any]
) -> None:
    host, bird = ways_out
    renderer.guard = Guard(networks(["127.0.0.0/8"]))
    renderer.render(host.url, takes=takes_page)

    assert bird.n_connections >= 5


def hears_packets(renderer: Renderer) -> bool:
    """Render a page that tries to learn its address by UDP, and say whether a packet arrived."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        script = f"""<p>call</p><script>
            const Connection = window.RTCPeerConnection || window.webkitRTCPeerConnection;
            const server = "stun:127.0.0.1:{listener.getsockname()[1]}";
            const one = new Connection({{iceServers: [{{urls: server}}]}});
            one.createDataChannel("x");
            one.createOffer().then(offer => one.setLocalDescription(offer));
            setInterval(() => fetch("/more"), 100);
            </script>"""
        with FakeHost({"/": Answer(script.encode(), headers=HTML)}) as host:
            renderer.render(host.url, takes=takes_page)
        listener.settimeout(0.2)
        try:
            return listener.recv(100) != b""
        except TimeoutError:
            return False


@pytest.mark.parametrize("has_flags", [True, False])
@pytest.mark.parametrize("has_script", [True, False])
def test_no_packet_goes_around_the_proxy(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch, *, has_flags: bool, has_script: bool
) -> None:
    monkeypatch.setattr(rendering, "MAX_SETTLING", 2.0)  # the page never comes to rest
    if not has_flags:
        flags = tuple(flag for flag in chromium.FLAGS if "webrtc" not in flag)
        monkeypatch.setattr(chromium, "FLAGS", flags)
    if not has_script:
        monkeypatch.setattr(rendering, "BEFORE_SCRIPTS", "")

    assert hears_packets(renderer) == (not has_flags and not has_script)


def test_a_page_of_an_address_that_is_not_allowed_is_refused(renderer: Renderer) -> None:
    renderer.guard = Guard()
    with FakeHost({"/": page()}) as host:
        with pytest.raises(AddressRefused):
            renderer.render(host.url, takes=takes_page)
        with pytest.raises(AddressRefused):
            renderer.render(f"https://127.0.0.1:{host.server_port}/", takes=takes_page)

    assert host.asked == []


def test_a_page_that_never_comes_to_rest_is_taken_as_it_is(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clustering.fetching.browser.rendering.MAX_SETTLING", 1.0)
    busy = b"<p>busy</p><script>setInterval(() => fetch('/more?' + Math.random()), 20)</script>"
    with FakeHost({"/": Answer(busy, headers=HTML)}) as host:
        answer = renderer.render(host.url, takes=takes_page, seconds=30)
    assert b"busy" in answer.body
    assert answer.waited_for == "1 s after it loaded: scripts went on"


@pytest.fixture
def many_files() -> Iterator[None]:
    """Open more files than `select` can count, as a process with hundreds of crawls does."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, limits[1]))
    open_more_files()
    with ExitStack() as stack:
        for _ in range(1024):
            stack.enter_context(Path(os.devnull).open("rb"))
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("many_files")
def test_a_page_is_drawn_where_many_files_are_open(renderer: Renderer) -> None:
    with FakeHost({"/": page(text="drawn")}) as host:
        assert b"drawn" in renderer.render(host.url, takes=takes_page, seconds=60).body


def test_boxes_that_open_again_and_again_stop_no_page(renderer: Renderer) -> None:
    busy = b"<p>busy</p><script>setInterval(() => [alert(1), confirm(2), prompt(3)], 1)</script>"
    with FakeHost({"/": Answer(busy, headers=HTML)}) as host:
        assert b"busy" in renderer.render(host.url, takes=takes_page, seconds=60).body


def test_no_page_takes_all_the_memory(renderer: Renderer) -> None:
    greedy = b"""<p id="how">none</p><script>
        const how = document.getElementById("how"), taken = [];
        try {
          while (taken.length < 6) taken.push(new Uint8Array(2 ** 30));
          how.textContent = "all of it";
        } catch (error) { how.textContent = error.name; }
    </script>"""
    with FakeHost({"/": Answer(greedy, headers=HTML)}) as host:
        answer = renderer.render(host.url, takes=takes_page, seconds=60)
    assert b'<p id="how">RangeError</p>' in answer.body


@pytest.mark.parametrize(
    "answer", [Answer(raw=hang), Answer(b"<script>while (true) {}</script>", headers=HTML)]
)
def test_a_page_that_hangs_is_left_at_the_deadline(
    renderer: Renderer, tmp_path: Path, answer: Answer
) -> None:
    with FakeHost({"/": answer}) as host:
        begun = time.monotonic()
        with pytest.raises(FetchRefused):
            renderer.render(host.url, takes=takes_page, seconds=3)

    assert time.monotonic() - begun < LONG_BEFORE
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_is_not_there_is_told(renderer: Renderer) -> None:
    with FakeHost({}) as host:
        pass
    with pytest.raises(FetchRefused) as refused:
        renderer.render(host.url, takes=takes_page)

    assert refused.value.is_transient


def test_called_off_rendering_ends_at_once(renderer: Renderer) -> None:
    renderer.stop = called_off = threading.Event()

    def call_off_and_hang(visitor: BaseHTTPRequestHandler) -> None:
        called_off.set()
        hang(visitor)

    with FakeHost({"/": Answer(raw=call_off_and_hang)}) as host:
        begun = time.monotonic()
        with pytest.raises(FetchRefused):
            renderer.render(host.url, takes=takes_page)

    assert called_off.is_set()
    assert time.monotonic() - begun < LONG_BEFORE


def test_a_browser_that_is_not_there_or_is_none_is_told(renderer: Renderer) -> None:
    renderer.binary = "/nowhere/chromium"
    with pytest.raises(BrowserMissing, match="VERTEX_CHROMIUM"):
        renderer.render("http://127.0.0.1/", takes=takes_page)
    renderer.binary = "/bin/true"
    with pytest.raises((BrowserMissing, BrowserFailed)):
        renderer.render("http://127.0.0.1/", takes=takes_page)


def test_the_proxy_refuses_what_it_does_not_understand() -> None:
    for text in (
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"CONNECT a@b:1 HTTP/1.1\r\n\r\n",
    ):
        with (
            Proxy(Guard(), Deadline(60), 1000) as proxy,
            socket.create_connection(("127.0.0.1", proxy.port)) as client,
        ):
            client.settimeout(60)
            client.sendall(text)
            assert client.recv(100).startswith((b"", b"HTTP/1.1 400"))


@pytest.mark.django_db
@pytest.mark.usefixtures("loopback")
def test_a_crawl_renders_the_pages_of_a_site_that_asks_for_it() -> None:
    with FakeHost(
        {"/": MADE, "/price": PRICE, "/made": moved("/end"), "/end": page(text="end")}
    ) as host:
        site = Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0, render=True)
        job = create_here(crawling.crawl_request(site=site))
        job = jobs.run_job(job.pk, crawling.crawl)

    assert (job.state, job.result) == (Job.State.DONE, {"stored": 2, "redirected": 1, "left": 0})
    root = Page.objects.get(url=f"{host.url}/")
    assert root.latest_snapshot is not None
    assert (root.latest_snapshot.is_rendered, root.latest_snapshot.encoding) == (True, "utf-8")
    assert "café for 7 €" in page_store().read(root.latest_snapshot.body).decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("loopback")
def test_pages_of_some_clusters_only_are_rendered() -> None:
    names = ["deal-1", "deal-2", "about", "help"]
    with FakeHost({"/price": PRICE} | {f"/{name}": MADE for name in names}) as host:
        site = Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0)
        clustering = Clustering.objects.create(site=site, algorithm="auto", is_current=True)
        for name, page_name, pattern in (
            ("deals", "deal-1", f"{host.url}/deal-(.*)"),
            ("texts", "about", f"{host.url}/(.*)p"),
        ):
            cluster = Cluster.objects.create(site=site, name=name, title=name)
            ClusterFigures.objects.create(
                clustering=clustering, cluster=cluster, n_pages=1, url_pattern=pattern
            )
            url = f"{host.url}/{page_name}"
            known = Page.objects.create(site=site, url=url, url_hash=url_hash(url), given_url=url)
            PageMembership.objects.create(clustering=clustering, page=known, cluster=cluster)
        change_fetching(site=site, actor=None, rendered_clusters=["deals"])
        host.routes["/"] = page(*(f"/{name}" for name in names))
        jobs.run_job(create_here(crawling.crawl_request(site=site)).pk, crawling.crawl)
        run = jobs.claim_job(
            jobs.create_job(task="tests.check", queue=Job.Queue.CHECK, title="Check", site=site).pk
        )
        with open_errands(run) as turns:
            urls = [f"{host.url}/{name}" for name in ("deal-1", "about")]
            done = list(turns.do([Errand(url, is_page=True) for url in urls]))

    rendered = {"/", *(f"/{name}" for name in names)} & {
        each.page.url.removeprefix(host.url)
        for each in Snapshot.objects.filter(is_rendered=True).exclude(waited_for="")
    }
    assert rendered == {"/deal-1", "/deal-2"}, "a known page, and a new one by its address"
    assert {True, False} == {each.answer.is_rendered for each in done if each.answer}


@pytest.mark.django_db
@pytest.mark.usefixtures("loopback")
def test_without_rendering_the_page_is_what_the_host_sent() -> None:
    with FakeHost({"/": MADE, "/price": PRICE}) as host:
        site = Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0)
        job = create_here(crawling.crawl_request(site=site))
        jobs.run_job(job.pk, crawling.crawl)

    assert host.paths == ["/"]
    root = Page.objects.get()
    assert root.latest_snapshot is not None
    assert root.latest_snapshot.is_rendered is False


def test_what_is_secret_of_a_site_goes_to_its_host_only(renderer: Renderer) -> None:
    """The page gets the headers, its host the cookies, another host neither."""
    renderer.guard = Guard(networks(["127.0.0.0/8"]))
    with FakeHost({"/far.png": PRICE}, address="127.0.0.2") as other, FakeHost({}) as host:
        far = f"{other.url}/far.png"
        host.routes["/"] = Answer(
            f"<img src=/near.png><img src=/moved.png><img src={far}>".encode(), headers=HTML
        )
        host.routes["/near.png"] = PRICE
        host.routes["/moved.png"] = moved(far)
        session = SiteSession(
            root_url=f"{host.url}/",
            user_agent="Reader/2",
            headers={"Authorization": "Bearer s3cret"},
            cookies={"session": "s3cret"},
        )
        renderer.render(host.url, takes=takes_page, session=session)

    body = {each.path: each.headers for each in host.asked}
    assert body["/"]["Authorization"] == "Bearer s3cret"
    assert body["/"]["Cookie"] == body["/near.png"]["Cookie"] == "session=s3cret"
    assert {headers["User-Agent"] for headers in body.values()} == {"Reader/2"}
    assert "Authorization" not in body["/near.png"]
    assert other.asked, "the control: the browser went there"
    assert not any("s3cret" in str(each.headers) for each in other.asked)
