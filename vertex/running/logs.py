"""What goes into the log: lines of JSON that never hold a secret."""

from __future__ import annotations

import platform
import re
import sys
from typing import Any

import structlog
from django.conf import settings
from structlog.typing import EventDict, WrappedLogger

HIDDEN = "[hidden]"
# The patches in which what strangers can use was mended: cookies, archives, headers of mail.
SAFE_PYTHONS = {(3, 11): (3, 11, 10), (3, 12): (3, 12, 6)}
SECRET_NAME = re.compile(
    r"authorization|cookie|password|passwd|secret|token|api_?key|csrf|signature", re.IGNORECASE
)
# Names that look secret and are not: they say which token, not what it is.
HARMLESS_NAMES = {"token_prefix", "token_id", "n_tokens"}
SECRET_TEXT = re.compile(
    r"vtx_[\w-]{8,}"  # a token's key
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # user and password in an address
    r"|(?i:(?<=authorization: )|(?<=cookie: ))[^\r\n]+"
    r"|(?i:(?<=password=)|(?<=token=)|(?<=sessionid=)|(?<=csrftoken=)|(?<=secret=))[^&;\s'\"]+"
)


def warn_of_allowed_networks() -> None:
    """Log a warning that private networks are open to whoever may add a site."""
    if settings.ALLOWED_NETWORKS:
        networks = ", ".join(str(network) for network in settings.ALLOWED_NETWORKS)
        structlog.get_logger(__name__).warning(
            "VERTEX_ALLOWED_NETWORKS opens networks to everybody who may add a site",
            networks=networks,
            ports=sorted(settings.ALLOWED_PORTS) or "all",
        )


def warn_of_old_python() -> None:
    """Log a warning where the interpreter has flaws that a later patch of its version mends."""
    least = SAFE_PYTHONS.get(sys.version_info[:2])
    if least is not None and sys.version_info[:3] < least:
        structlog.get_logger(__name__).warning(
            "this Python has known flaws; install the latest patch of its version",
            is_now=platform.python_version(),
            at_least=".".join(map(str, least)),
        )


def hide_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out what must not be read in a log, by its name or by its look."""
    return {name: _without_secrets(name, value) for name, value in event.items()}


def _without_secrets(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_secrets(str(key), part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(name, part) for part in value]
    if SECRET_NAME.search(name) and name not in HARMLESS_NAMES and value is not None:
        return HIDDEN
    return SECRET_TEXT.sub(HIDDEN, value) if isinstance(value, str) else value
