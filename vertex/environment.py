"""Read typed settings from the environment, and fail with the variable's name."""

import ipaddress
import os
import stat
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import dj_database_url

BROKERS = ("amqp", "amqps", "redis", "rediss", "filesystem", "memory")
MAIL_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}  # the last without TLS
MAX_PORT = 65_535
PRIVATE = 0o077  # what others may not
MIN_PREFIX = {4: 8, 6: 16}  # of a network that may be allowed in production, by the version of IP
MIN_SECRET, MIN_DIFFERENT = 50, 10  # what `check --deploy` asks for
TRUE, FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class BadSetting(SystemExit):
    """An environment variable is missing or cannot be understood."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")


def text(name: str, default: str | None = None) -> str:
    """Return the variable's text; without a default it must be set."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise BadSetting(name, "must be set; see docs/settings.md")
    return default


def boolean(name: str, *, default: bool) -> bool:
    """Return whether the variable says yes or no."""
    value = text(name, str(default)).lower()
    if value not in TRUE | FALSE:
        raise BadSetting(name, f"{value!r} is neither yes nor no; use 1 or 0")
    return value in TRUE


def integer(name: str, *, default: int, minimum: int = 0) -> int:
    """Return the variable as a whole number of at least `minimum`."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise BadSetting(name, f"{value!r} is not a whole number") from None
    if number < minimum:
        raise BadSetting(name, f"{number} is below {minimum}")
    return number


def choice(name: str, *, default: str, among: tuple[str, ...]) -> str:
    """Return the variable's word in capitals, which must be one of those known."""
    value = text(name, default).upper()
    if value not in among:
        raise BadSetting(name, f"{value!r} is none of {', '.join(among)}")
    return value


def words(name: str, default: str | None = "") -> list[str]:
    """Return the variable's comma-separated parts."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def secret(name: str) -> str:
    """Return a key that nobody guesses."""
    value = text(name)
    if len(value) < MIN_SECRET or len(set(value)) < MIN_DIFFERENT:
        raise BadSetting(
            name,
            "is too easy to guess; make one: python3 -c 'import secrets; "
            "print(secrets.token_urlsafe(50))'",
        )
    return value


def refuse_open_doors(networks: list[Network], hosts: list[str]) -> None:
    """Refuse settings that open all networks to those who add sites, or answer to any host name."""
    for network in networks:
        if network.prefixlen < MIN_PREFIX[network.version]:
            raise BadSetting(
                "VERTEX_ALLOWED_NETWORKS",
                f"{network} opens nearly all addresses to whoever may add a site; "
                "name the networks you need",
            )
    if any(host in {"*", "."} for host in hosts):
        raise BadSetting(
            "VERTEX_ALLOWED_HOSTS", "* lets anybody choose the host in links; name your hosts"
        )


def keep_private(folder: Path) -> None:
    """Close a folder to all but this user, and what this process writes anywhere."""
    os.umask(PRIVATE)
    if not folder.is_dir():
        return
    status = folder.stat()
    is_own = status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISVTX  # not /tmp itself
    if is_own:
        folder.chmod(0o777 & ~PRIVATE)


def database(name: str, default: str | None) -> dict[str, Any]:
    """Return the database that the variable names, as Django wants it."""
    value = text(name, default)
    try:
        return dict(dj_database_url.parse(value, conn_max_age=60, conn_health_checks=True))
    except (ValueError, KeyError):  # the value is not shown: it may hold a password
        raise BadSetting(
            name, "is not an address like postgresql://user:password@host:5432/name"
        ) from None


def mail_server(name: str) -> tuple[str, int, str, str, bool, bool]:
    """Return host, port, user, password, whether TLS is spoken at once, whether by STARTTLS.

    Where there is no mail server, the host is blank.
    """
    value = text(name, "")
    if not value:
        return "", 25, "", "", False, False
    parts = urlsplit(value)
    if parts.scheme not in MAIL_PORTS or not parts.hostname:
        raise BadSetting(
            name,
            f"{value.partition('@')[2] or value!r} is no mail server; "
            "write smtp://user:password@host:587",
        )
    try:
        port = parts.port or MAIL_PORTS[parts.scheme]
    except ValueError:
        raise BadSetting(name, "the port is no number") from None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return parts.hostname, port, user, password, parts.scheme == "smtps", parts.scheme == "smtp"


def provider(name: str, *, needs_tls: bool) -> str:
    """Return the address of who people log in by, blank where there is none."""
    value = text(name, "").rstrip("/")
    if not value:
        return ""
    parts = urlsplit(value)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise BadSetting(name, f"{value!r} is no address like https://id.example.org")
    if needs_tls and parts.scheme != "https":
        raise BadSetting(name, f"{value!r} must begin with https://")
    return value


def origins(url: str, hosts: list[str]) -> list[str]:
    """Return where a browser may be sent to log in: the provider's address and further hosts."""
    if not url:
        return []
    parts = urlsplit(url)
    return [f"{parts.scheme}://{parts.netloc}", *(f"https://{host}" for host in hosts)]


def broker(name: str, default: str | None) -> str:
    """Return the broker's address, of a kind that workers can use."""
    value = text(name, default)
    if value.partition("://")[0] not in BROKERS:
        raise BadSetting(name, f"begins with none of {', '.join(f'{kind}://' for kind in BROKERS)}")
    return value


def folder(name: str, *, default: Path) -> Path:
    """Return the variable as an absolute path."""
    return Path(text(name, str(default))).expanduser().resolve()


def networks(name: str) -> list[Network]:
    """Return the variable's comma-separated networks."""
    try:
        return [ipaddress.ip_network(word) for word in words(name)]
    except ValueError as error:
        raise BadSetting(name, f"{error}; write networks as 127.0.0.0/8,10.1.0.0/16") from None


def ports(name: str) -> frozenset[int]:
    """Return the variable's comma-separated ports and ranges of ports."""
    numbers: set[int] = set()
    for word in words(name):
        first, _, last = word.partition("-")
        try:
            span = range(int(first), int(last or first) + 1)
        except ValueError:
            raise BadSetting(name, f"{word!r} is no port; write 8080,8101-8104") from None
        if not span or span[0] < 1 or span[-1] > MAX_PORT:
            raise BadSetting(name, f"{word!r} are no ports; they go from 1 to {MAX_PORT}")
        numbers.update(span)
    return frozenset(numbers)


def proxies(name: str) -> list[str]:
    """Return the variable's comma-separated proxies, each as host:port."""
    names = []
    for word in words(name):
        try:
            parts = urlsplit(f"//{word}")
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port = "", None
        if not host or not port or parts.netloc.lower() != word.lower() or "@" in word:
            raise BadSetting(name, f"{word!r} is no proxy; write proxy.example.org:3128")
        names.append(word.lower())
    return names
