"""Sessions end, new passwords are asked for, times are local."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from vertex.core.models import Role, User
from vertex.core.services.people import people

NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


def clock_page(request: HttpRequest) -> HttpResponse:
    name = request.user.get_username() or "nobody"
    return HttpResponse(f"{name} {timezone.localtime():%H:%M}")


urlpatterns = [
    path("clock/", clock_page, name="clock"),
    path("shown/", require_GET(clock_page), name="shown"),
    path("done/", require_POST(clock_page), name="done"),
    path("api/v1/clock/", clock_page, name="api_clock"),
    path("healthz", clock_page, name="healthz"),
    path("password/", clock_page, name="change_password"),
    path("log-out/", clock_page, name="log_out"),
    path("log-in/", clock_page, name="log_in"),
    path("work-word/", clock_page, name="work_word"),
]
pytestmark = [pytest.mark.urls("tests.apps.vertex.test_middleware"), pytest.mark.django_db]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def eddy() -> User:
    return people.create_user(username="eddy", role=Role.EDITOR, actor=None)


@pytest.fixture
def client(eddy: User, clock: time_machine.Traveller) -> Client:
    client = Client()
    client.force_login(eddy)
    return client


def is_in(client: Client) -> bool:
    return client.get("/clock/").content.startswith(b"eddy")


class TestSessions:
    def test_last_while_they_are_used(self, client: Client, clock: time_machine.Traveller) -> None:
        for _ in range(5):
            clock.shift(timedelta(minutes=119))
            assert is_in(client)

    def test_end_when_nothing_is_done(self, client: Client, clock: time_machine.Traveller) -> None:
        assert is_in(client)
        clock.shift(timedelta(minutes=121))

        assert not is_in(client)

    def test_end_after_half_a_day_however_busy(
        self, client: Client, clock: time_machine.Traveller
    ) -> None:
        was_in = []
        for _ in range(settings.SESSION_HOURS + 1):
            was_in.append(is_in(client))
            clock.shift(timedelta(hours=1))

        assert [True] * settings.SESSION_HOURS + [False] == was_in

    def test_that_have_ended_stay_so(self, client: Client, clock: time_machine.Traveller) -> None:
        is_in(client)
        cookie = client.cookies["sessionid"].value
        clock.shift(timedelta(minutes=121))
        assert not is_in(client)
        clock.shift(-timedelta(minutes=121))
        client.cookies["sessionid"] = cookie

        assert not is_in(client)

    def test_being_used_writes_once_a_minute_at_most(
        self, client: Client, clock: time_machine.Traveller, django_assert_num_queries: object
    ) -> None:
        is_in(client)
        clock.shift(timedelta(seconds=59))
        with django_assert_num_queries(2):  # type: ignore[operator]  # the session and the user
            is_in(client)
        clock.shift(timedelta(seconds=1))
        is_in(client)

        assert int(NOON.timestamp()) + 60 == client.session["seen_at"]

    def test_visitors_without_one_cost_nothing(self, django_assert_num_queries: object) -> None:
        with django_assert_num_queries(0):  # type: ignore[operator]  # a fixture without types
            Client().get("/healthz")


class TestNewPassword:
    @pytest.fixture
    def due(self, client: Client, eddy: User) -> Client:
        assert is_in(client)
        User.objects.filter(pk=eddy.pk).update(must_change_password=True)
        return client

    def test_comes_before_everything_else(self, due: Client) -> None:
        assert "/password/" == due.get("/clock/")["Location"]
        assert "/password/" == due.post("/clock/")["Location"]

    def test_can_be_chosen_and_one_can_leave(self, due: Client) -> None:
        for address in ("/password/", "/log-out/", "/healthz"):
            assert 200 == due.get(address).status_code

    def test_comes_before_the_api_too(self, due: Client) -> None:
        response = due.get("/api/v1/clock/")

        assert 403 == response.status_code
        assert "password_change_needed" == response.json()["error"]["code"]

    def test_takes_the_whole_page_there_from_a_fragment(self, due: Client) -> None:
        response = due.get("/clock/", headers={"HX-Request": "true"})

        assert (204, "/password/") == (response.status_code, response["HX-Redirect"])


class TestTimeZone:
    @pytest.mark.parametrize(
        ("zone", "shown"),
        [
            ("", "12:00"),
            ("Europe/Vienna", "13:00"),
            ("America/New_York", "07:00"),
            ("Asia/Kolkata", "17:30"),
        ],
    )
    def test_is_the_viewers_own(self, client: Client, eddy: User, zone: str, shown: str) -> None:
        User.objects.filter(pk=eddy.pk).update(time_zone=zone)

        assert f"eddy {shown}" == client.get("/clock/").content.decode()

    @pytest.mark.parametrize(
        "zone", ["Moon/Crater", "../../etc/passwd", "/etc/localtime", "x" * 50]
    )
    def test_an_unknown_one_falls_back_to_the_installations(
        self, client: Client, eddy: User, zone: str
    ) -> None:
        User.objects.filter(pk=eddy.pk).update(time_zone=zone)

        assert "eddy 12:00" == client.get("/clock/").content.decode()

    def test_does_not_leak_into_the_next_request(self, client: Client, eddy: User) -> None:
        User.objects.filter(pk=eddy.pk).update(time_zone="Asia/Kolkata")
        client.get("/clock/")

        assert "nobody 12:00" == Client().get("/clock/").content.decode()


class TestLimits:
    def test_cookies_that_are_too_long_are_not_read(self, client: Client) -> None:
        assert is_in(client)
        client.cookies["long"] = '"' + "\\" * 60_000
        started = time.thread_time()

        response = client.get("/healthz")

        assert response.content.startswith(b"nobody")  # the log-in was in the cookies, too
        assert time.thread_time() - started < 1

    @pytest.mark.parametrize(
        ("path", "status"), [("/clock/", 413), ("/nothing/", 413), ("/log-in/", 413)]
    )
    def test_strangers_send_no_files(self, path: str, status: int) -> None:
        response = Client().post(path, "x" * (3 * 2**20), content_type="text/plain")

        assert status == response.status_code

    def test_known_people_send_more_but_not_everything_everywhere(self, client: Client) -> None:
        body = "x" * (3 * 2**20)
        assert 200 == client.post("/clock/", body, content_type="text/plain").status_code
        assert 413 == client.post("/nothing/", body, content_type="text/plain").status_code
        body = "x" * (17 * 2**20)
        assert 413 == client.post("/clock/", body, content_type="text/plain").status_code


def test_pages_of_those_who_are_logged_in_are_kept_by_nobody(client: Client) -> None:
    assert "no-store" in client.get("/clock/")["Cache-Control"]
    assert not Client().get("/clock/").has_header("Cache-Control")


class TestHeads:
    def test_are_answered_as_the_page_is_without_its_body(self, client: Client) -> None:
        shown, head = client.get("/shown/"), client.head("/shown/")

        assert (200, b"") == (head.status_code, head.content)
        assert shown.headers["Content-Type"] == head.headers["Content-Type"]
        assert head.wsgi_request.method == "HEAD"

    def test_of_what_is_not_shown_are_refused(self, client: Client) -> None:
        assert 405 == client.head("/done/").status_code
        assert 405 == client.get("/done/").status_code
