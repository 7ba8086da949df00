import re
from typing import Any

import pytest
from django.test import Client

from annotation.api.verticals.verticals import VerticalNameConverter
from annotation.models import ATTRIBUTE_NAME, Assignment, Vertical
from annotation.services.verticals.verticals import assign_vertical
from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import AuditEntry, Membership, Role

pytestmark = pytest.mark.django_db

PRODUCT: dict[str, Any] = {
    "name": "product",
    "description": "Things for sale",
    "attributes": [{"name": "name"}, {"name": "price", "type": "price", "mandatory": True}],
}


@pytest.fixture
def eve() -> Caller:
    return caller("eve", Role.EDITOR, site=site_of("shop"))


def test_a_vertical_is_created_shown_and_listed(eve: Caller) -> None:
    created = eve.post("verticals/", PRODUCT)

    assert 201 == created.status_code
    price = {
        "name": "price",
        "type": "price",
        "constant": False,
        "mandatory": True,
        "multi": False,
        "regex": "",
    }
    assert price == created.json()["attributes"][1]
    assert created.json() == eve.get("verticals/product/").json()
    assert [created.json()] == eve.get("verticals/").json()["results"]
    assert AuditEntry.objects.filter(action="vertical.created", actor=eve.user).exists()


def test_a_second_vertical_of_the_name_is_a_conflict(eve: Caller) -> None:
    eve.post("verticals/", PRODUCT)

    assert 409 == eve.post("verticals/", PRODUCT).status_code


def test_what_is_left_out_is_dropped(eve: Caller) -> None:
    eve.post("verticals/", PRODUCT)
    changed = eve.put("verticals/product/", {"attributes": [{"name": "brand"}], "version": 1})

    assert (200, 2) == (changed.status_code, changed.json()["version"])
    assert ["brand"] == [attribute["name"] for attribute in changed.json()["attributes"]]
    assert "Things for sale" == changed.json()["description"]
    assert 3 == Vertical.objects.get().attributes.count()


def test_a_change_of_an_older_version_overwrites_nothing(eve: Caller) -> None:
    eve.post("verticals/", PRODUCT)
    eve.put("verticals/product/", {"attributes": [{"name": "first"}], "version": 1})
    late = eve.put("verticals/product/", {"attributes": [{"name": "second"}], "version": 1})

    assert 409 == late.status_code
    assert "first" == eve.get("verticals/product/").json()["attributes"][0]["name"]


@pytest.mark.parametrize(
    ("attribute", "field"),
    [
        ({}, "attributes.0.name"),
        ({"name": "a b"}, "attributes.0.name"),
        ({"name": "a", "type": "colour"}, "attributes.0.type"),
        ({"name": "a", "colour": 1}, "attributes.0.colour"),
        ({"name": "a", "multi": "yes"}, "attributes.0.multi"),
        ({"name": "a", "regex": "("}, "attributes"),
        ({"name": "a", "regex": "(?<=x)y"}, "attributes"),
        (7, "attributes.0"),
    ],
)
def test_what_is_wrong_with_an_attribute_is_told_with_its_place(
    eve: Caller, attribute: Any, field: str
) -> None:
    response = eve.post("verticals/", PRODUCT | {"attributes": [attribute]})

    assert 400 == response.status_code
    assert {field} == set(response.json()["error"]["fields"])
    assert not Vertical.objects.exists()


@pytest.mark.parametrize(
    "attributes", [[], None, "name", {}, [{"name": "a"}] * 201, [{"name": "a"}] * 2]
)
def test_attributes_that_are_no_good_list_are_refused(eve: Caller, attributes: Any) -> None:
    assert 400 == eve.post("verticals/", PRODUCT | {"attributes": attributes}).status_code


def test_a_site_is_given_a_vertical_and_loses_it() -> None:
    site = site_of("guide")
    olga = caller("olga", Role.OPERATOR, site=site)
    Vertical.objects.create(name="business")

    assert {"vertical": None} == olga.get("sites/guide/vertical/").json()
    assert {"vertical": "business"} == olga.put(
        "sites/guide/vertical/", {"vertical": "business"}
    ).json()
    assert {"vertical": "business"} == olga.get("sites/guide/vertical/").json()
    assert 400 == olga.put("sites/guide/vertical/", {"vertical": "nothing"}).status_code
    assert "business" == Assignment.objects.get().vertical.name
    assert {"vertical": None} == olga.put("sites/guide/vertical/", {"vertical": None}).json()
    assert not Assignment.objects.exists()


def test_a_list_of_verticals_costs_as_many_queries_as_one(
    eve: Caller, django_assert_max_num_queries: Any
) -> None:
    Vertical.objects.bulk_create(Vertical(name=f"v{n}") for n in range(200))

    with django_assert_max_num_queries(6):
        assert 200 == len(eve.get("verticals/?limit=1000").json()["results"])


def test_the_names_in_addresses_are_those_that_verticals_may_have() -> None:
    assert ATTRIBUTE_NAME.regex == re.compile(rf"^{VerticalNameConverter.regex}\Z")


def test_what_another_site_uses_as_well_needs_the_role_there_too(eve: Caller) -> None:
    eve.post("verticals/", PRODUCT)
    vertical = Vertical.objects.get()
    hidden = site_of("hidden-shop")
    assign_vertical(site=hidden, vertical=vertical, actor=None)
    change = {"attributes": [{"name": "brand"}], "version": 1}

    refused = eve.put("verticals/product/", change)
    removed = Client()
    removed.force_login(eve.user)
    page = removed.post(f"/settings/verticals/{vertical.name}/delete/")

    assert 403 == refused.status_code
    assert "hidden-shop" not in refused.text + page.text
    assert {"name", "price"} == set(vertical.attributes.live().values_list("name", flat=True))

    Membership.objects.create(user=eve.user, site=hidden, role=Role.EDITOR)
    assert 200 == eve.put("verticals/product/", change).status_code
