import re

import pytest

from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.converters import NameConverter
from vertex.core.models import AuditEntry, Job, Role, Site
from vertex.core.models.sites import SITE_NAME

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def test_a_site_is_added_shown_and_listed(ada: Caller) -> None:
    body = {
        "name": "alpine-shop",
        "root_url": "https://Alpine.Example:443",
        "title": "Alpine",
        "extra_hosts": ["images.alpine.example"],
        "crawl_delay": 0.5,
    }
    added = ada.post("sites/", body)

    assert 201 == added.status_code
    assert "https://alpine.example/" == added.json()["root_url"]
    assert (["images.alpine.example"], 0.5) == (
        added.json()["extra_hosts"],
        added.json()["crawl_delay"],
    )
    assert added.json() == ada.get("sites/alpine-shop/").json()
    assert [added.json()] == ada.get("sites/").json()["results"]
    assert ("site.created", "ada") == AuditEntry.objects.values_list("action", "actor_name").get(
        action="site.created"
    )


def test_another_site_of_the_same_name_is_a_conflict(ada: Caller) -> None:
    site_of("shop")
    response = ada.post("sites/", {"name": "shop", "root_url": "https://other.example/"})

    assert (409, "conflict") == (response.status_code, response.json()["error"]["code"])
    assert "already" in response.json()["error"]["message"]


def test_settings_that_are_given_change_and_the_others_stay(ada: Caller) -> None:
    site_of("shop", title="Old", crawl_delay=2)
    response = ada.patch(
        "sites/shop/",
        {"title": "New", "snapshots_kept": 3, "match_by": "signature", "country": "gb"},
    )

    assert 200 == response.status_code
    settings = ("title", "crawl_delay", "snapshots_kept", "match_by", "country")
    assert ("New", 2.0, 3, "signature", "GB") == tuple(response.json()[key] for key in settings)
    assert ("New", 2.0, 3, "signature", "GB") == Site.objects.values_list(*settings).get()
    assert AuditEntry.objects.filter(action="site.changed", actor=ada.user).exists()


@pytest.mark.parametrize("field", ["name", "root_url", "n_pages", "created_at"])
def test_what_is_no_setting_cannot_be_changed(ada: Caller, field: str) -> None:
    site_of("shop")
    response = ada.patch("sites/shop/", {field: "other"})

    assert 400 == response.status_code
    assert {field} == set(response.json()["error"]["fields"])
    assert Site.objects.filter(name="shop", root_url="https://shop.example/").exists()


def test_a_deleted_site_is_out_of_sight_at_once_and_a_job_deletes_it(ada: Caller) -> None:
    site_of("shop")
    response = ada.delete("sites/shop/")

    assert 202 == response.status_code
    assert "clustering.delete_site" == response.json()["task"]
    assert Job.State.DUE == Job.objects.get(pk=response.json()["id"]).state
    assert 404 == ada.get("sites/shop/").status_code
    assert [] == ada.get("sites/").json()["results"]


def test_only_sites_with_a_role_are_listed() -> None:
    mine, _ = site_of("mine"), site_of("foreign")
    vic = caller("vic", Role.VIEWER, site=mine)

    assert ["mine"] == [row["name"] for row in vic.get("sites/").json()["results"]]
    assert ["foreign", "mine"] == [
        row["name"] for row in caller("ada", Role.VIEWER).get("sites/").json()["results"]
    ]


@pytest.mark.both_databases
def test_sites_are_found_by_words(ada: Caller) -> None:
    site_of("alpine-shop"), site_of("town-guide", title="Guide to the town")

    assert ["town-guide"] == [
        row["name"] for row in ada.get("sites/?search=guide").json()["results"]
    ]
    assert [] == ada.get("sites/?search=nowhere").json()["results"]


def test_names_of_other_letters_and_signs_are_404(ada: Caller) -> None:
    for name in ("%00", "..", "%2e%2e", "a%2Fb", "ü", "a%0A", "x" * 64):
        assert 404 == ada.get(f"sites/{name}/").status_code


def test_the_names_in_addresses_are_those_that_sites_may_have() -> None:
    assert SITE_NAME.regex == re.compile(rf"^{NameConverter.regex}\Z")
