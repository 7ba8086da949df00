"""A small OpenID Connect provider on loopback, which looks at what it is asked with."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

import jwt

CLIENT, SECRET = "vertex", "a secret between two"
CODE = "the-code"


class IdentityProvider(ThreadingHTTPServer):
    """Says of whoever comes what `claims` says; `sub_of_address` makes its two answers differ."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.claims: dict[str, Any] = {}
        self.sub_of_address = ""
        self.challenge = ""
        self.redirect_uri = ""
        self.is_broken = False
        self.drips_at = ""  # the path of an answer that never ends
        self.is_over = threading.Event()
        self.padding = 0  # bytes that its answers have besides

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.shutdown()
        self.server_close()

    def token(self, form: dict[str, list[str]]) -> dict[str, Any]:
        """Hand out a token for the code, to whoever knows the secret and began the log-in."""
        verifier = form["code_verifier"][0].encode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).rstrip(b"=")
        is_right = (
            form["client_id"] == [CLIENT]
            and form["client_secret"] == [SECRET]
            and form["code"] == [CODE]
            and form["redirect_uri"] == [self.redirect_uri]
            and challenge.decode() == self.challenge
        )
        if not is_right:
            return {"error": "invalid_grant"}
        claims = {"iss": self.url, "aud": CLIENT, "exp": 4_000_000_000, **self.claims}
        return {
            "access_token": "access",
            "token_type": "Bearer",
            "id_token": jwt.encode(claims, "x" * 32, algorithm="HS256"),
        }


class _Handler(BaseHTTPRequestHandler):
    server: IdentityProvider

    def do_GET(self) -> None:
        provider = self.server
        if provider.is_broken:
            self._answer([])
        elif self.path == "/.well-known/openid-configuration":
            self._answer(
                {
                    "issuer": provider.url,
                    "authorization_endpoint": f"{provider.url}/authorize",
                    "token_endpoint": f"{provider.url}/token",
                    "userinfo_endpoint": f"{provider.url}/userinfo",
                    "jwks_uri": f"{provider.url}/keys",
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                }
            )
        elif self.headers["Authorization"] == "Bearer access":
            sub = provider.sub_of_address or provider.claims["sub"]
            self._answer({**provider.claims, "sub": sub})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(self.server.token(parse_qs(body)))

    def _answer(self, content: Any) -> None:
        body = json.dumps(content).encode() + b" " * self.server.padding
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == self.server.drips_at:
            self.wfile.write(body[:1])
            self.server.is_over.wait()
            return
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
