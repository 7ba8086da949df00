"""Who changed what, and who may read it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import structlog
from django.test import Client
from django.urls import reverse

from vertex.core.models import AuditEntry, Role, Site, User
from vertex.core.services.people import audit, people

pytestmark = pytest.mark.both_databases


@pytest.fixture
def anna(db: None) -> User:
    return people.create_user(username="anna", role=Role.ADMINISTRATOR, actor=None)


@pytest.fixture
def alpine(db: None) -> Site:
    return Site.objects.create(name="alpine-shop", root_url="https://alpine.example/")


@pytest.fixture
def browser(anna: User) -> Client:
    AuditEntry.objects.all().delete()
    return browser_of(anna)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def subjects(client: Client, **query: str) -> list[str]:
    return [entry.subject for entry in client.get(reverse("audit"), query).context["page"].rows]


class TestRecord:
    def test_keeps_the_name_of_whoever_acted(self, anna: User, alpine: Site) -> None:
        audit.record(actor=anna, action="site.changed", subject=alpine, site=alpine)
        audit.record(actor=None, action="site.changed", subject=alpine, site=alpine)

        written = AuditEntry.objects.filter(action="site.changed").order_by("pk")
        assert ["anna", "command line"] == [entry.actor_name for entry in written]

    def test_outlives_the_site(self, anna: User, alpine: Site) -> None:
        audit.record(actor=anna, action="site.deleted", subject=alpine, site=alpine)
        alpine.delete()

        entry = AuditEntry.objects.get(action="site.deleted")
        assert ("alpine-shop", None) == (entry.subject, entry.site)

    def test_carries_the_request_s_id(self, db: None) -> None:
        with structlog.contextvars.bound_contextvars(request_id="abc-123"):
            entry = audit.record(actor=None, action="site.changed", subject="x")

        assert "abc-123" == entry.request_id

    @pytest.mark.parametrize("subject", ["x" * 5000, "a\x00b", "\ud800"])
    def test_takes_any_subject(self, db: None, subject: str) -> None:
        entry = audit.record(
            actor=None, action="page.refused", subject=subject, detail={"a": subject}
        )

        entry.refresh_from_db()
        assert len(entry.subject) <= 300
        assert "\x00" not in entry.subject


class TestPage:
    def test_shows_the_newest_first(self, browser: Client) -> None:
        for subject in ("first", "second"):
            audit.record(actor=None, action="site.changed", subject=subject)

        assert ["second", "first"] == subjects(browser)

    def test_is_narrowed_by_person_site_action_and_text(
        self, browser: Client, anna: User, alpine: Site
    ) -> None:
        audit.record(actor=anna, action="site.created", subject="alpha", site=alpine)
        audit.record(actor=None, action="site.created", subject="beta")
        audit.record(actor=None, action="token.revoked", subject="gamma", site=alpine)

        assert ["alpha"] == subjects(browser, person="anna")
        assert ["gamma", "beta"] == subjects(browser, person="command line")
        assert ["gamma", "alpha"] == subjects(browser, site="alpine-shop")
        assert ["beta", "alpha"] == subjects(browser, action="site.created")
        assert ["gamma"] == subjects(browser, q="GAM")
        assert ["gamma"] == subjects(browser, q="revoked command")
        assert ["alpha"] == subjects(browser, site="alpine-shop", action="site.created")
        assert [] == subjects(browser, q="nothing")

    def test_a_request_is_found_by_its_id(self, browser: Client) -> None:
        with structlog.contextvars.bound_contextvars(request_id="abc-123"):
            audit.record(actor=None, action="site.changed", subject="wanted")
        audit.record(actor=None, action="site.changed", subject="other")

        assert ["wanted"] == subjects(browser, q="abc-123")

    def test_a_change_in_the_browser_carries_the_id_that_the_answer_names(
        self, browser: Client
    ) -> None:
        response = browser.post(reverse("account"), {"first_name": "Anna"})

        entry = AuditEntry.objects.get(action="person.changed")
        assert response["X-Request-ID"] == entry.request_id
        assert entry.request_id[:8] in browser.get(reverse("audit")).content.decode()

    def test_long_trails_come_in_parts_that_new_rows_do_not_shift(self, browser: Client) -> None:
        for number in range(120):
            audit.record(actor=None, action="site.changed", subject=str(number))
        first = browser.get(reverse("audit")).context["page"]
        audit.record(actor=None, action="site.changed", subject="later")
        second = browser.get(reverse("audit"), {"after": first.next}).context["page"]

        assert [str(number) for number in range(119, 19, -1)] == [
            entry.subject for entry in [*first.rows, *second.rows]
        ]

    def test_times_stand_in_the_viewers_zone(self, browser: Client, anna: User) -> None:
        entry = audit.record(actor=None, action="site.changed", subject="x")
        AuditEntry.objects.filter(pk=entry.pk).update(at=datetime(2025, 1, 1, 20, 30, tzinfo=UTC))
        assert "1 Jan 2025, 20:30" in browser.get(reverse("audit")).content.decode()

        User.objects.filter(pk=anna.pk).update(time_zone="Asia/Tokyo")
        assert "2 Jan 2025, 05:30" in browser.get(reverse("audit")).content.decode()

    def test_an_empty_trail_and_an_empty_search_say_so(self, browser: Client) -> None:
        assert "Nothing was changed yet" in browser.get(reverse("audit")).content.decode()
        assert "Clear the filters" in browser.get(reverse("audit"), {"q": "x"}).content.decode()

    def test_hostile_subjects_and_searches_are_text(self, browser: Client) -> None:
        audit.record(
            actor=None,
            action="site.changed",
            subject="<script>alert(1)</script>",
            detail={"<b>": "<i>"},
        )
        for q in ("", "\x00", "<script>", "%", "x" * 3000):
            page = browser.get(reverse("audit"), {"q": q}).content.decode()
            assert "<script>alert" not in page
            assert "<i>" not in page


class TestWhoReads:
    def test_an_administrator_of_a_site_reads_what_happened_there(
        self, anna: User, alpine: Site
    ) -> None:
        sita = people.create_user(username="sita", role=Role.ADMINISTRATOR, site=alpine, actor=None)
        AuditEntry.objects.all().delete()
        audit.record(actor=anna, action="site.changed", subject="here", site=alpine)
        audit.record(actor=anna, action="person.closed", subject="elsewhere")

        assert ["here"] == subjects(browser_of(sita))
        assert ["elsewhere", "here"] == subjects(browser_of(anna))
        assert [] == subjects(browser_of(sita), q="elsewhere")

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
    def test_others_do_not(self, anna: User, role: Role) -> None:
        otto = people.create_user(username="otto", role=role, actor=None)

        assert 403 == browser_of(otto).get(reverse("audit")).status_code
        assert 200 == browser_of(anna).get(reverse("audit")).status_code

    def test_nobody_writes_there(self, anna: User) -> None:
        assert 405 == browser_of(anna).post(reverse("audit")).status_code
