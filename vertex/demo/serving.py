"""Serve the demo's sites on loopback, each at its own port, and let this process fetch there."""

from __future__ import annotations

import errno
import ipaddress
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event

from django.conf import settings
from rich.console import Console

from vertex import environment
from vertex.demo import sites
from vertex.demo.sites import DemoSite
from vertex.demo.sites.server import LOOPBACK, DemoServer, PortTaken, front_page, is_served

LOOPBACK_ADDRESS = ipaddress.ip_address(LOOPBACK)
MAX_PORT = 65_535
EDITION_SECONDS = 0.5  # until it is looked again which edition is asked for
EDITION_TRIES = 20
RETRY_SECONDS = 1.0  # until a port that another demo holds is tried again


class DemoRefused(Exception):
    """The installation, or the machine as it is, cannot show the demo."""


def check_installation() -> None:
    """Raise DemoRefused where people work: the demo opens loopback and adds log-ins."""
    if settings.PRODUCTION:
        raise DemoRefused(
            "the demo is not for production: it adds log-ins and crawls this machine; "
            "unset VERTEX_PRODUCTION"
        )


def ports() -> dict[str, int]:
    """Return the port of each site: they follow each other from VERTEX_DEMO_PORT."""
    first = environment.integer("VERTEX_DEMO_PORT", default=8101, minimum=1)
    if first + len(sites.NAMES) - 1 > MAX_PORT:
        raise environment.BadSetting(
            "VERTEX_DEMO_PORT", f"{first} leaves no room for {len(sites.NAMES)} ports"
        )
    return {name: first + number for number, name in enumerate(sites.NAMES)}


def url_of(name: str) -> str:
    return f"http://{LOOPBACK}:{ports()[name]}"


@contextmanager
def sites_served() -> Iterator[None]:
    """While the block lasts, serve the sites that no other process serves. Raises DemoRefused."""
    with ExitStack() as stack:
        for name, port in ports().items():
            while not _is_served(name, port):
                if server := _server_unless_taken(sites.load(name, edition_of(name)), port):
                    stack.enter_context(server)
                    break
        yield


def serve_sites(console: Console) -> None:
    """Serve all sites until the process is told to stop, each in the edition that is asked for.

    Raises DemoRefused.
    """
    check_installation()
    with ExitStack() as stack:
        servers = []
        for name, port in ports().items():
            server = _open_server(sites.load(name, edition_of(name)), port)
            servers.append(stack.enter_context(server))
            console.print(f"{name}: {url_of(name)}/")
        while not Event().wait(EDITION_SECONDS):
            show_editions(servers)


def show_editions(servers: Iterable[DemoServer]) -> None:
    """Switch servers to the editions that are asked for now."""
    for server in servers:
        name = server.site.name
        server.site = sites.load(name, edition_of(name))


def edition_of(name: str) -> str:
    """Return the edition in which to serve a site; the first if nobody asked for another."""
    try:
        edition = _edition_path(name).read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return sites.EDITIONS[0]
    return edition if edition in sites.EDITIONS else sites.EDITIONS[0]


def serve_edition(name: str, edition: str) -> None:
    """Switch the process that serves a site to another edition, and wait until it shows that.

    Raises DemoRefused where nothing serves the site.
    """
    path = _edition_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{edition}\n")
    wanted = sites.load(name, edition).page_at("/")
    for _ in range(EDITION_TRIES):
        try:
            is_there = wanted is not None and front_page(ports()[name]) == wanted.body
        except OSError:
            path.unlink()
            raise DemoRefused(
                f"{name} is not served at {url_of(name)}/; start it with `make run` or "
                "`manage.py demo --serve`"
            ) from None
        if is_there:
            return
        time.sleep(EDITION_SECONDS)
    raise DemoRefused(f"what serves {name} at {url_of(name)}/ does not show its edition {edition}")


def _edition_path(name: str) -> Path:
    return Path(settings.VAR_DIR) / "demo" / f"{name}-edition.txt"


def _open_server(site: DemoSite, port: int) -> DemoServer:
    """Listen at the port, as soon as another process that shows the same site has let it go."""
    while (server := _server_unless_taken(site, port)) is None:
        _is_served(site.name, port)
    return server


def _server_unless_taken(site: DemoSite, port: int) -> DemoServer | None:
    """Listen at the port; where another process was faster, wait a moment and return None."""
    try:
        return DemoServer(site, port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        time.sleep(RETRY_SECONDS)
        return None


def _is_served(name: str, port: int) -> bool:
    """Return whether a demo serves the site there already.

    Raises DemoRefused where something else listens.
    """
    try:
        return is_served(name, port)
    except PortTaken as error:
        raise DemoRefused(
            f"{error}; stop that, or set VERTEX_DEMO_PORT to the first of four free ports"
        ) from None


@contextmanager
def loopback_allowed() -> Iterator[None]:
    """Allow this process, and no other, to fetch from the address of the demo's sites."""
    before = settings.ALLOWED_NETWORKS
    settings.ALLOWED_NETWORKS = [*before, ipaddress.ip_network(LOOPBACK_ADDRESS)]
    try:
        yield
    finally:
        settings.ALLOWED_NETWORKS = before
