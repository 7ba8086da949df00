"""Which services the settings name: no program of the installation connects to others by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from clustering.fetching.guard import resolve_name
from clustering.fetching.way_out import refuse_other_connections

PORT_BY_SCHEME: Final = {
    "amqp": 5672,
    "amqps": 5671,
    "pyamqp": 5672,
    "redis": 6379,
    "rediss": 6379,
    "http": 80,
    "https": 443,
}


def connect_to_known_services_only() -> None:
    """Refuse from now on what this process connects to beside them and past the guard."""
    refuse_other_connections(is_known_service)


def is_known_service(host: str, port: int) -> bool:
    """Return whether a service of the settings listens at an address and port."""
    names = [name for name, service_port in known_services() if service_port == port]
    return any(name == host or host in _addresses_of(name, port) for name in names)


def known_services() -> Iterator[tuple[str, int]]:
    """Yield host and port of database, broker, cache, mail server and who people log in by."""
    database = settings.DATABASES["default"]
    if database.get("HOST"):
        yield database["HOST"], int(database.get("PORT") or 5432)
    for address in [*settings.CELERY_BROKER_URL.split(";"), *settings.CACHE_URL.split(";")]:
        parts = urlsplit(address)
        port = parts.port or PORT_BY_SCHEME.get(parts.scheme)
        if parts.hostname and port:
            yield parts.hostname, port
    if settings.EMAIL_HOST:
        yield settings.EMAIL_HOST, settings.EMAIL_PORT
    yield from provider_services()


def provider_services() -> Iterator[tuple[str, int]]:
    """Yield host and port of who people log in by."""
    if not settings.OIDC_URL:
        return
    provider = urlsplit(settings.OIDC_URL)
    yield provider.hostname or "", provider.port or PORT_BY_SCHEME[provider.scheme]
    for host in settings.OIDC_HOSTS:
        yield host, PORT_BY_SCHEME["https"]


def _addresses_of(name: str, port: int) -> list[str]:
    try:
        return resolve_name(name, port)
    except (OSError, UnicodeError):
        return []
