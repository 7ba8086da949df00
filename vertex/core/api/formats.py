"""JSON in and out: strict about what comes in, fast about what goes out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from vertex.core.api.errors import TooLarge

MAX_JSON_BYTES = 1024 * 1024


class StrictJSONParser(BaseParser):
    """Read a JSON body of at most a megabyte in UTF-8, without NaN or lone surrogates."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002 - the library's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the library's signature
    ) -> Any:
        body = stream.read(MAX_JSON_BYTES + 1)
        if len(body) > MAX_JSON_BYTES:
            raise TooLarge(f"A JSON body may have {MAX_JSON_BYTES:,} bytes.")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON in UTF-8: {error}") from None


class FastJSONRenderer(BaseRenderer):
    """Write JSON, several times faster than the standard library."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,  # noqa: ARG002 - the library's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the library's signature
    ) -> bytes:
        if data is None:
            return b""
        try:
            return orjson.dumps(data, default=str, option=orjson.OPT_UTC_Z)
        except orjson.JSONEncodeError:  # a number of more than 64 bits in somebody's JSON column
            return json.dumps(data, default=str).encode()


class BytesRenderer(BaseRenderer):
    """Stand for answers of plain bytes, so that a client may ask for them by media type."""

    media_type = "application/octet-stream"
    format = "bytes"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        raise NotImplementedError("The view answers the bytes itself, and errors are JSON.")


class LinesRenderer(BytesRenderer):
    """Stand for answers that are lines of JSON."""

    media_type = "application/x-ndjson"
    format = "jsonl"
