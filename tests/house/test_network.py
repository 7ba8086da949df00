"""One package fetches and one sends notices; the others do not even import what could."""

import ast
from functools import cache
from pathlib import Path

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
NETWORK = {
    "httpx",
    "httpcore",
    "h11",
    "asyncio",
    "requests",
    "urllib3",
    "aiohttp",
    "websockets",
    "urllib.request",
    "http.client",
}
SOURCES = sorted(
    path
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "fetching" not in path.parts
    and "migrations" not in path.parts
    and ROOT / "vertex" / "demo" / "sites" not in path.parents  # they serve, on loopback
)
# It runs in the spider of somebody else, and sends to the address that they gave it.
IN_OTHER_PROGRAMS = {"rules/bundle/push_pages.py"}
SENDERS = {"apprise", "django.core.mail", "smtplib"}
# These listen, answer who connected, or ask for this machine's own name; none of them connects to
# an address that a user gave.
MAY_USE_SOCKET = {
    "vertex/management/commands/up.py",
    "vertex/running/kept_answers.py",
    "vertex/running/patient_worker.py",
}


@cache
def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(parse_source(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module}
    return names


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_other_module_imports_a_network_client() -> None:
    clients = {
        name_of(path): [
            name for name in imported(path) if name in NETWORK or name.split(".")[0] in NETWORK
        ]
        for path in SOURCES
    }

    assert IN_OTHER_PROGRAMS == {name for name, used in clients.items() if used}


def test_no_other_module_opens_sockets() -> None:
    assert {name_of(path) for path in SOURCES if "socket" in imported(path)} <= MAY_USE_SOCKET


def test_libraries_that_send_send_notices_only() -> None:
    """Mail and Apprise open connections of their own; both go to what operators allow."""
    senders = {name_of(path) for path in SOURCES if imported(path) & SENDERS}

    assert senders
    assert all(name.startswith("monitoring/services/notices/") for name in senders), senders


def test_the_check_sees_the_client_where_it_belongs() -> None:
    used = {
        name for path in (ROOT / "clustering" / "fetching").rglob("*.py") for name in imported(path)
    }

    assert "h11" in used
