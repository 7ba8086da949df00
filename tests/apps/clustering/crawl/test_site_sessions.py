"""A site is fetched with its settings, logged in if it needs that, and nobody else learns them."""

from __future__ import annotations

from typing import Any

import pytest

from clustering.fetching import log_in
from clustering.models import Page, SiteFetching
from clustering.services.crawl import crawling
from clustering.services.crawl.fetch_service import FetchService
from clustering.services.sites.site_fetching import change_fetching
from tests.apps.clustering.children import burdens
from tests.apps.clustering.crawl.test_fetch_service import all_ended, go_on_until
from tests.apps.clustering.fake_host import Answer, FakeHost, moved, page
from tests.apps.clustering.members_club import FORM, HTML, LOG_IN, Club
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def site_of(host: FakeHost, **fetching: Any) -> Site:
    site = Site.objects.create(name="members", root_url=f"{host.url}/", crawl_delay=0.0)
    change_fetching(site=site, actor=None, **fetching)
    return site


def crawl(site: Site) -> Job:
    job = create_here(crawling.crawl_request(site=site))
    return jobs.run_job(job.pk, crawling.crawl)


def state_of(path: str) -> str:
    return Page.objects.get(url__endswith=path).state


def club_site(club: Club, **changes: Any) -> Site:
    return site_of(club, log_in_url=f"{club.url}/login", **LOG_IN | changes)


# Headers, cookies, name


def test_a_site_gets_its_headers_cookies_and_name() -> None:
    with FakeHost({"/": page("/a"), "/a": page()}) as host:
        crawl(
            site_of(
                host,
                headers={"x-key": "k1"},
                cookies={"consent": "yes", "lang": "de"},
                user_agent="Reader/2",
            )
        )
        seen = {
            (request.headers["X-Key"], request.headers["Cookie"], request.headers["User-Agent"])
            for request in host.asked
        }

    assert seen == {("k1", "consent=yes; lang=de", "Reader/2")}
    assert {request.path for request in host.asked} == {"/robots.txt", "/", "/a"}


def test_another_site_on_the_same_machine_gets_none_of_it() -> None:
    with FakeHost({"/": page()}) as other, FakeHost({"/": page()}) as host:
        host.routes["/"] = page(f"{other.url}/")
        host.routes["/robots.txt"] = moved(f"{other.url}/robots.txt")
        crawl(site_of(host, headers={"Authorization": "Bearer s3"}, cookies={"a": "b"}))

    assert other.asked, "the redirect of robots.txt is followed"
    for request in other.asked:
        assert not {"Authorization", "Cookie"} & request.headers.keys()
    assert {"Authorization", "Cookie"} <= host.asked[0].headers.keys()


# Log-in


@pytest.mark.both_databases
def test_pages_for_members_are_crawled_once_somebody_is_logged_in() -> None:
    with Club("a", "b") as club:
        site = club_site(club)
        job = crawl(site)
        paths = list(club.paths)

    assert (job.state, job.result) == (Job.State.DONE, {"stored": 3, "refused": 1, "left": 0})
    assert paths[:4] == ["/login", "/enter", "/", "/"]
    assert sorted(paths[4:]) == ["/a", "/b"]
    assert state_of("/logout") == Page.State.REFUSED
    assert "log out whoever" in Page.objects.get(url__endswith="/logout").reason
    row = SiteFetching.objects.get()
    assert (row.log_in_problem, row.logged_in_at is not None) == ("", True)


def test_the_next_crawl_goes_on_with_the_session() -> None:
    with Club("a") as club:
        site = club_site(club)
        crawl(site)
        crawl(site)

    assert club.n_logins == 1


@pytest.mark.both_databases
def test_a_crawl_that_broke_off_goes_on_with_the_session() -> None:
    with Club("a", "b", "c") as club:
        site = club_site(club)
        job = create_here(crawling.crawl_request(site=site))
        with pytest.raises(KeyboardInterrupt):
            jobs.run_job(job.pk, crawling.crawl, report=break_off)
        crawling.resume_crawl(job=job)
        job = jobs.run_job(job.pk, crawling.crawl)

    assert (job.state, club.n_logins) == (Job.State.DONE, 1)
    assert job.result == {"stored": 4, "refused": 1, "left": 0}


def break_off(_line: object) -> None:
    raise KeyboardInterrupt


def test_sessions_of_sites_that_are_crawled_side_by_side_stay_apart() -> None:
    """Both are the same host for a browser, which tells no ports apart."""
    with Club("a", "b") as first, Club("a", "b") as second:
        second.n_logins = 41
        for club in (first, second):
            name = f"members-{club.server_port}"
            site = Site.objects.create(name=name, root_url=f"{club.url}/", crawl_delay=0.05)
            change_fetching(site=site, actor=None, log_in_url=f"{club.url}/login", **LOG_IN)
            enqueue(crawling.crawl_request(site=site))
        service = FetchService({crawling.CRAWL_SITE.task: crawling.crawl})
        with service.engine:
            go_on_until(service, all_ended)

    assert [Job.State.DONE] * 2 == list(Job.objects.values_list("state", flat=True))
    assert {"", "session=1"} == {each.headers.get("Cookie", "") for each in first.asked}
    assert {"", "session=42"} == {each.headers.get("Cookie", "") for each in second.asked}


@pytest.mark.both_databases
def test_being_logged_out_is_noticed_and_mended_once() -> None:
    paths = [f"p{n}" for n in range(8)]
    with Club(*paths) as club:
        club.stays_open_for = 6
        site = club_site(club)
        job = crawl(site)

    assert (job.state, club.n_logins) == (Job.State.DONE, 2)
    assert job.result == {"stored": 9, "refused": 1, "left": 0}
    assert state_of("/p7") == Page.State.STORED


