"""Jobs and refusals in the browser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from vertex.core.models import Heartbeat, Job, Membership, Refusal, Role, Site, User
from vertex.core.models.jobs import TASKS_OF_ADMINISTRATORS
from vertex.core.services.jobs.heartbeat import CLOCK

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="alpine-shop", root_url="https://alpine.example/")


@pytest.fixture
def viewer() -> Client:
    return browser(Role.VIEWER)


@pytest.fixture
def operator() -> Client:
    return browser(Role.OPERATOR)


def browser(role: Role, site: Site | None = None) -> Client:
    user = User.objects.create_user(f"{role}-{site or 'everywhere'}")
    Membership.objects.create(user=user, role=role, site=site)
    client = Client()
    client.force_login(user)
    return client


def job(site: Site | None, state: Job.State = Job.State.DUE, **fields: Any) -> Job:
    now = timezone.now()
    if state == Job.State.RUNNING:
        fields |= {
            "lease": "x",
            "leased_until": now + timedelta(minutes=5),
            "started_at": now,
            "claimed_at": now,
        }
    fields = {"task": "clustering.crawl_site", "queue": "fetch", "title": "Crawl it"} | fields
    return Job.objects.create(site=site, state=state, **fields)


def refusal(of: Job, subject: str = "https://alpine.example/x", code: str = "robots") -> Refusal:
    return Refusal.objects.create(
        site=of.site, job=of, subject=subject, code=code, reason=f"{code} says no"
    )


def text(client: Client, view: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(view, args=args), query)
    assert 200 == answer.status_code
    return answer.content.decode()


def listed(client: Client, **query: str) -> list[int]:
    return [row.pk for row in client.get(reverse("jobs"), query).context["page"].rows]


class TestList:
    def test_the_newest_job_comes_first(self, viewer: Client, shop: Site) -> None:
        first, second = job(shop), job(shop)
        assert [second.pk, first.pk] == listed(viewer)

    @pytest.mark.both_databases
    def test_it_is_narrowed_by_state_queue_site_and_words(self, viewer: Client, shop: Site) -> None:
        wanted = job(shop, Job.State.FAILED, queue="keep", title="Import it", error="disk full")
        job(shop), job(None)
        assert [wanted.pk] == listed(viewer, state="failed")
        assert [wanted.pk] == listed(viewer, queue="keep")
        assert [wanted.pk] == listed(viewer, q="disk import")
        assert 2 == len(listed(viewer, site="alpine-shop"))

    def test_only_jobs_of_one_s_own_sites_are_listed(self, shop: Site) -> None:
        own = job(shop)
        job(Site.objects.create(name="other", root_url="https://other.example/")), job(None)
        assert [own.pk] == listed(browser(Role.VIEWER, shop))

    def test_only_an_operator_finds_buttons(
        self, viewer: Client, operator: Client, shop: Site
    ) -> None:
        waiting = job(shop)
        cancel = reverse("cancel_job", args=[waiting.pk])
        assert cancel not in text(viewer, "jobs")
        assert cancel in text(operator, "jobs")
        assert cancel in text(browser(Role.OPERATOR, shop), "jobs")

    def test_it_looks_more_often_while_something_is_at_work(
        self, viewer: Client, shop: Site
    ) -> None:
        done = job(shop, Job.State.DONE)
        assert "every 10s" in text(viewer, "jobs")
        Job.objects.filter(pk=done.pk).update(state=Job.State.DUE)
        assert "every 2s" in text(viewer, "jobs")

    def test_a_page_made_as_a_job_ended_looks_again(self, viewer: Client, shop: Site) -> None:
        # Later than the page can be, however long it takes to be made.
        ended = job(shop, Job.State.DONE, finished_at=timezone.now() + timedelta(hours=1))
        assert 'data-followed=""' in text(viewer, "jobs")
        Job.objects.filter(pk=ended.pk).update(finished_at=timezone.now() - timedelta(minutes=1))
        assert 'data-followed="0-' in text(viewer, "jobs")

    def test_a_form_with_errors_does_not_follow_work(self, operator: Client, shop: Site) -> None:
        form = reverse("visit_addresses", args=[shop.name])
        assert "data-follows" in operator.get(form).content.decode()
        assert "data-follows" not in operator.post(form).content.decode()

    def test_nothing_yet_says_what_will_be_here(self, viewer: Client) -> None:
        assert "No jobs yet" in text(viewer, "jobs")

    def test_a_machine_without_workers_is_told_of(self, viewer: Client) -> None:
        assert "Work stands still" in text(viewer, "jobs")
        for name in (CLOCK, *Job.Queue.values):
            Heartbeat.objects.update_or_create(name=name, defaults={"at": timezone.now()})
        assert "Work stands still" not in text(viewer, "jobs")


class TestJob:
    def test_a_running_job_shows_how_far_it_is(self, viewer: Client, shop: Site) -> None:
        now = timezone.now()
        running = job(
            shop, Job.State.RUNNING, n_done=250, n_total=1_000, message="Visits alpine.example"
        )
        Job.objects.filter(pk=running.pk).update(claimed_at=now - timedelta(minutes=1))
        page = text(viewer, "job", running.pk)
        assert "250 of 1,000" in page
        assert "about 3 min left" in page or "about 2 min left" in page
        assert "Visits alpine.example" in page
        assert "every 2s" in page

    def test_a_finished_job_is_not_asked_again(self, viewer: Client, shop: Site) -> None:
        assert "every 2s" not in text(viewer, "job", job(shop, Job.State.DONE).pk)

    def test_its_result_is_told_in_words(self, viewer: Client, shop: Site) -> None:
        done = job(shop, Job.State.DONE, result={"n_new": 1_180, "refused": {"robots": 3}})
        page = text(viewer, "job", done.pk)
        assert "N new" in page
        assert "1,180" in page
        assert "Refused robots" in page

    def test_an_error_is_shown_as_text(self, viewer: Client, shop: Site) -> None:
        failed = job(shop, Job.State.FAILED, error="the page <script>alert(1)</script> is gone")
        assert "&lt;script&gt;alert(1)" in text(viewer, "job", failed.pk)

    @pytest.mark.both_databases
    def test_refusals_are_grouped_searched_and_narrowed(self, viewer: Client, shop: Site) -> None:
        done = job(shop, Job.State.DONE)
        for n in range(3):
            refusal(done, f"https://alpine.example/cart/{n}")
        large = refusal(done, "https://alpine.example/film", "too_large")
        answer = viewer.get(reverse("job", args=[done.pk]))
        assert [("robots", 3), ("too_large", 1)] == list(answer.context["codes"])
        narrowed = viewer.get(reverse("job", args=[done.pk]), {"code": "too_large"})
        assert [large] == narrowed.context["page"].rows
        found = viewer.get(reverse("job", args=[done.pk]), {"q": "cart 2"})
        assert 1 == len(found.context["page"].rows)

    def test_a_job_of_others_is_not_there(self, shop: Site) -> None:
        other = Site.objects.create(name="other", root_url="https://other.example/")
        assert (
            404
            == browser(Role.ADMINISTRATOR, other)
            .get(reverse("job", args=[job(shop).pk]))
            .status_code
        )


class TestGestures:
    def test_cancelling_can_be_taken_back(self, operator: Client, shop: Site) -> None:
        waiting = job(shop)
        answer = operator.post(reverse("cancel_job", args=[waiting.pk]), follow=True)
        assert reverse("retry_job", args=[waiting.pk]) in answer.content.decode()
        waiting.refresh_from_db()
        assert Job.State.CANCELLED == waiting.state
        operator.post(reverse("retry_job", args=[waiting.pk]))
        waiting.refresh_from_db()
        assert Job.State.DUE == waiting.state

    def test_a_running_job_stops_at_its_next_step(self, operator: Client, shop: Site) -> None:
        running = job(shop, Job.State.RUNNING)
        page = operator.post(reverse("cancel_job", args=[running.pk]), follow=True).content.decode()
        assert "Stopping" in page
        assert "stops at its next step" in page

    def test_a_finished_job_cannot_be_cancelled(self, operator: Client, shop: Site) -> None:
        done = job(shop, Job.State.DONE)
        assert (
            "already"
            in operator.post(reverse("cancel_job", args=[done.pk]), follow=True).content.decode()
        )

    def test_a_retry_leads_to_the_unfinished_job_of_the_same_kind(
        self, operator: Client, shop: Site
    ) -> None:
        failed = job(shop, Job.State.FAILED, key="crawl")
        unfinished = job(shop, key="crawl")
        answer = operator.post(reverse("retry_job", args=[failed.pk]))
        assert reverse("job", args=[unfinished.pk]) == answer["Location"]

    def test_one_comes_back_to_where_the_button_was(self, operator: Client, shop: Site) -> None:
        here = reverse("jobs") + "?state=due"
        answer = operator.post(reverse("cancel_job", args=[job(shop).pk]), {"next": here})
        assert here == answer["Location"]

    @pytest.mark.parametrize(
        "elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"]
    )
    def test_but_nowhere_else(self, operator: Client, shop: Site, elsewhere: str) -> None:
        waiting = job(shop)
        answer = operator.post(reverse("cancel_job", args=[waiting.pk]), {"next": elsewhere})
        assert reverse("job", args=[waiting.pk]) == answer["Location"]

    @pytest.mark.parametrize("view", ["cancel_job", "retry_job"])
    def test_a_viewer_may_not(self, viewer: Client, shop: Site, view: str) -> None:
        waiting = job(shop)
        assert 403 == viewer.post(reverse(view, args=[waiting.pk])).status_code
        waiting.refresh_from_db()
        assert Job.State.DUE == waiting.state

    def test_an_operator_of_one_site_may_not_stop_what_belongs_to_all(self, shop: Site) -> None:
        answer = browser(Role.OPERATOR, shop).post(reverse("cancel_job", args=[job(None).pk]))
        assert 404 == answer.status_code

    @pytest.mark.parametrize("task", sorted(TASKS_OF_ADMINISTRATORS))
    @pytest.mark.parametrize("view", ["cancel_job", "retry_job"])
    def test_what_administrators_ask_for_is_theirs(
        self, operator: Client, shop: Site, view: str, task: str
    ) -> None:
        state = Job.State.DUE if view == "cancel_job" else Job.State.FAILED
        theirs, other = job(shop, state, task=task), job(shop, state)
        address = reverse(view, args=[theirs.pk])
        administrator = browser(Role.ADMINISTRATOR, shop)

        assert address not in operator.get(reverse("jobs")).text
        assert address in administrator.get(reverse("jobs")).text
        assert 403 == operator.post(address).status_code
        assert 302 == operator.post(reverse(view, args=[other.pk])).status_code
        theirs.refresh_from_db()
        assert state == theirs.state
        assert 302 == administrator.post(address).status_code
        theirs.refresh_from_db()
        assert state != theirs.state

    @pytest.mark.parametrize("view", ["cancel_job", "retry_job"])
    def test_a_link_changes_nothing(self, operator: Client, shop: Site, view: str) -> None:
        assert 405 == operator.get(reverse(view, args=[job(shop).pk])).status_code


class TestFile:
    def exported(
        self, shop: Site, name: str = "alpine-shop-1.zip", task: str = "clustering.export_site"
    ) -> Job:
        return job(
            shop, Job.State.DONE, task=task, queue="keep", result={"file": name, "snapshots": 2}
        )

    def test_an_export_is_downloaded(self, operator: Client, shop: Site, settings: Any) -> None:
        settings.EXPORT_DIR.mkdir(parents=True)
        (settings.EXPORT_DIR / "alpine-shop-1.zip").write_bytes(b"PK")
        done = self.exported(shop)
        assert reverse("job_file", args=[done.pk]) in text(operator, "job", done.pk)
        answer: Any = operator.get(reverse("job_file", args=[done.pk]))
        assert b"PK" == b"".join(answer.streaming_content)
        assert answer["Content-Disposition"].startswith("attachment")

    def test_a_file_that_is_gone_is_not_offered(self, operator: Client, shop: Site) -> None:
        done = self.exported(shop)
        assert reverse("job_file", args=[done.pk]) not in text(operator, "job", done.pk)
        assert 404 == operator.get(reverse("job_file", args=[done.pk])).status_code

    @pytest.mark.parametrize("name", ["../secret-key", "/etc/passwd", "..", ""])
    def test_nothing_outside_of_the_exports_is_read(
        self, operator: Client, shop: Site, settings: Any, name: str
    ) -> None:
        settings.EXPORT_DIR.mkdir(parents=True)
        (settings.EXPORT_DIR.parent / "secret-key").write_text("secret")
        assert (
            404
            == operator.get(reverse("job_file", args=[self.exported(shop, name).pk])).status_code
        )

    def test_a_viewer_downloads_none(self, viewer: Client, shop: Site) -> None:
        assert 403 == viewer.get(reverse("job_file", args=[self.exported(shop).pk])).status_code


class TestRefusals:
    @pytest.mark.both_databases
    def test_they_are_narrowed_by_site_code_and_words(self, viewer: Client, shop: Site) -> None:
        done = job(shop, Job.State.DONE)
        cart, film = (
            refusal(done, "https://alpine.example/cart"),
            refusal(done, "film", "too_large"),
        )

        def rows(**query: str) -> list[Refusal]:
            return list(viewer.get(reverse("refusals"), query).context["page"].rows)

        assert [film, cart] == rows()
        assert [cart] == rows(q="CART")
        assert [film] == rows(code="too_large")
        assert [film, cart] == rows(site="alpine-shop")
        assert [] == rows(site="other")

    def test_those_of_others_are_not_shown(self, shop: Site) -> None:
        refusal(job(shop, Job.State.DONE))
        other = Site.objects.create(name="other", root_url="https://other.example/")
        answer = browser(Role.ADMINISTRATOR, other).get(reverse("refusals"))
        assert ([], []) == (answer.context["page"].rows, answer.context["codes"])

    def test_nothing_refused_says_what_would_be_here(self, viewer: Client) -> None:
        assert "Nothing was refused" in text(viewer, "refusals")
