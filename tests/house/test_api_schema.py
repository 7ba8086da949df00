"""The API is what its schema says: the schema is valid, and random requests find no difference."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any, cast

import hypothesis
import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.renderers import OpenApiYamlRenderer
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from annotation.models import Vertical
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from vertex.api import schema_of_routes
from vertex.core.models import Role

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
N_EXAMPLES = 200 if os.environ.get("VERTEX_FULL") == "1" else 6

described = schemathesis.openapi.from_dict(schema_of_routes())
# Without page processes: these have a database of their own, and the tests' is nobody else's.
described.app = get_wsgi_application()
OPERATIONS = [each.ok() for each in cast("Iterator[Any]", described.get_all_operations())]


@pytest.fixture
def ada(db: None, settings: Any) -> Caller:
    """Return an administrator of an installation with a little of everything."""
    settings.API_RATE = settings.API_RATE_ANONYMOUS = 10**9
    settings.ALLOWED_HOSTS = ["*"]
    page_of(site_of("shop"), "p/1", body=b"<html><a href=/>home</a></html>")
    Vertical.objects.create(name="product")
    return caller("ada", Role.ADMINISTRATOR)


@pytest.fixture
def kept_connection() -> Iterator[None]:
    """Keep the connection that the test's transaction is in, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_the_schema_is_complete_and_valid() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=io.StringIO())


@pytest.mark.django_db
def test_the_schema_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Client().get("/api/schema/")
    assert "application/vnd.oai.openapi; charset=utf-8" == first.headers["Content-Type"]
    assert first.content.startswith(b"openapi: 3.")
    monkeypatch.delattr(OpenApiYamlRenderer, "render")
    assert first.content == Client().get("/api/schema/").content


@pytest.mark.django_db
def test_anybody_may_read_the_schema() -> None:
    response = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})

    assert 200 == response.status_code
    paths = response.json()["paths"]
    assert {"/api/v1/sites/", "/api/v1/pages/{id}/", "/api/v1/jobs/{id}/cancel/"} <= set(paths)
    listed = paths["/api/v1/sites/"]["get"]
    assert "list_sites" == listed["operationId"]
    assert {"limit", "cursor", "search"} == {
        parameter["name"] for parameter in listed["parameters"]
    }
    assert {"200", "400", "401", "429"} <= set(listed["responses"])


@pytest.mark.slow
@pytest.mark.usefixtures("kept_connection")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_random_requests_are_answered_as_the_schema_says(operation: Any, ada: Caller) -> None:
    headers = {"Authorization": f"Token {ada.key}"}
    sensible = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    hostile = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

    @hypothesis.settings(
        max_examples=N_EXAMPLES, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(case=sensible | hostile)
    def ask(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    ask()