def test_being_logged_out_for_good_is_said_and_the_crawl_can_go_on_later() -> None:
    with Club(*(f"p{n}" for n in range(9))) as club:
        club.stays_open_for = 4
        site = club_site(club)
        job = crawl(site)
        n_stored = Page.objects.filter(state=Page.State.STORED).count()
        club.stays_open_for = 100
        again = crawling.interrupted_crawl(site=site)

    row = SiteFetching.objects.get()
    assert job.state == Job.State.FAILED
    assert "nobody is logged in at members: logged out again" in job.error
    assert "logged out again" in row.log_in_problem
    assert row.session == ""
    assert "logged out again" in Refusal.objects.get(code="log_in").reason
    assert 0 < n_stored < 10
    assert again is not None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"log_in_fields": {"user": "ada", "password": "wrong one"}},
            "answers 200 without “Log out”",
        ),
        ({"log_in_fields": {"user": "ada", "pin": "1"}}, "has no form with the fields user, pin"),
        ({"log_in_sign": "#account"}, "without “#account”"),
    ],
)
def test_a_log_in_that_fails_says_why_and_tells_no_secret(
    changes: dict[str, Any], problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Club("a") as club:
        job = crawl(club_site(club, **changes))

    assert job.state == Job.State.FAILED
    assert problem in job.error
    assert problem in SiteFetching.objects.get().log_in_problem
    assert not Page.objects.filter(state=Page.State.STORED).exists()
    annotated = [
        job.error,
        job.message,
        caplog.text,
        *Refusal.objects.values_list("reason", flat=True),
    ]
    assert not any("wrong one" in text for text in annotated)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        (b"<form method=post action='{other}/take'>", "is no encrypted address of the site"),
        (b"<form action=/enter>", "would write what is entered into an address"),
        (b"<form method=post action='file:///etc/passwd'>", "leads to"),
        (
            b"<base href='{other}/'><form method=post action=take>",
            "is no encrypted address of the site",
        ),
    ],
)
def test_what_is_entered_goes_to_the_site_only(form: bytes, problem: str) -> None:
    fields = b"<input name=user><input name=password></form>"
    with FakeHost({}) as other, Club("a") as club:
        club.routes["/login"] = Answer(
            form.replace(b"{other}", other.url.encode()) + fields, headers=HTML
        )
        job = crawl(club_site(club))

    assert problem in job.error
    assert other.asked == []
    assert not any("correct" in request.path for request in club.asked)


@pytest.mark.parametrize(
    ("base", "action", "sent_to"), [("/members/", "enter", "/members/enter"), ("/x/", "", "/login")]
)
def test_the_form_is_sent_where_a_browser_sends_it(base: str, action: str, sent_to: str) -> None:
    with Club("a") as club:
        form = FORM.body.replace(b"/enter", action.encode())
        club.routes["/login"] = Answer(b"<base href='%s'>" % base.encode() + form, headers=HTML)
        crawl(club_site(club))
        posted = [request.path for request in club.asked if request.method == "POST"]

    assert posted == [sent_to]


def test_a_form_that_wants_to_be_sent_elsewhere_is_not_sent_again() -> None:
    with FakeHost({}) as other, Club("a") as club:
        club.routes["/enter"] = moved(f"{other.url}/take", 307)
        job = crawl(club_site(club))

    assert "wants the form to be sent to" in job.error
    assert other.asked == []


@pytest.mark.parametrize("status", [303, 307])
def test_a_site_that_repeats_what_was_entered_tells_nobody(status: int) -> None:
    with Club("a") as club:
        club.routes["/enter"] = moved("/welcome?user=ada&password=correct+horse", status)
        club.routes["/welcome"] = page()
        job = crawl(club_site(club))

    told = [job.error, *Refusal.objects.values_list("reason", flat=True)]
    assert f"{club.url}/welcome" in job.error
    assert not any("horse" in text for text in told)
    assert "horse" not in SiteFetching.objects.get().log_in_problem


@pytest.mark.parametrize(
    "location", ["http://[/welcome?password=correct+horse", "javascript:'correct horse'"]
)
def test_a_redirect_to_no_address_tells_nobody_what_was_entered(location: str) -> None:
    with Club("a") as club:
        club.routes["/enter"] = moved(location)
        job = crawl(club_site(club))

    told = [job.error, *Refusal.objects.values_list("reason", flat=True)]
    assert f"{club.url}/enter redirects to something that is no address" in job.error
    assert not any("horse" in text for text in told)
    assert "horse" not in SiteFetching.objects.get().log_in_problem


def test_a_page_behind_the_form_that_cannot_be_read_tells_nobody_what_was_entered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_in, "page_shows_sign", burdens.wrong)
    with Club("a") as club:
        club.routes["/enter"] = moved("/welcome?password=correct+horse")
        job = crawl(club_site(club))

    assert f"{club.url}/welcome cannot be read" in job.error
    assert "horse" not in job.error


def test_a_form_of_megabytes_is_not_sent() -> None:
    filled = b"<form method=post action=/enter><input name=user><input name=password>"
    hidden = b"<input type=hidden name=h value='%s'>" % (b"%" * 20_000)
    with Club("a") as club:
        club.routes["/login"] = Answer(filled + hidden * 30 + b"</form>", headers=HTML)
        job = crawl(club_site(club))

    assert "holds more than 500,000 characters" in job.error
    assert "/enter" not in club.paths
