"""Where notices go: e-mail of people, webhooks of other services, allowed chat and pager services.

A new kind is one of `Channel.Kind`, with its entry in TARGET_CHECKS here and in
SENDERS of `messages`.
"""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote_plus

import apprise
from apprise.plugins import N_MGR
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from clustering.dom.addresses import BadAddress, normalise_url
from clustering.services import outbox
from monitoring.models import Alert, Channel, Notice
from vertex.core.models import Site, User
from vertex.core.services.people import audit

SALT: Final = "monitoring.channel"
MAX_CHANNELS: Final = 50  # of a site, or of all sites
MAX_TARGET_CHARS: Final = 2048
# What an address is followed by may say whom to ask and how; a service may name another machine
# in it.
HARMLESS_PARAMETERS: Final = frozenset({"format", "overflow", "rto", "cto", "emojis", "tz"})
# What the library takes for the end of an address and the beginning of the next one.
SEPARATORS: Final = re.compile(r"[\s,;\x00-\x1f\x7f]")
# What is not worth waking anybody up unless that is asked for.
DEFAULT_KINDS: Final = [kind.value for kind in Alert.Kind if kind != Alert.Kind.WARNING]


def add_channel(
    *,
    site: Site | None,
    kind: str,
    target: str,
    alert_kinds: Sequence[str] | None = None,
    actor: User | None = None,
) -> Channel:
    """Create a channel for the notices of a site, or of all sites. Raises ValidationError."""
    if kind not in Channel.Kind.values:
        raise ValidationError({"kind": f"Must be one of {', '.join(Channel.Kind.values)}."})
    if Channel.objects.filter(site=site).count() >= MAX_CHANNELS:
        raise ValidationError(
            {"target": f"There are {MAX_CHANNELS} channels already; remove one first."}
        )
    wanted = list(DEFAULT_KINDS if alert_kinds is None else dict.fromkeys(alert_kinds))
    for alert_kind in wanted:
        if alert_kind not in Alert.Kind.values:
            raise ValidationError({"alert_kinds": f"There is no kind of alert {alert_kind!r}."})
    with transaction.atomic():
        channel = Channel.objects.create(
            site=site,
            kind=kind,
            target=_checked_target(kind, target.strip()),
            alert_kinds=wanted,
            secret=secrets.token_urlsafe(24),
            made_by=actor,
        )
        audit.record(actor=actor, action="channel.added", subject=str(channel), site=site)
    return channel


def remove_channel(*, channel: Channel, actor: User | None = None) -> None:
    """Delete a channel with the log of its notices."""
    with transaction.atomic():
        audit.record(actor=actor, action="channel.removed", subject=str(channel), site=channel.site)
        channel.delete()


def switch_channel(*, channel: Channel, is_active: bool, actor: User | None = None) -> None:
    """Pause a channel, or resume it with its failed notices that are still of use."""
    with transaction.atomic():
        not_switched = Channel.objects.filter(pk=channel.pk, is_active=not is_active)
        if not not_switched.update(is_active=is_active):
            return  # it is as it should be
        if is_active:
            failed = Notice.objects.filter(
                channel=channel, state=Notice.State.FAILED, alert__ended_at=None
            )
            outbox.send_again(failed)
        action = "channel.resumed" if is_active else "channel.paused"
        audit.record(actor=actor, action=action, subject=str(channel), site=channel.site)
    channel.refresh_from_db()


def secret_of(channel: Channel) -> str:
    """Return the secret that the receiver of a webhook checks signatures with."""
    return outbox.written_key(key_of(channel))


def key_of(channel: Channel) -> bytes:
    """Return what signs the messages of a channel."""
    return outbox.signing_key(SALT, channel.secret)


def allowed_services() -> list[str]:
    """Return the chat and pager services that the administrator allows, as they are written."""
    services: list[str] = settings.APPRISE_SERVICES
    return services


def is_allowed(target: str) -> bool:
    """Return whether an address belongs to a service that the administrator allows.

    A service whose address names a host of its own must be allowed together with that host:
    otherwise whoever adds a channel could reach any machine. For the same reason an address holds
    no second one, and no parameters but those that name no host.
    """
    if SEPARATORS.search(target) or not _has_harmless_parameters(target):
        return False
    scheme, _, after_scheme = target.partition("://")
    hosts = []
    for service in allowed_services():
        allowed_scheme, _, host = service.partition("://")
        if allowed_scheme == scheme:
            hosts.append(host)
    if not hosts or not after_scheme:
        return False
    if not _names_host(scheme):
        return True
    return _host_of(after_scheme) in {host.casefold() for host in hosts if host}


def service_at(target: str) -> apprise.NotifyBase | None:
    """Return what sends to this one address, None where it is not allowed or not understood.

    What the library will contact is what was allowed, not only what the address looks like.
    """
    if not is_allowed(target):
        return None
    service = apprise.Apprise.instantiate(target)
    if not isinstance(service, apprise.NotifyBase):
        return None
    scheme, _, after_scheme = target.partition("://")
    if _names_host(scheme):
        port = f":{service.port}" if service.port else ""
        if f"{service.host}{port}".casefold() != _host_of(after_scheme):
            return None
    return service


def _has_harmless_parameters(target: str) -> bool:
    query = target.partition("?")[2]
    names = [pair.partition("=")[0] for pair in re.split("[&;]", query) if pair]
    return all(unquote_plus(name).casefold() in HARMLESS_PARAMETERS for name in names)


def _names_host(scheme: str) -> bool:
    """Return whether addresses of a service name the host to contact; an unknown service may."""
    with warnings.catch_warnings():
        # Of a module that the library still imports.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            templates = N_MGR[scheme].templates
        except KeyError:
            return True
    return any("{host}" in template for template in templates)


def _host_of(after_scheme: str) -> str:
    """Return host and port of an address after its scheme, without a user."""
    return after_scheme.partition("/")[0].partition("?")[0].rpartition("@")[2].casefold()


def _checked_target(kind: str, target: str) -> str:
    if not target or len(target) > MAX_TARGET_CHARS:
        raise ValidationError({"target": f"Must have 1 to {MAX_TARGET_CHARS:,} characters."})
    return TARGET_CHECKS[Channel.Kind(kind)](target)


def _checked_email(target: str) -> str:
    if not settings.EMAIL_HOST:
        raise ValidationError(
            {"target": "No mail server is set up; the administrator sets VERTEX_EMAIL_URL."}
        )
    try:
        validate_email(target)
    except ValidationError:
        raise ValidationError({"target": f"{target!r} is no e-mail address."}) from None
    return target


def _checked_service(target: str) -> str:
    if not is_allowed(target):
        services = ", ".join(allowed_services()) or "none"
        raise ValidationError(
            {
                "target": "This service is not allowed, or not with these parameters. "
                f"Allowed are: {services} (VERTEX_APPRISE_SERVICES), "
                "one address a channel, without "
                "blanks and commas."
            }
        )
    if service_at(target) is None:
        raise ValidationError({"target": "The service does not understand this address."})
    return target


def _checked_url(target: str) -> str:
    try:
        return normalise_url(target)
    except BadAddress as error:
        raise ValidationError({"target": str(error)}) from None


# What checks the target of a channel and returns it as it is stored; raises ValidationError.
TARGET_CHECKS: Final[Mapping[Channel.Kind, Callable[[str], str]]] = {
    Channel.Kind.EMAIL: _checked_email,
    Channel.Kind.WEBHOOK: _checked_url,
    Channel.Kind.APPRISE: _checked_service,
}
