"""Every route of the API asks who calls and what they may do; the list is made from the URL map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from annotation.models import Annotation, Comment, Sample
from clustering.models import Cluster, ClusterAnswer, ClusterChange, ClusterFigures, Clustering
from monitoring.models import Alert, Channel, Check, KeptList, Proposal, Schedule, SiteChange
from rules.models import BorrowedRule, Webhook
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from tests.apps.rules.record_cast import record_of, rule_of, vertical_of
from vertex.core.models import Job, Membership, Role, Scope, Site, User
from vertex.core.models.jobs import TASKS_OF_ADMINISTRATORS
from vertex.core.services.jobs.jobs import create_job

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "patch", "delete")
OPEN = {"schema", "docs"}  # they describe the product and hold nothing of an installation


@dataclass(frozen=True)
class Route:
    path: str
    name: str
    method: str
    scope: str
    role: Role | None
    where: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def patterns(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        path = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, path)
        else:
            yield path, entry


def routes() -> Iterator[Route]:
    for path, pattern in patterns(get_resolver()):
        if not path.startswith("api/") or pattern.name in OPEN:
            continue
        view = cast("Any", pattern.callback).view_class
        for method in METHODS:
            if handler := getattr(view, method, None):
                scope, needs = handler.needs  # a route made without `endpoint` fails here
                role, where = needs or (None, "")
                yield Route(path, str(pattern.name), method, scope, role, where)


ROUTES = list(routes())
AT_A_SITE = [route for route in ROUTES if route.where == "there"]
WITH_ROLE = [route for route in ROUTES if route.role not in {None, Role.VIEWER}]


@pytest.fixture
def places() -> dict[str, Any]:
    """Return something for each kind of address, all of it at one site."""
    site = site_of()
    page = page_of(site)
    job = create_job(
        task="clustering.crawl_site", queue=Job.Queue.FETCH, title="Crawl", site=site, rings=False
    )
    product = vertical_of()
    assert page.latest_snapshot is not None
    clustering = Clustering.objects.create(site=site, algorithm="auto", is_current=True)
    cluster = Cluster.objects.create(site=site, name="products", title="Products")
    ClusterFigures.objects.create(clustering=clustering, cluster=cluster, n_pages=1)
    of_page = {"page": page, "snapshot": page.latest_snapshot}
    Sample.objects.create(cluster=cluster, rank=1, gain=1.0, scheme="greedy", **of_page)
    name = product.attributes.get(name="name")
    Annotation.objects.create(attribute=name, kind="absent", **of_page)
    change = ClusterChange.objects.create(
        site=site, kind=ClusterChange.Kind.MERGE, cluster=cluster, into=cluster
    )
    answer = ClusterAnswer.objects.create(
        site=site,
        doubt="0123456789abcdef",
        left=[page.url],
        right=[f"{site.root_url}other"],
        n_left=1,
        n_right=1,
        is_same=True,
        probability=0.5,
        was_joined=False,
    )
    rule = rule_of(site, state="draft")
    record = record_of(rule, page)
    BorrowedRule.objects.create(cluster=cluster, rule=rule)
    webhook = Webhook.objects.create(site=site, url="https://receiver.example/hook", secret="s")
    return {
        "rule": rule.pk,
        "record": record.pk,
        "webhook": webhook.pk,
        "comment": Comment.objects.create(page=page, snapshot=page.latest_snapshot, text="Look").pk,
        "site": site,
        "page": page.pk,
        "snapshot": page.latest_snapshot.pk,
        "job": job.pk,
        "clustering": clustering.pk,
        "cluster-change": change.pk,
        "doubt-answer": answer.pk,
        **of_monitoring(site, cluster),
    }


def of_monitoring(site: Site, cluster: Cluster) -> dict[str, int]:
    """Return something for each kind of address of monitoring."""
    Schedule.objects.create(site=site)
    return {
        "check": Check.objects.create(site=site).pk,
        "site-change": SiteChange.objects.create(site=site, cluster=cluster).pk,
        "alert": Alert.objects.create(site=site, kind=Alert.Kind.WARNING, text="Look").pk,
        "channel": Channel.objects.create(
            site=site, kind="webhook", target="https://a.example/"
        ).pk,
        "kept-list": KeptList.objects.create(site=site, name="New", url=site.root_url).pk,
        "proposal": Proposal.objects.create(site=site, name="products", decision="reused").pk,
    }


def address(route: Route, places: dict[str, Any]) -> str:
    name = (
        "product"
        if "vertical>" in route.path or "name_of_vertical" in route.path
        else places["site"].name
    )
    kind = route.path.partition("/<id:pk>")[0].rpartition("/")[2].rstrip("s")
    filled = route.path.replace("<name:name>", name).replace("<name_of_vertical:name>", name)
    filled = filled.replace("<cluster:cluster>", "products")
    return "/" + filled.replace("<id:pk>", str(places.get(kind, "")))


def call(route: Route, who: Caller, places: dict[str, Any]) -> Any:
    if route.method == "post" and route.name in {
        "imports",
        "search_logs",
        "site_annotations",
        "site_imports",
    }:
        return who.post(address(route, places), {}, content_type="multipart/form-data; boundary=x")
    return getattr(who, route.method)(address(route, places), {} if route.method != "get" else None)


def content_of(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_the_list_has_the_routes_that_are_known() -> None:
    known = {("sites", "post"), ("site", "delete"), ("snapshot_body", "get"), ("retry_job", "post")}

    assert known <= {(route.name, route.method) for route in ROUTES}
    assert len(ROUTES) >= 25


def test_jobs_that_only_administrators_ask_for_are_known_as_theirs() -> None:
    """Every other job may be stopped and retried by an operator, who may ask for all of them."""
    task_by_route = {
        ("site", "delete"): "clustering.delete_site",
        ("site_imports", "post"): "vertex.import_site",
    }
    of_administrators = {
        (route.name, route.method)
        for route in ROUTES
        if route.role == Role.ADMINISTRATOR and route.method != "get"
    }

    assert of_administrators == task_by_route.keys()
    assert set(task_by_route.values()) == TASKS_OF_ADMINISTRATORS


def test_what_only_administrators_ask_for_they_only_stop_and_retry(places: dict[str, Any]) -> None:
    job = Job.objects.get(pk=places["job"])
    otto, ada = caller("otto", Role.OPERATOR), caller("ada", Role.ADMINISTRATOR)
    Job.objects.filter(pk=job.pk).update(task="vertex.import_site")

    for action in ("cancel", "retry"):
        address = f"jobs/{job.pk}/{action}/"
        assert (403, 200) == (otto.post(address).status_code, ada.post(address).status_code)


# What refuses changes nothing: all routes are asked about the same things.
@pytest.fixture
def no_throttle(settings: Settings) -> None:
    """Let one test ask all routes: a caller who is unknown may ask some in a minute only."""
    settings.API_RATE_ANONYMOUS = 10_000


@pytest.mark.usefixtures("no_throttle")
def test_anonymous_callers_get_401_and_learn_how_to_log_in(places: dict[str, Any]) -> None:
    for route in ROUTES:
        response = getattr(Client(), route.method)(address(route, places))

        assert (401, "Token") == (response.status_code, response["WWW-Authenticate"]), route
        assert "not_authenticated" == response.json()["error"]["code"], route


@pytest.mark.usefixtures("no_throttle")
def test_a_wrong_token_gives_401(places: dict[str, Any]) -> None:
    wrong = Caller(User.objects.create_user("nobody"), "vtx_wrong")

    for route in ROUTES:
        assert 401 == call(route, wrong, places).status_code, route


def test_a_token_without_the_scope_gives_403(places: dict[str, Any]) -> None:
    all_but = {
        scope: caller(
            f"ada-{number}",
            Role.ADMINISTRATOR,
            scopes=[other for other in Scope.values if other != scope],
        )
        for number, scope in enumerate(Scope.values)
    }

    for route in ROUTES:
        response = call(route, all_but[route.scope], places)

        assert 403 == response.status_code, route
        assert route.scope in response.json()["error"]["message"], route


def test_without_a_role_at_the_site_it_does_not_exist(places: dict[str, Any]) -> None:
    stranger = caller("sam", Role.ADMINISTRATOR, site=site_of("other-shop"))

    for route in AT_A_SITE:
        assert 404 == call(route, stranger, places).status_code, route


def test_a_role_too_low_gives_403(places: dict[str, Any]) -> None:
    lower_by_role = {
        role: caller(f"lou-{role}", Role(lower)) for lower, role in pairwise(Role.values)
    }

    for route in WITH_ROLE:
        assert route.role is not None
        assert 403 == call(route, lower_by_role[route.role], places).status_code, route


def test_a_role_at_one_site_is_not_enough_for_what_concerns_all(places: dict[str, Any]) -> None:
    for number, route in enumerate(route for route in ROUTES if route.where == "everywhere"):
        here = caller(f"lou-{number}", route.role, site=places["site"])

        assert 403 == call(route, here, places).status_code, route


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_role_and_the_scope_are_enough(route: Route, places: dict[str, Any]) -> None:
    site = places["site"] if route.where in {"there", "anywhere"} else None
    allowed = caller("pat", route.role, site=site, scopes=[route.scope])

    assert call(route, allowed, places).status_code in {200, 201, 202, 204, 400, 409}


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if r.method == "get" and "<name" not in r.path], ids=str
)
def test_lists_show_nothing_of_sites_without_a_role(route: Route, places: dict[str, Any]) -> None:
    page_of(places["site"], "seen")
    stranger = caller("sam", Role.ADMINISTRATOR, site=site_of("other-shop"))
    response = call(route, stranger, places)

    assert b"alpine" not in content_of(response)
    if response.status_code == 200 and route.name not in {"verticals", "audit", "refusals"}:
        friend = caller("fred", Role.VIEWER, site=places["site"])
        assert b"alpine" in content_of(call(route, friend, places))


def test_a_session_opens_the_api_and_writing_needs_its_csrf_token() -> None:
    ada = User.objects.create_user("ada", password="correct horse battery")
    Membership.objects.create(user=ada, role=Role.ADMINISTRATOR)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    body = {"name": "shop", "root_url": "https://shop.example/"}

    assert 200 == browser.get("/api/v1/sites/").status_code
    refused = browser.post("/api/v1/sites/", body, content_type="application/json")
    assert (403, "forbidden") == (refused.status_code, refused.json()["error"]["code"])
    assert not Site.objects.exists()
    token = "a" * 32
    browser.cookies["csrftoken"] = token
    answer = browser.post(
        "/api/v1/sites/", body, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert 201 == answer.status_code


def test_whose_password_is_to_be_changed_is_told_so_in_json() -> None:
    ada = User.objects.create_user("ada", must_change_password=True)
    browser = Client()
    browser.force_login(ada)
    response = browser.get("/api/v1/sites/")

    assert (403, "password_change_needed") == (
        response.status_code,
        response.json()["error"]["code"],
    )


def test_a_closed_account_opens_nothing() -> None:
    ada = caller("ada", Role.ADMINISTRATOR)
    assert 200 == ada.get("sites/").status_code
    User.objects.filter(pk=ada.user.pk).update(is_active=False, closed_at="2025-01-01T00:00:00Z")

    assert 401 == ada.get("sites/").status_code
