"""Who calls: a token in the header, or the browser's session."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from vertex.core.models import Token, User
from vertex.core.services.people import tokens

SCHEME = "Token"


class TokenAuthentication(authentication.BaseAuthentication):
    """Know the caller by `Authorization: Token …`."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = tokens.authenticate_token(key.strip())
        if token is None:
            raise exceptions.AuthenticationFailed("The token is unknown, expired or revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the library's signature
        return SCHEME


class SessionAuthentication(authentication.SessionAuthentication):
    """Know the caller by the browser's session; writing needs its CSRF token."""

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the library's signature
        return SCHEME


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # the library has few types
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:  # noqa: ARG002 - the library's signature
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": f"Write `{SCHEME} ` before the key.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # the library has few types
    target_class = SessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:  # noqa: ARG002 - the library's signature
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
