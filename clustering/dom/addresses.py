"""Read, normalise and compare the addresses of pages; the one URL parser of the product.

A normalised address is an absolute http or https URL without fragment, user name, default port, dot
segments and session id; its host is in lower case and in ASCII, its percent-encoding in upper case
and only where it is needed. The order of the query stays as it is: it may mean something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

import idna

MAX_LENGTH = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?]*)([^?]*)(?:\?(.*))?)?", re.DOTALL)
# What is already normal: a plain host name, no port, nothing encoded, no dot segment, no session
# id.
_NORMAL = re.compile(
    r"https?://(?:[a-z0-9-]{1,62}\.){1,3}[a-z]{2,62}"
    r"(?:/(?!\.)[A-Za-z0-9_~!$&*+,=:@.-]*)+(?:\?[A-Za-z0-9_~!$&()*+,;=:@/.-]+)?"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNSAFE_IN_PATH = re.compile(r"[^!#-;=@-\[\]_a-z|~]+")
_UNSAFE_IN_QUERY = re.compile(r"[^!#-&(-;=?-~]+")
_END_OF_ORIGIN = re.compile(r"[/?#]")
_DOT_SEGMENT = re.compile(r"/\.\.?(?:/|$)")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Session ids: names that mean nothing else, and names that mean a session only with a long random
# value.
_SESSION_NAME = re.compile(
    r"jsessionid|phpsessid|aspsessionid[a-z]{8}|asp\.net_sessionid|cfid|cftoken|oscsid|zenid",
    re.IGNORECASE,
)
_PERHAPS_SESSION_NAME = re.compile(r"sid|s_?id|sess(?:ion)?_?id|session", re.IGNORECASE)
_RANDOM = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9,-]{12,}|[0-9]{16,}")
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/;]*|;phpsessid=[^/;]*", re.IGNORECASE)
_SESSION_SEGMENT = re.compile(r"/\((?:(?:[A-Z]\([A-Za-z0-9_-]+\))+|[a-z0-9]{24})\)(?=/)")


class BadAddress(ValueError):
    """An address cannot be used; the message says which and why."""

    def __init__(self, url: str, problem: str) -> None:
        shown = ascii(url[:200])[1:-1]
        super().__init__(f"“{shown}”: {problem}")


class Address(NamedTuple):
    """The parts of a normalised address."""

    scheme: str
    host: str  # an IPv6 address stands without its brackets
    port: int
    path: str
    query: str

    @property
    def netloc(self) -> str:
        """Return host and port as they are written; the default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def target(self) -> str:
        """Return path and query, as they stand in a request."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        return self.origin + self.target


def normalise_url(url: str, encoding: str = "utf-8") -> str:
    """Return the normalised form of an absolute address.

    `encoding` is that of the page where the address stands: browsers send a query in it. Raises
    BadAddress.

    >>> normalise_url("HTTP://Example.org:80/a/../b;jsessionid=1F?q=%e9#top")
    'http://example.org/b?q=%E9'
    """
    if len(url) <= MAX_LENGTH and _NORMAL.fullmatch(url) and not _may_name_session(url):
        return url
    return str(parse_url(url, encoding))


def parse_url(url: str, encoding: str = "utf-8") -> Address:
    """Return the parts of an absolute address in normal form. Raises BadAddress."""
    bare = url.strip(" \t\r\n\f").partition("#")[0]
    _refuse_forbidden(bare)
    match = _PARTS.fullmatch(bare)
    if match is None:
        raise BadAddress(url, "not an absolute address; write it as https://host/path")
    scheme, netloc, path, query = match.groups()
    if scheme.lower() not in DEFAULT_PORTS:
        raise BadAddress(url, f"{scheme.lower()} is not fetched, only http and https")
    host, port = _split_netloc(url, netloc or "")
    address = Address(
        scheme.lower(),
        host,
        port or DEFAULT_PORTS[scheme.lower()],
        _normalise_path(path),
        _normalise_query(query or "", encoding),
    )
    if len(str(address)) > MAX_LENGTH:
        raise BadAddress(url, f"longer than {MAX_LENGTH} characters in its normal form")
    return address


def join_url(base: str, href: str) -> str:
    """Return the absolute address that `href` means on the page `base`, not yet normalised.

    `base` is an absolute address. Raises BadAddress if `href` can be none.
    """
    href = href.strip(" \t\r\n\f")
    base = base.partition("#")[0]
    if href.startswith("/") and not href.startswith("//"):
        return _origin_as_written(base) + href
    if href.startswith(("http://", "https://")):
        return href
    if href.startswith("//"):
        return base.partition("//")[0] + href
    if not href or href.startswith("#"):
        return base + href
    return _join_other(base, href)


def address_keys(url: str) -> dict[str, str]:
    """Return what a JSON line says of an address: as given, and normalised if that differs.

    >>> address_keys("http://example.org/a b")
    {'url': 'http://example.org/a b', 'normalized_url': 'http://example.org/a%20b'}
    """
    try:
        normalised = normalise_url(url)
    except BadAddress:
        return {"url": url}
    if normalised == url:
        return {"url": url}
    return {"url": url, "normalized_url": normalised}


def url_hash(normalised: str) -> bytes:
    """Return the 16 bytes under which a normalised address is indexed."""
    return sha256(normalised.encode("utf-8", "surrogatepass")).digest()[:16]


def origin_of(url: str) -> str:
    """Return `scheme://host:port` of an address, the default port left out. Raises BadAddress."""
    return _origin_as_written(normalise_url(url))


def netloc_of(host: str) -> str:
    """Return a host that somebody entered, with its port, normalised. Raises BadAddress."""
    host = host.strip()
    address = parse_url(f"http://{host}")
    if address.path != "/" or address.query or host.endswith(("/", "?", "#")):
        raise BadAddress(host, "no host name")
    return address.netloc


def belongs_to_site(url: str, root_url: str, extra_hosts: Iterable[str] = ()) -> bool:
    """Return whether an address stands on the site's own host or on one of its further hosts.

    A host and its twin with `www.` are the same. A further host without a port counts at every
    port.
    """
    netloc = _plain_netloc(url)
    if netloc == _plain_netloc(root_url):
        return True
    return any(_covers_netloc(extra, netloc) for extra in extra_hosts)


def _refuse_forbidden(url: str) -> None:
    if len(url) > MAX_LENGTH:
        raise BadAddress(url, f"longer than {MAX_LENGTH} characters")
    if _CONTROL.search(url):
        raise BadAddress(url, "contains a control character")
    if "\\" in url:
        raise BadAddress(url, "contains a backslash")


def _split_netloc(url: str, netloc: str) -> tuple[str, int | None]:
    """Return host and port, None where no port is written."""
    if "@" in netloc:
        raise BadAddress(url, "carries a user name or password; write it without")
    host, colon, port = netloc.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = netloc, ""
    if not host:
        raise BadAddress(url, "names no host")
    if not port:
        return _normalise_host(host), None
    if not (port.isascii() and port.isdigit() and len(port) <= 10 and 0 < int(port) < 65536):
        raise BadAddress(url, f"{port!r} is no port")
    return _normalise_host(host), int(port)


def _normalise_host(host: str) -> str:
    if host.startswith("["):
        return _normalise_ipv6(host)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError as error:
            raise BadAddress(host, f"not an international host name: {error}") from None
    host = host.lower().removesuffix(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise BadAddress(host, "no host name")
    if _is_number(host.rpartition(".")[2]):
        return _normalise_ipv4(host)
    return host


def _is_number(label: str) -> bool:
    """Return whether browsers read a host that ends in this label as an IPv4 address."""
    return label.isdigit() or re.fullmatch(r"0x[0-9a-f]*", label) is not None


def _normalise_ipv4(host: str) -> str:
    try:
        return str(ip_address(host))
    except ValueError:
        raise BadAddress(host, "no IPv4 address; write four decimal numbers") from None


def _normalise_ipv6(host: str) -> str:
    try:
        address = IPv6Address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise BadAddress(host, "no IPv6 address") from None
    if address.scope_id is not None:
        raise BadAddress(
            host, "an IPv6 address with a zone, which means nothing outside its machine"
        )
    return address.compressed


def _normalise_path(path: str) -> str:
    if "%" in path:
        path = _ENCODED.sub(_shorten, path)
    path = _UNSAFE_IN_PATH.sub(_encode_utf8, path)
    if _may_name_session(path):
        path = _without_session_in_path(path)
    if _DOT_SEGMENT.search(path):
        path = _without_dot_segments(path)
    return path or "/"


def _normalise_query(query: str, encoding: str) -> str:
    if "%" in query:
        query = _ENCODED.sub(_shorten, query)
    query = _UNSAFE_IN_QUERY.sub(lambda unsafe: _encode(unsafe[0], encoding), query)
    if _may_name_session(query):
        query = "&".join(part for part in query.split("&") if not _is_session(part))
    return query


def _shorten(escape: re.Match[str]) -> str:
    """Return the character itself where it needs no encoding, else the code in upper case."""
    code = int(escape[1], 16)
    return chr(code) if code in _UNRESERVED else escape[0].upper()


def _encode_utf8(unsafe: re.Match[str]) -> str:
    return _encode(unsafe[0], "utf-8")


def _encode(text: str, encoding: str) -> str:
    """Return a text percent-encoded, but for what needs no encoding."""
    codes = _bytes_of(text, encoding)
    return "".join(chr(code) if code in _UNRESERVED else f"%{code:02X}" for code in codes)


def _bytes_of(text: str, encoding: str) -> bytes:
    if text.isascii() or encoding.lower().startswith("utf-16"):
        return text.encode()
    try:
        return text.encode(encoding, "xmlcharrefreplace")
    except LookupError:
        return text.encode()


def _may_name_session(text: str) -> bool:
    """Return whether a text is worth a search for session ids; most are not."""
    text = text.lower()
    return (
        "sid" in text
        or "sess" in text
        or "cftoken" in text
        or "cfid" in text
        or "zenid" in text
        or "/(" in text
    )


def _is_session(part: str) -> bool:
    """Return whether a `name=value` of a query is a session id."""
    name, _, value = part.partition("=")
    if _SESSION_NAME.fullmatch(name):
        return True
    return bool(_PERHAPS_SESSION_NAME.fullmatch(name) and _RANDOM.fullmatch(value))


def _without_session_in_path(path: str) -> str:
    return _SESSION_SEGMENT.sub("", _SESSION_IN_PATH.sub("", path))


def _without_dot_segments(path: str) -> str:
    normal: list[str] = []
    *folders, last = path.split("/")[1:]
    for segment in folders:
        if segment == "..":
            del normal[-1:]
        elif segment != ".":
            normal.append(segment)
    if last in {".", ".."}:
        if last == "..":
            del normal[-1:]
        last = ""
    return "/" + "/".join([*normal, last])


def _origin_as_written(url: str) -> str:
    """Return what stands before the path of an absolute address."""
    start = url.find("//") + 2
    end = _END_OF_ORIGIN.search(url, start)
    return url[: end.start()] if end else url


def _join_other(base: str, href: str) -> str:
    """Join what begins with a scheme of its own, with a query or with the name of a neighbour."""
    match = _PARTS.match(href)
    if match is not None:
        if match[1].lower() not in DEFAULT_PORTS or not href[match.end(1) + 1 :].startswith("//"):
            raise BadAddress(href, "no address of a page")
        return href
    before_query = base.partition("?")[0]
    if href.startswith("?"):
        return before_query + href
    origin = _origin_as_written(before_query)
    folder = before_query[len(origin) :].rpartition("/")[0]
    return f"{origin}{folder}/{href}"


# Saves 2 % of reading links and asking whether they stay at the site: 99 % hits
# (benchmarks.caches).
@lru_cache(maxsize=1024)
def _plain_netloc(url: str) -> str:
    return _origin_as_written(normalise_url(url)).partition("//")[2].removeprefix("www.")


def _covers_netloc(extra: str, netloc: str) -> bool:
    """Return whether a further host of a site is that of an address."""
    extra = extra.lower().removeprefix("www.")
    if netloc == extra:
        return True
    has_port = ":" in extra.rpartition("]")[2]
    return not has_port and _without_port(netloc) == extra


def _without_port(netloc: str) -> str:
    host, _, port = netloc.rpartition(":")
    return host if host and port.isdigit() else netloc
