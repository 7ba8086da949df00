import pytest

from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Job, Refusal, Role, Site

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def job_of(site: Site | None = None, state: str = Job.State.DUE, **fields: object) -> Job:
    settings = {
        "task": "clustering.crawl_site",
        "queue": Job.Queue.FETCH,
        "title": "Crawl",
    } | fields
    return Job.objects.create(site=site, state=state, **settings)


def test_a_job_tells_how_far_it_is(ada: Caller) -> None:
    job = job_of(site_of("shop"), n_done=3, n_total=10, message="fetching", created_by=ada.user)
    answer = ada.get(f"jobs/{job.pk}/").json()

    assert answer == ada.get("jobs/").json()["results"][0]
    expected = {
        "site": "shop",
        "n_done": 3,
        "n_total": 10,
        "message": "fetching",
        "created_by": "ada",
    }
    assert expected == {key: answer[key] for key in expected}
    assert not {"params", "lease", "leased_by", "key"} & set(answer)


def test_jobs_are_filtered(ada: Caller) -> None:
    first = job_of(site_of("one"))
    two = job_of(
        site_of("two"), Job.State.FAILED, task="clustering.import_pages", queue=Job.Queue.KEEP
    )

    for query, expected in {
        "site=one": [first.pk],
        "state=failed": [two.pk],
        "queue=keep": [two.pk],
        "task=clustering.crawl_site": [first.pk],
        "site=one&state=failed": [],
        "": [two.pk, first.pk],
    }.items():
        assert expected == [row["id"] for row in ada.get(f"jobs/?{query}").json()["results"]], query


def test_a_waiting_job_is_cancelled_at_once(ada: Caller) -> None:
    job = job_of()
    response = ada.post(f"jobs/{job.pk}/cancel/")

    assert (200, "cancelled") == (response.status_code, response.json()["state"])


def test_a_failed_job_is_retried(ada: Caller) -> None:
    job = job_of(state=Job.State.FAILED, error="broke")
    response = ada.post(f"jobs/{job.pk}/retry/", {})

    assert (200, "due", "") == (
        response.status_code,
        response.json()["state"],
        response.json()["error"],
    )


@pytest.mark.parametrize(
    ("gesture", "state"), [("cancel", "done"), ("retry", "done"), ("retry", "due")]
)
def test_what_makes_no_sense_is_a_conflict(ada: Caller, gesture: str, state: str) -> None:
    job = job_of(state=state)

    assert 409 == ada.post(f"jobs/{job.pk}/{gesture}/").status_code
    assert state == Job.objects.get(pk=job.pk).state


def test_a_gesture_takes_no_values(ada: Caller) -> None:
    job = job_of()

    assert 400 == ada.post(f"jobs/{job.pk}/cancel/", {"force": True}).status_code
    assert Job.State.DUE == Job.objects.get(pk=job.pk).state


def test_a_retry_beside_an_unfinished_job_of_the_kind_is_a_conflict(ada: Caller) -> None:
    job_of(key="crawl:1")
    failed = job_of(state=Job.State.FAILED, key="crawl:1")
    response = ada.post(f"jobs/{failed.pk}/retry/")

    assert 409 == response.status_code
    assert "already" in response.json()["error"]["message"]


def test_jobs_of_no_site_are_for_those_with_a_role_everywhere(ada: Caller) -> None:
    job = job_of()
    vic = caller("vic", Role.OPERATOR, site=site_of("shop"))

    assert 404 == vic.get(f"jobs/{job.pk}/").status_code
    assert 200 == ada.get(f"jobs/{job.pk}/").status_code


def test_refusals_are_listed_and_filtered(ada: Caller) -> None:
    shop = site_of("shop")
    job = job_of(shop)
    by_job = Refusal.objects.create(
        site=shop, job=job, subject="https://a.example/", code="robots", reason="no"
    )
    other = Refusal.objects.create(site=shop, subject="line 7", code="bad_line", reason="not JSON")

    for query, expected in {
        "": [other.pk, by_job.pk],
        f"job={job.pk}": [by_job.pk],
        "code=bad_line": [other.pk],
        "site=shop&code=robots": [by_job.pk],
    }.items():
        assert expected == [row["id"] for row in ada.get(f"refusals/?{query}").json()["results"]], (
            query
        )
    assert [] == caller("sam").get("refusals/").json()["results"]
