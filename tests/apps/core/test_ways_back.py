"""Forms lead back to our own pages, and nowhere else."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from tests.apps.rules.learning.test_rule_views import client_of
from vertex.core.models import Role
from vertex.core.views.ways_back import way_back

ELSEWHERE = [
    "",
    "log_in",
    "1_000",
    "javascript:alert(1)",
    "//elsewhere.example/",
    "/\\elsewhere.example/",
    "///elsewhere.example/",
    "https://elsewhere.example/",
]


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_what_is_no_page_of_ours_leads_nowhere(wanted: str) -> None:
    assert "" == way_back(RequestFactory().post("/", {"next": wanted}))


def test_a_page_of_ours_is_gone_back_to() -> None:
    request = RequestFactory().post("/", {"next": "/sites/?q=%2F#shop"})

    assert "/sites/?q=%2F#shop" == way_back(request)


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_who_is_logged_in_already_gets_to_the_sites(wanted: str) -> None:
    answer = client_of(Role.VIEWER).get("/log-in/", {"next": wanted})

    assert "/sites/" == answer.headers["Location"]
