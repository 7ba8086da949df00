"""Errors in one shape, whatever went wrong and wherever."""

from __future__ import annotations

import errno
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson
import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, ValidationError
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from psycopg.errors import LockNotAvailable
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from vertex.core.exceptions import AlreadyExists, TooBusy
from vertex.core.services.files.uploads import UploadTooLarge
from vertex.core.services.people.heavy_work_turns import TurnTaken
from vertex.core.storage import DiskFull, StoreAway

API_PREFIX = "/api/"
# The word that a program can act on, by the status that goes with it.
CODE_BY_STATUS = {
    400: "invalid",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
    500: "server_error",
    503: "unavailable",
    507: "disk_full",
}
MESSAGE_BY_STATUS = {
    400: "The request cannot be understood.",
    403: "The request is refused.",
    404: "There is nothing at this address. All addresses stand in /api/schema/ and "
    "end with a slash.",
    413: "The request is too large.",
    500: "Something went wrong here. The log has the details under this request's id.",
    503: "Not available at the moment. Try again later.",
}

HELD_BY_OTHERS = "somebody else is changing the same, which takes a while; try again then"


class Conflict(exceptions.APIException):
    """The request contradicts what is there."""

    status_code = HTTPStatus.CONFLICT


class Gone(exceptions.APIException):
    """What was asked for is no longer kept."""

    status_code = HTTPStatus.GONE


class TooLarge(exceptions.APIException):
    """The request is larger than is taken here."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class DiskIsFull(exceptions.APIException):
    """There is no room to store what was sent."""

    status_code = HTTPStatus.INSUFFICIENT_STORAGE


class Away(exceptions.APIException):
    """What holds the answer cannot be reached now."""

    status_code = HTTPStatus.SERVICE_UNAVAILABLE


class Damaged(exceptions.APIException):
    """What is stored is not what was stored once."""

    status_code = HTTPStatus.INTERNAL_SERVER_ERROR


class ErrorDetail(serializers.Serializer[Any]):
    """What went wrong."""

    code = serializers.CharField(help_text="A word that a program can act on.")
    message = serializers.CharField(help_text="What is wrong, and what to do.")
    fields = serializers.DictField(  # type: ignore[assignment]  # the name is the API's
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="What is wrong with each field or query parameter.",
    )
    request_id = serializers.CharField(help_text="The request's id in the log.")


class ErrorAnswer(serializers.Serializer[Any]):
    """Every answer of status 400 and above."""

    error = ErrorDetail()


def shaped(
    status: int, message: str = "", *, code: str = "", fields: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return the body of an error."""
    phrase = HTTPStatus(status).phrase
    error: dict[str, Any] = {
        "code": code or CODE_BY_STATUS.get(status) or phrase.lower().replace(" ", "_"),
        "message": message or MESSAGE_BY_STATUS.get(status) or f"{phrase}.",
        "request_id": structlog.contextvars.get_contextvars().get("request_id", ""),
    }
    if fields:
        error["fields"] = fields
    return {"error": error}


def answer_error(error: Exception, _context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into an answer; None lets an unforeseen error become status 500."""
    error = _as_api_error(error)
    if not isinstance(error, exceptions.APIException):
        return None
    fields = _flat(error.detail) if isinstance(error, exceptions.ValidationError) else {}
    message = _sum_up(fields) if fields else str(error.detail)
    code = "throttled" if isinstance(error, exceptions.Throttled) else ""
    return Response(
        shaped(error.status_code, message, code=code, fields=fields),
        status=error.status_code,
        headers=_headers(error),
    )


def _as_api_error(error: Exception) -> Exception:
    """Return the API's error for this exception; an unforeseen error comes back as it is."""
    match error:
        case Http404():
            return exceptions.NotFound(MESSAGE_BY_STATUS[404])
        case PermissionDenied():
            return exceptions.PermissionDenied(str(error) or None)
        case ValidationError():
            by_field = (
                error.message_dict if hasattr(error, "error_dict") else {"body": error.messages}
            )
            return exceptions.ValidationError(by_field)
        case RequestDataTooBig() | UploadTooLarge():
            return TooLarge(f"{error}.")
        case AlreadyExists():
            return Conflict(f"{error}.")
        case TurnTaken():
            return exceptions.Throttled(wait=2, detail=str(error))
        case StoreAway():
            return Away("The page store cannot be reached at the moment. Try again later.")
        case TooBusy():
            return Away(f"{error}.")
        case OperationalError() if is_held_by_others(error):
            return Away(f"{HELD_BY_OTHERS}.")
        case DiskFull() | OSError(errno=errno.ENOSPC):
            return DiskIsFull("The disk is full: nothing more is taken until there is room.")
        case _:
            return error


def is_held_by_others(error: BaseException | None) -> bool:
    """Return whether others were changing what a request would change for too long to wait."""
    return isinstance(error, OperationalError) and isinstance(error.__cause__, LockNotAvailable)


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(error.auth_header)  # type: ignore[attr-defined]
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))  # type: ignore[attr-defined]
    return headers


def _flat(detail: Any, path: str = "") -> dict[str, list[str]]:
    """Return the messages by the dotted path of the field that they are about.

    >>> _flat({"attributes": [{}, {"name": ["too long"]}]})
    {'attributes.1.name': ['too long']}
    """
    if isinstance(detail, dict):
        parts = [(str(name), part) for name, part in detail.items()]
    elif isinstance(detail, list) and any(isinstance(part, dict | list) for part in detail):
        parts = [(str(index), part) for index, part in enumerate(detail)]
    else:
        messages = detail if isinstance(detail, list) else [detail]
        return {path or "body": [str(message) for message in messages]} if messages else {}
    flat: dict[str, list[str]] = {}
    for name, part in parts:
        if name == "non_field_errors":
            part_path = path
        elif path:
            part_path = f"{path}.{name}"
        else:
            part_path = name
        flat |= _flat(part, part_path)
    return flat


def _sum_up(fields: dict[str, list[str]]) -> str:
    return " ".join(f"{name}: {' '.join(messages)}" for name, messages in fields.items())


class ShapeErrors:
    """Middleware: give the API's shape to errors outside its views, such as unknown addresses."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not request.path_info.startswith(API_PREFIX):
            return response
        if response.status_code in {301, 302} and request.method not in {"GET", "HEAD"}:
            # Followed by a client as GET, this would silently do something else than was asked.
            return _json(404, shaped(404))
        if response.status_code < HTTPStatus.BAD_REQUEST or "json" in response.get(
            "Content-Type", ""
        ):
            return response
        return _json(response.status_code, shaped(response.status_code))


def _json(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/json")
