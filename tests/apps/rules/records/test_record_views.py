"""What the pages of records show."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from clustering.models import Cluster
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import record_of, rule_of
from vertex.core.models import User

pytestmark = pytest.mark.django_db


def test_a_cluster_without_records_shows_none_of_the_others() -> None:
    site = site_of("shop")
    record_of(rule_of(site), page_of(site, "p1"))
    Cluster.objects.create(site=site, name="lists", title="Lists")
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    address = reverse("records", args=[site.name])

    assert "Trail Runner" in client.get(address, {"cluster": "products"}).text
    of_lists = client.get(address, {"cluster": "lists"}).text
    assert "Trail Runner" not in of_lists
    assert '<option value="lists" selected>' in of_lists
    assert "Trail Runner" in client.get(address, {"cluster": "\0"}).text
