"""A list that a site keeps is visited when it is due: once, and with what it has then."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from clustering.models import Snapshot
from clustering.services.crawl.address_lists import VISIT_ADDRESSES, visit_addresses
from monitoring.models import KeptList
from monitoring.services.stream import kept_lists
from monitoring.services.stream.chain import go_on, pause_step
from monitoring.services.stream.kept_lists import (
    DROPPED_RETENTION,
    add_list,
    addresses_of_file,
    change_list,
    delete_dropped_lists,
    drop_list,
    restore_list,
    start_due_lists,
    visit_now,
)
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from vertex.core.models import AuditEntry, Job, Refusal, Site
from vertex.core.services.jobs import jobs

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("loopback"),
]
MONDAY = datetime(2025, 6, 2, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def kept_at(site: Site, **values: Any) -> KeptList:
    """Keep a list on Monday."""
    default = {} if "url" in values else {"addresses": f"{site.root_url}1\n{site.root_url}2"}
    return add_list(site=site, now=MONDAY, **{"name": "New products", **default, **values})


def due_at(kept_list: KeptList) -> datetime:
    kept_list.refresh_from_db()
    assert kept_list.next_at is not None
    return kept_list.next_at


def sources_left(settings: Any) -> list[Path]:
    folder = settings.UPLOAD_DIR
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def finish(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE, lease="", leased_until=None)


def host_of(routes: dict[str, Answer | Callable[[Asked], Answer]]) -> tuple[FakeHost, Site]:
    host = FakeHost({f"/{n}": page(text=str(n)) for n in range(9)} | routes)
    return host, Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0.0)


def visited(kept_list: KeptList) -> Job:
    return jobs.run_job(visit_now(kept_list=kept_list).pk, visit_addresses)


def text_file(*lines: str) -> Answer:
    return Answer("\n".join(lines).encode(), headers={"Content-Type": "text/plain"})


def test_a_list_is_planned_within_a_day_and_visited_when_it_is_due(settings: Any) -> None:
    kept_list = kept_at(site_of())
    at = due_at(kept_list)
    assert MONDAY < at <= MONDAY + DAY
    assert start_due_lists(at - timedelta(seconds=1)) == 0

    assert go_on(at) == 1
    job = Job.objects.get()
    kept_list.refresh_from_db()

    assert (job.task, job.queue) == (VISIT_ADDRESSES.task, Job.Queue.FETCH)
    assert (kept_list.last_job, due_at(kept_list)) == (job, at + DAY)
    assert [path.read_text() for path in sources_left(settings)] == [kept_list.addresses]
    assert not AuditEntry.objects.filter(action="addresses.visited").exists()


def test_a_visit_stores_the_pages_and_the_next_one_only_asks_whether_they_changed() -> None:
    def tagged(request: Asked) -> Answer:
        if request.headers.get("If-None-Match") == '"one"':
            return Answer(status=304, headers={"ETag": '"one"'})
        body = b"<!doctype html><title>1</title><p>one</p>"
        return Answer(body, headers={"Content-Type": "text/html", "ETag": '"one"'})

    host, site = host_of({"/1": tagged})
    with host:
        kept_list = kept_at(site)
        first, second = visited(kept_list), visited(kept_list)

    assert (first.result, second.result) == ({"stored": 2, "left": 0, "addresses": 2},) * 2
    assert Snapshot.objects.filter(page__url__endswith="/1").count() == 1
    asked = [request.headers.get("If-None-Match") for request in host.asked if request.path == "/1"]
    assert asked == [None, '"one"']


def test_a_visit_that_goes_on_is_not_started_twice(settings: Any) -> None:
    kept_list = kept_at(site_of(), every=1, unit="hours")
    at = due_at(kept_list)
    assert start_due_lists(at) == 1

    assert start_due_lists(at + HOUR) == 0
    assert Job.objects.count() == len(sources_left(settings)) == 1
    assert due_at(kept_list) == at + 2 * HOUR
    assert "is already waiting" in kept_list.left_out

    finish(Job.objects.get())
    assert start_due_lists(at + 2 * HOUR) == 1
    kept_list.refresh_from_db()
    assert kept_list.left_out == ""


def test_other_lists_and_a_list_given_once_are_no_hindrance() -> None:
    site = site_of()
    kept_at(site)
    kept_at(site, name="Others")

    assert start_due_lists(MONDAY + DAY) == 2


def test_what_was_missed_is_caught_up_once() -> None:
    kept_list = kept_at(site_of())
    much_later = due_at(kept_list) + 9 * DAY + HOUR

    assert [start_due_lists(much_later), start_due_lists(much_later)] == [1, 0]
    assert much_later < due_at(kept_list) <= much_later + DAY


def test_lists_of_a_paused_site_wait_and_are_visited_once_it_goes_on() -> None:
    site = site_of()
    kept_list = kept_at(site)
    at = due_at(kept_list)
    pause_step(site=site, step="crawl", is_paused=True, actor=None)
    assert go_on(at + HOUR) == 0
    assert due_at(kept_list) == at

    pause_step(site=site, step="crawl", is_paused=False, actor=None)
    assert go_on(at + HOUR) == 1


def test_a_list_that_is_paused_or_deleted_or_of_a_site_that_goes_is_not_visited() -> None:
    kept_at(site_of("a"), is_active=False)
    drop_list(kept_list=kept_at(site_of("b")))
    kept_at(site_of("c"))
    Site.objects.filter(name="c").update(deletion_requested_at=MONDAY)

    assert start_due_lists(MONDAY + 9 * DAY) == 0


@pytest.mark.django_db(transaction=True)
def test_two_clocks_start_a_visit_once() -> None:
    at = due_at(kept_at(site_of()))
    barrier, started = threading.Barrier(2), []

    def tick() -> None:
        try:
            barrier.wait()
            started.append(start_due_lists(at))
        finally:
            connection.close()

    clocks = [threading.Thread(target=tick) for _ in range(2)]
    for clock in clocks:
        clock.start()
    for clock in clocks:
        clock.join()

    assert sorted(started) == [0, 1]
    assert Job.objects.count() == 1


def test_what_dies_while_it_starts_a_visit_leaves_it_due(monkeypatch: pytest.MonkeyPatch) -> None:
    kept_list = kept_at(site_of())
    at = due_at(kept_list)

    def die(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(kept_lists, "next_slot", die)
        with pytest.raises(MemoryError):
            start_due_lists(at)
    assert (due_at(kept_list), Job.objects.count()) == (at, 0)

    assert [start_due_lists(at), start_due_lists(at)] == [1, 0]


def test_a_full_disk_puts_a_visit_off_until_there_is_room(settings: Any) -> None:
    kept_list = kept_at(site_of())
    at = due_at(kept_list)
    usual = settings.MIN_FREE_MB
    settings.MIN_FREE_MB = 2**40
    assert start_due_lists(at) == 0
    assert due_at(kept_list) == at
    assert "make room" in kept_list.left_out

    settings.MIN_FREE_MB = usual
    assert start_due_lists(at) == 1


def test_a_list_that_is_a_file_of_the_site_is_read_anew_each_time() -> None:
    listed = ["1", "2"]
    host, site = host_of({})
    host.routes["/list.txt"] = lambda _: text_file(*(f"{host.url}/{n}" for n in listed))
    with host:
        kept_list = kept_at(site, url=f"{host.url}/list.txt")
        first = visited(kept_list)
        listed.append("3")
        second = visited(kept_list)

    assert [(job.result or {})["addresses"] for job in (first, second)] == [2, 3]
    assert [path for path in host.paths if path == "/3"] == ["/3"]


def test_such_a_file_may_be_packed_and_elsewhere_on_the_site() -> None:
    host, site = host_of({})
    packed = gzip.compress(f"# new\n{host.url}/1\n{host.url}/2".encode())
    host.routes["/list.gz"] = Answer(packed, headers={"Content-Type": "application/gzip"})
    host.routes["/list.txt"] = Answer(status=302, headers={"Location": "/list.gz"})
    with host:
        job = visited(kept_at(site, url=f"{host.url}/list.txt"))

    assert (job.state, (job.result or {})["addresses"]) == (Job.State.DONE, 2)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b"gone", 404), "answers 404"),
        (page(text="log in"), "is a page, not a list"),
        (
            Answer(status=302, headers={"Location": "http://169.254.169.254/list"}),
            "not of the site",
        ),
        (Answer(status=302, headers={"Location": "/list.txt"}), "leads on more than 5 times"),
        (Answer(b"\x1f\x8bnonsense", headers={"Content-Type": "text/plain"}), "cannot be read"),
    ],
)
def test_a_file_that_is_no_list_fails_and_says_why(answer: Answer, reason: str) -> None:
    host, site = host_of({"/list.txt": answer})
    with host:
        job = visited(kept_at(site, url=f"{host.url}/list.txt"))

    assert (job.state, reason in job.error) == (Job.State.FAILED, True), job.error


def test_robots_txt_holds_for_the_file_too() -> None:
    robots = Answer(b"User-agent: *\nDisallow: /list.txt")
    host, site = host_of({"/robots.txt": robots, "/list.txt": text_file("x")})
    with host:
        job = visited(kept_at(site, url=f"{host.url}/list.txt"))

    assert (job.state, "robots.txt" in job.error) == (Job.State.FAILED, True), job.error
    assert host.paths == []


def test_what_is_no_address_of_the_site_is_refused_with_list_and_line() -> None:
    host, site = host_of({})
    with host:
        visited(kept_at(site, addresses=f"# two\n\n{host.url}/1\nhttp://other.test/\n"))

    assert list(Refusal.objects.values_list("subject", "code")) == [
        ("New_products.txt, line 4", "bad_url")
    ]


def test_a_change_replaces_the_source_and_leaves_the_times() -> None:
    site = site_of()
    kept_list = kept_at(site)
    at = due_at(kept_list)

    change_list(kept_list=kept_list, url=f"{site.root_url}list.txt", now=MONDAY + DAY)
    assert due_at(kept_list) == at
    assert (kept_list.addresses, kept_list.n_addresses) == ("", 0)
    change_list(
        kept_list=kept_list, addresses=f"{site.root_url}9", every=2, unit="hours", now=MONDAY
    )
    assert due_at(kept_list) <= MONDAY + 2 * HOUR
    assert (kept_list.url, kept_list.n_addresses) == ("", 1)

    entry = AuditEntry.objects.filter(action="kept_list.changed").latest("pk")
    assert entry.detail["every"] == ["1", "2"]
    assert entry.detail["n_addresses"] == ["0", "1"]


def test_a_change_of_nothing_is_not_recorded() -> None:
    site = site_of()
    kept_list = kept_at(site)
    changes = AuditEntry.objects.filter(action="kept_list.changed")

    change_list(kept_list=kept_list, name=kept_list.name, addresses=kept_list.addresses)
    assert not changes.exists()
    change_list(kept_list=kept_list, addresses=kept_list.addresses.replace("1", "9"))
    assert changes.exists()


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"name": " "}, "name", "a name"),
        ({"name": "New products"}, "name", "already"),
        ({"addresses": "# none\n"}, "addresses", "no address"),
        ({"addresses": "x\n" * 100_001}, "addresses", "too many to keep"),
        ({"url": "http://169.254.169.254/list"}, "url", "does not belong"),
        ({"every": 25, "unit": "hours"}, "every", "from 1 to 24"),
        ({"time_zone": "Mars/Olympus"}, "time_zone", "no time zone"),
        ({"delay": -1.0}, "", "delay"),
    ],
)
def test_what_cannot_be_kept_says_why(values: dict[str, Any], field: str, words: str) -> None:
    site = site_of()
    kept_at(site)
    with pytest.raises(ValidationError) as refused:
        kept_at(site, **{"name": "Others", **values})

    errors = refused.value.message_dict if field else {"": refused.value.messages}
    assert words in " ".join(errors[field])
    assert KeptList.objects.count() == 1


def test_a_site_keeps_so_many_lists_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_lists, "MAX_LISTS", 1)
    site = site_of()
    dropped = kept_at(site, name="Dropped")
    drop_list(kept_list=dropped)
    kept_at(site)
    with pytest.raises(ValidationError, match="delete one first"):
        kept_at(site, name="Others")
    with pytest.raises(ValidationError, match="delete one first"):
        restore_list(kept_list=dropped)


def test_a_list_that_is_not_of_the_site_any_more_can_be_paused_and_not_be_given_again() -> None:
    site = site_of()
    kept_list = kept_at(site, url=f"{site.root_url}list.txt")
    Site.objects.filter(pk=site.pk).update(root_url="https://moved.example/")
    kept_list.refresh_from_db()

    assert not change_list(kept_list=kept_list, is_active=False).is_active
    with pytest.raises(ValidationError, match="does not belong"):
        change_list(kept_list=kept_list, url=kept_list.url)


def test_a_folder_that_cannot_be_written_holds_up_nothing_else(settings: Any) -> None:
    site = site_of()
    kept_list = kept_at(site)
    kept_at(site, name="On the site", url=f"{site.root_url}list.txt")
    settings.UPLOAD_DIR = Path(__file__)  # a file, where nobody can make a folder

    assert go_on(MONDAY + DAY) == 1
    assert due_at(kept_list) <= MONDAY + DAY
    assert "test_kept_lists.py" in kept_list.left_out


def test_a_deletion_is_taken_back_within_a_month() -> None:
    site = site_of()
    kept_list = kept_at(site)
    drop_list(kept_list=kept_list)
    with pytest.raises(ValidationError, match="is deleted"):
        change_list(kept_list=kept_list, every=2)
    other = kept_at(site)
    with pytest.raises(ValidationError, match="already"):
        restore_list(kept_list=kept_list)
    change_list(kept_list=other, name="Others")

    restore_list(kept_list=kept_list, now=MONDAY)
    assert MONDAY < due_at(kept_list) <= MONDAY + DAY
    assert kept_list.n_addresses == 2


def test_a_deletion_is_final_after_a_month() -> None:
    kept_list, other = kept_at(site_of()), kept_at(site_of("b"))
    drop_list(kept_list=kept_list)
    kept_list.refresh_from_db()
    assert kept_list.dropped_at is not None

    assert delete_dropped_lists(kept_list.dropped_at + DROPPED_RETENTION) == 0
    assert delete_dropped_lists(kept_list.dropped_at + DROPPED_RETENTION + HOUR) == 1
    assert list(KeptList.objects.all()) == [other]


def test_a_file_is_read_as_it_is_packed() -> None:
    assert addresses_of_file(io.BytesIO(b"\xef\xbb\xbfa\nb\xff")) == "a\nb\ufffd"
    assert addresses_of_file(io.BytesIO(gzip.compress(b"a\n")), "a.txt.gz") == "a\n"
    with pytest.raises(ValidationError, match="cannot be read"):
        addresses_of_file(io.BytesIO(b"nonsense"), "a.gz")
    with pytest.raises(ValidationError, match="at most 10 MB"):
        addresses_of_file(io.BytesIO(gzip.compress(b"a" * 11 * 2**20)), "a.gz")


def test_a_visit_that_is_asked_for_leaves_no_file_where_it_cannot_be(settings: Any) -> None:
    kept_list = kept_at(site_of())
    visit_now(kept_list=kept_list)
    with pytest.raises(jobs.JobExists):
        visit_now(kept_list=kept_list)

    assert len(sources_left(settings)) == 1


def test_the_file_of_a_visit_goes_with_it(settings: Any) -> None:
    host, site = host_of({})
    with host:
        kept_list = kept_at(site)
        job = visited(kept_list)

    assert job.state == Job.State.DONE
    assert sources_left(settings) == []
