"""Who may open a page: by role, at the site that the address names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, include, path

from vertex.core.models import Role, Site, User
from vertex.core.services.people import people
from vertex.core.views.access import needs_log_in, needs_role

pytestmark = pytest.mark.both_databases


OPEN_TO_ALL = {"frame_asset", "log_in", "log_out", "healthz", "readyz", "metrics"}
# The ways in; `account_login` is the log-in by the name that the library looks for.
OPEN_TO_ALL |= {"account_login", "mfa_authenticate", "mfa_login_webauthn"}
OPEN_TO_ALL |= {"single_sign_on", "openid_connect_callback"}
NOT_PAGES = {"api", "admin", "openapi", "schema"}


@needs_role(Role.OPERATOR)
def at_site(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(f"{name} for {request.user}")


@needs_role(Role.OPERATOR)
def somewhere(request: HttpRequest) -> HttpResponse:
    return HttpResponse("seen")


@needs_role(Role.OPERATOR, everywhere=True)
def everywhere(request: HttpRequest) -> HttpResponse:
    return HttpResponse("seen")


@needs_log_in
def own(request: HttpRequest) -> HttpResponse:
    return HttpResponse("seen")


urlpatterns = [
    path("sites/<str:name>/work/", at_site),
    path("somewhere/", somewhere),
    path("everywhere/", everywhere),
    path("own/", own),
    path("log-in/", lambda _request: HttpResponse("log-in page"), name="log_in"),
    path("sites/", somewhere, name="sites"),
    path("", include("vertex.urls")),  # what the page of a refusal links to
]
own_addresses = pytest.mark.urls("tests.apps.core.test_access")
AT_ALPINE, AT_BOREAS = "/sites/alpine/work/", "/sites/boreas/work/"


@pytest.fixture
def alpine(db: None) -> Site:
    Site.objects.create(name="boreas", root_url="https://boreas.example/")
    return Site.objects.create(name="alpine", root_url="https://alpine.example/")


def client_of(role: Role | None, site: Site | None = None) -> Client:
    user = people.create_user(username="somebody", role=role, site=site, actor=None)
    client = Client()
    client.force_login(user)
    return client


def status(client: Client, address: str) -> int:
    return client.get(address).status_code


@own_addresses
class TestAtSite:
    def test_anonymous_people_are_sent_to_log_in_and_back(self, alpine: Site) -> None:
        response = Client().get(AT_ALPINE + "?q=a&b=c")

        assert 302 == response.status_code
        assert "/log-in/?next=/sites/alpine/work/%3Fq%3Da%26b%3Dc" == response["Location"]

    def test_anonymous_people_learn_nothing_about_which_sites_exist(self, alpine: Site) -> None:
        assert status(Client(), AT_ALPINE) == status(Client(), "/sites/nowhere/work/") == 302

    @pytest.mark.parametrize("role", [Role.OPERATOR, Role.ADMINISTRATOR])
    def test_the_role_or_a_higher_one_gets_in(self, alpine: Site, role: Role) -> None:
        assert 200 == status(client_of(role, alpine), AT_ALPINE)

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.REVIEWER])
    def test_a_lower_role_is_refused(self, alpine: Site, role: Role) -> None:
        assert 403 == status(client_of(role, alpine), AT_ALPINE)

    def test_a_site_without_a_role_looks_like_none(self, alpine: Site) -> None:
        client = client_of(Role.ADMINISTRATOR, alpine)

        assert 404 == status(client, AT_BOREAS)
        assert 404 == status(client, "/sites/nowhere/work/")
        assert 200 == status(client, AT_ALPINE)

    def test_a_role_for_all_sites_counts_at_each(self, alpine: Site) -> None:
        client = client_of(Role.OPERATOR)

        assert [200, 200, 404] == [
            status(client, address) for address in (AT_ALPINE, AT_BOREAS, "/sites/nowhere/work/")
        ]

    def test_the_higher_of_two_roles_counts(self, alpine: Site) -> None:
        client = client_of(Role.VIEWER)
        somebody = User.objects.get(username="somebody")
        assert 403 == status(client, AT_ALPINE)

        people.set_role(user=somebody, role=Role.OPERATOR, site=alpine, actor=None)
        assert [200, 403] == [status(client, AT_ALPINE), status(client, AT_BOREAS)]

    def test_a_role_that_is_taken_away_is_gone_at_the_next_request(self, alpine: Site) -> None:
        client = client_of(Role.OPERATOR, alpine)
        assert 200 == status(client, AT_ALPINE)

        people.remove_role(user=User.objects.get(username="somebody"), site=alpine, actor=None)
        assert 404 == status(client, AT_ALPINE)

    def test_a_superuser_is_an_administrator(self, alpine: Site) -> None:
        client = client_of(None)
        assert 404 == status(client, AT_ALPINE)

        people.set_superuser(
            user=User.objects.get(username="somebody"), is_superuser=True, actor=None
        )
        assert 200 == status(client, AT_ALPINE)

    @pytest.mark.parametrize("name", ["%00", "%27", "..", "ALPINE", "a" * 3000])
    def test_odd_names_are_no_sites(self, alpine: Site, name: str) -> None:
        assert 404 == status(client_of(Role.OPERATOR), f"/sites/{name}/work/")


@own_addresses
class TestWithoutSite:
    def test_a_role_at_any_site_opens_a_page_about_all(self, alpine: Site) -> None:
        client = client_of(Role.OPERATOR, alpine)

        assert 200 == status(client, "/somewhere/")
        assert 403 == status(client, "/everywhere/")

    def test_a_role_for_all_sites_opens_both(self, alpine: Site) -> None:
        client = client_of(Role.OPERATOR)

        assert [200, 200] == [status(client, "/somewhere/"), status(client, "/everywhere/")]

    def test_too_low_a_role_opens_neither(self, alpine: Site) -> None:
        client = client_of(Role.REVIEWER)

        assert [403, 403] == [status(client, "/somewhere/"), status(client, "/everywhere/")]

    def test_whoever_has_an_account_opens_pages_about_themselves(self, alpine: Site) -> None:
        assert 200 == status(client_of(None), "/own/")
        assert 302 == status(Client(), "/own/")


@own_addresses
class TestFragments:
    """A redirection would put the log-in page into a corner of the page."""

    def test_an_anonymous_fragment_takes_the_whole_page_to_log_in_and_back(
        self, alpine: Site
    ) -> None:
        headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/sites/alpine/?tab=2"}
        response = Client().get(AT_ALPINE, headers=headers)

        assert (204, b"") == (response.status_code, response.content)
        assert "/log-in/?next=/sites/alpine/%3Ftab%3D2" == response["HX-Redirect"]

    def test_a_foreign_page_is_no_way_back(self, alpine: Site) -> None:
        headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.example/trap"}

        assert "evil" not in Client().get(AT_ALPINE, headers=headers)["HX-Redirect"]


def views(patterns: list[Any], area: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns, area or str(pattern.pattern).strip("/"))
        elif isinstance(pattern, URLPattern) and area.partition("/")[0] not in NOT_PAGES:
            yield pattern.name or str(pattern.pattern), pattern.callback


def test_every_page_of_the_product_says_who_may_open_it() -> None:
    pages = dict(views(get_resolver().url_patterns))
    ours = {
        name: view
        for name, view in pages.items()
        if view.__module__.startswith(
            ("vertex.core.", "clustering.", "annotation.", "rules.", "monitoring.")
        )
        and ".api" not in view.__module__
    }

    assert {"people", "tokens", "audit"} <= ours.keys()
    assert (
        set()
        == {name for name, view in ours.items() if not hasattr(view, "needed_role")} - OPEN_TO_ALL
    )
