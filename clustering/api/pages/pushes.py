"""The route by which other crawlers push pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import orjson
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from clustering.dom.addresses import address_keys
from clustering.fetching.decompressing import BodyTooLarge, EncodingRefused, decompress
from clustering.services.pages.pages import FAILED, NEW, UNCHANGED
from clustering.services.pages.pushed_pages import MAX_PUSHED_PAGES, PushedLine, store_pushed
from vertex.core.api.endpoints import MEGABYTE, AtSite, endpoint
from vertex.core.api.errors import TooLarge
from vertex.core.api.serializers import Body
from vertex.core.models import Role, Scope, Site

MAX_MEGABYTES: Final = 32  # of a batch, also once it is unpacked
PIECE: Final = 64 * 1024


class PushedJSONParser(BaseParser):
    """Read a batch in JSON, which may be packed with gzip."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002 - the library's signature
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        encoding = _encoding_of(parser_context)
        if encoding not in {"", "identity", "gzip"}:
            raise UnsupportedMediaType(encoding, "A batch may be packed with gzip only.")
        try:
            body = decompress(_pieces(stream), encoding, MAX_MEGABYTES * MEGABYTE)
        except BodyTooLarge:
            raise TooLarge(f"A batch may have {MAX_MEGABYTES} MB, also once unpacked.") from None
        except EncodingRefused as error:
            raise ParseError(f"{error}.") from None
        return _read_json(body)


class PushedFormParser(MultiPartParser):
    """Read a batch as a form: JSON in `pages`, and the bytes of each page as a file."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        if _encoding_of(parser_context) not in {"", "identity"}:
            raise UnsupportedMediaType("gzip", "Only a batch in JSON may be packed.")
        form = super().parse(stream, media_type, parser_context)
        pages = _read_json(form.data.get("pages", "null").encode())
        if isinstance(pages, list):
            pages = [_with_file(entry, form.files) for entry in pages]
        others = {name: value for name, value in form.data.items() if name != "pages"}
        return {"pages": pages, **others}


def _encoding_of(parser_context: Mapping[str, Any] | None) -> str:
    request = (parser_context or {})["request"]
    return str(request.META.get("HTTP_CONTENT_ENCODING", "")).strip().lower()


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


def _read_json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ParseError(f"The batch is not JSON in UTF-8: {error}") from None


def _with_file(entry: Any, files: Any) -> Any:
    """Return a page with the bytes of the file that it names; without that file, as it is."""
    name = entry.get("file") if isinstance(entry, dict) else None
    file = files.get(name) if isinstance(name, str) else None
    if file is None:
        return entry
    return {**{key: value for key, value in entry.items() if key != "file"}, "body": file.read()}


class PushedPageRow(serializers.Serializer[Any]):
    """A page that was fetched elsewhere."""

    url = serializers.CharField(help_text="The address that was asked for, at this site.")
    body = serializers.CharField(
        required=False, help_text="The bytes as they came, in base64; in a form `file` names them."
    )
    status = serializers.IntegerField(required=False, help_text="Of HTTP; by default 200.")
    headers = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Of the answer. Kept are Content-Type, ETag and Last-Modified.",
    )
    fetched_at = serializers.DateTimeField(required=False, help_text="By default now.")
    final_url = serializers.CharField(required=False, help_text="Where redirects led.")
    depth = serializers.IntegerField(required=False, help_text="Links from where you began.")


class PushedEntry(serializers.Field[Any, Any, Any, Any]):
    """A page as it came; it is checked for itself."""

    def to_internal_value(self, data: Any) -> Any:
        return data


@extend_schema_field(PushedPageRow(many=True))
class PushedEntries(serializers.ListField):
    """Pages, of which one that is wrong holds up no other."""

    child = PushedEntry()


class PushedBatch(Body):
    """Pages to be stored."""

    pages = PushedEntries(min_length=1, max_length=MAX_PUSHED_PAGES)


class PushedPageLine(serializers.Serializer[Any]):
    """What became of a page."""

    url = serializers.CharField(help_text="As it was pushed.")
    normalized_url = serializers.CharField(
        required=False, help_text="The address of the page, where it is another one."
    )
    snapshot = serializers.ChoiceField(choices=[NEW, UNCHANGED, FAILED])
    page = serializers.IntegerField(allow_null=True, help_text="The page that was stored.")
    code = serializers.CharField(required=False, help_text="A word for why it was not taken.")
    reason = serializers.CharField(required=False)


class PushedAnswer(serializers.Serializer[Any]):
    """What became of a batch."""

    results = PushedPageLine(many=True)
    new = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    failed = serializers.IntegerField()


class PushedPages(AtSite):
    parser_classes = (PushedJSONParser, PushedFormParser)
    max_megabytes = MAX_MEGABYTES

    @endpoint(
        "push_pages",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=PushedBatch,
        answers=PushedAnswer,
        errors=(507,),
        tags=["incoming"],
    )
    def post(
        self, _request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Store pages that another crawler fetched, and say of each what became of it."""
        lines = store_pushed(site=subject, entries=body["pages"])
        states = [line.snapshot for line in lines]
        return {
            "results": [_line_json(line) for line in lines],
            **{state: states.count(state) for state in (NEW, UNCHANGED, FAILED)},
        }


def _line_json(line: PushedLine) -> dict[str, Any]:
    json: dict[str, Any] = {
        **address_keys(line.url),
        "snapshot": line.snapshot,
        "page": line.page_id,
    }
    if line.reason:
        json |= {"code": line.code, "reason": line.reason}
    return json
