"""What all routes do alike: check caller and input, answer, and say so in the schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import exceptions
from rest_framework.parsers import BaseParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from vertex.core.api import permissions
from vertex.core.api.authentication import SessionAuthentication, TokenAuthentication
from vertex.core.api.errors import ErrorAnswer, TooLarge
from vertex.core.api.formats import FastJSONRenderer, StrictJSONParser
from vertex.core.api.permissions import Where
from vertex.core.api.serializers import NoBody, Query, StrictSerializer
from vertex.core.api.throttling import CallerThrottle
from vertex.core.models import Role, Site

MEGABYTE = 1024 * 1024
ERRORS = {
    400: "A value or name is wrong; `fields` says which.",
    401: "No token, or a wrong one.",
    403: "The role or the token's scopes do not allow it.",
    404: "There is no such thing, or it is not yours to see.",
    405: "This address does not take this method.",
    406: "None of the accepted media types is offered.",
    409: "The request contradicts what is there, such as a second unfinished job of the same kind.",
    413: "The request is too large.",
    415: "The body has another media type than is taken.",
    429: "Too many requests; `Retry-After` says how many seconds to wait.",
}


class ApiView(APIView):
    """A route of the API."""

    authentication_classes = (TokenAuthentication, SessionAuthentication)
    permission_classes = (IsAuthenticated,)
    throttle_classes = (CallerThrottle,)
    parser_classes: Sequence[type[BaseParser]] = (StrictJSONParser,)
    renderer_classes: Sequence[type[BaseRenderer]] = (FastJSONRenderer,)
    http_method_names = ("get", "head", "post", "put", "patch", "delete")
    max_megabytes: ClassVar[int] = 1  # of a request's body

    # As loose as it is so that each route names what its address holds.
    def find(self, *_: Any, **__: Any) -> Any:
        """Return what the address names, if the caller may see it; None where it names nothing."""
        return None

    def site_of(self, subject: Any) -> Site | None:  # noqa: ARG002 - what `find` returned
        """Return the site at which the caller needs the role."""
        return None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse large requests first, and count also those whose caller is not known."""
        if int(request.META.get("CONTENT_LENGTH") or 0) > self.max_megabytes * MEGABYTE:
            raise TooLarge(f"A request to this address may have {self.max_megabytes:,} MB.")
        try:
            super().initial(request, *args, **kwargs)
        except (exceptions.NotAuthenticated, exceptions.AuthenticationFailed):
            self.check_throttles(request)
            raise

    def finalize_response(
        self,
        request: Request,
        response: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Answer errors as JSON, whatever the caller accepts."""
        final: Any = super().finalize_response(request, response, *args, **kwargs)
        if getattr(response, "exception", False):
            final.accepted_renderer = FastJSONRenderer()
            final.accepted_media_type = FastJSONRenderer.media_type
        final.headers.setdefault("Cache-Control", "private, no-store")
        return final


class AtSite(ApiView):
    """An address below a site's."""

    def find(self, request: Request, *, name: str) -> Site:
        return permissions.visible_site(request, name)

    def site_of(self, subject: Site) -> Site:
        return subject


def endpoint(
    name: str,
    *,
    scope: str,
    answers: Any,
    needs: tuple[Role, Where] | None = None,
    takes: type[StrictSerializer] | None = None,
    query: type[Query] = Query,
    status: int = 200,
    media_type: str | tuple[str, ...] = "application/json",
    errors: tuple[int, ...] = (),
    **schema: Any,
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponseBase]]:
    """Make a method a documented route, known to programs by its name.

    The caller's token needs `scope`, the caller the role of `needs`: "there" where `find`'s thing
    belongs, "everywhere", or "anywhere" at some site. The method gets that thing, the checked query
    and the checked body as `subject`, `query` and `body`, and returns the answer.
    """
    body_type = takes or NoBody
    media_types = (media_type,) if isinstance(media_type, str) else media_type

    def decorate(method: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
        @extend_schema(
            operation_id=name,
            summary=(method.__doc__ or "").strip().partition("\n")[0].rstrip("."),
            parameters=[query] if query is not Query else None,
            request=takes,
            responses={
                **{(status, type_name): answers for type_name in media_types},
                **_error_answers(errors, takes=takes),
            },
            **schema,
        )
        @wraps(method)
        def run(self: ApiView, request: Request, **names: Any) -> HttpResponseBase:
            permissions.check_scope(request, scope)
            subject = self.find(request, **names)
            permissions.check_role(request, needs, self.site_of(subject))
            answer = method(
                self,
                request,
                subject=subject,
                query=_checked_query(query, request),
                body={} if request.method == "GET" else checked(body_type, request.data),
            )
            return answer if hasattr(answer, "status_code") else Response(answer, status=status)

        run.needs = scope, needs  # type: ignore[attr-defined]  # a test walks the routes and looks for it
        return run

    return decorate


def checked(kind: type[StrictSerializer], given: Any) -> dict[str, Any]:
    """Return the values that were given, converted; what is wrong is refused, all of it at once."""
    serializer = kind(data=given)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


def _checked_query(kind: type[Query], request: Request) -> dict[str, Any]:
    given = request.query_params.lists()
    if repeated := [name for name, values in given if len(values) > 1]:
        raise exceptions.ValidationError({name: ["Given more than once."] for name in repeated})
    return checked(kind, request.query_params.dict())


def _error_answers(
    errors: tuple[int, ...], *, takes: type[StrictSerializer] | None
) -> dict[tuple[int, str], OpenApiResponse]:
    usual = {400, 401, 403, 404, 405, 406, 429, *errors}
    if takes is not None:
        usual |= {413, 415}
    return {
        (status, FastJSONRenderer.media_type): OpenApiResponse(ErrorAnswer, ERRORS.get(status, ""))
        for status in sorted(usual)
    }
