"""Take one through the product on sites of its own, one step for each part of it.

The sites come from `vertex.demo.sites`, the one place that the repository has for them: they are test pages
too, so that what the demo shows is what is tested. They are served on loopback, at fixed ports, so that
they can be crawled again later from the browser.
"""

from __future__ import annotations

import errno
import ipaddress
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import orjson
from django.conf import settings
from django.db.models import Count, Sum
from django.db.models.functions import Lower
from django.urls import reverse
from rich.console import Console

from annotation.models import Vertical
from annotation.services.verticals.verticals import assign_vertical, read_vertical, save_vertical
from clustering.models import Page, SearchClick
from clustering.services.crawl import crawling
from clustering.services.pages.search_log import import_search_log, search_log_request
from clustering.services.sites import sites as adding
from vertex import environment
from vertex.core.models import AuditEntry, Job, Role, Site, User
from vertex.core.services.jobs.requests import create_here
from vertex.core.services.people import people
from vertex.demo import demo_rules, sites
from vertex.demo.sites import DemoSite
from vertex.demo.sites.server import LOOPBACK, DemoServer, PortTaken, is_served
from vertex.demo.tour import DemoIncomplete, Tour, TourStep, do_job, job_of

LOOPBACK_ADDRESS = ipaddress.ip_address(LOOPBACK)
PEOPLE = {
    "admin": Role.ADMINISTRATOR,
    "operator": Role.OPERATOR,
    "reviewer": Role.REVIEWER,
    "editor": Role.EDITOR,
    "viewer": Role.VIEWER,
}
STATES = (Page.State.STORED, Page.State.REDIRECTED, Page.State.REFUSED, Page.State.FAILED)
PASSWORD_CHANGES = ("password.changed", "password.reset", "person.closed")
LAST_PORT = 65_535
LOOK_AGAIN = 1.0  # seconds until a port that another demo holds is tried again


class DemoRefused(Exception):
    """The installation, or the machine as it is, cannot show the demo."""


def take_tour(console: Console, *, max_pages: int | None = None) -> None:
    """Go through all steps; doing it again is quick and changes nothing that people changed meanwhile.

    Raises DemoRefused, SiteExists, and at its end DemoIncomplete where parts of it failed.
    """
    check_installation()
    tour = Tour(console, max_pages)
    with sites_served(), loopback_allowed():
        for number, step in enumerate(STEPS, start=1):
            begun = time.monotonic()
            console.print(f"\n[bold]{number}  {step.title}[/]")
            told = step.show(tour)
            console.print(f"[dim]{told} · {time.monotonic() - begun:.1f} s[/]")
    tell_what_to_open(tour)
    if tour.failures:
        raise DemoIncomplete(f"{len(tour.failures)} parts failed, see above; the others are done")


def check_installation() -> None:
    """Raise DemoRefused where people work: the demo opens loopback and adds log-ins."""
    if settings.PRODUCTION:
        raise DemoRefused(
            "the demo is not for production: it adds log-ins and crawls this machine; unset VERTEX_PRODUCTION"
        )


# Serving


def ports() -> dict[str, int]:
    """Return the port of each site: they follow each other from VERTEX_DEMO_PORT."""
    first = environment.integer("VERTEX_DEMO_PORT", default=8101, minimum=1)
    if first + len(sites.NAMES) - 1 > LAST_PORT:
        raise environment.BadSetting(
            "VERTEX_DEMO_PORT", f"{first} leaves no room for {len(sites.NAMES)} ports"
        )
    return {name: first + number for number, name in enumerate(sites.NAMES)}


def url_of(name: str) -> str:
    return f"http://{LOOPBACK}:{ports()[name]}"


@contextmanager
def sites_served() -> Iterator[None]:
    """Serve the sites that no other process serves yet, as long as the block lasts. Raises DemoRefused."""
    with ExitStack() as stack:
        for name, port in ports().items():
            while not _is_served(name, port):
                if server := _server_unless_taken(sites.load(name), port):
                    stack.enter_context(server)
                    break
        yield


def serve_sites(console: Console) -> None:
    """Serve all sites until the process is told to stop. Raises DemoRefused."""
    check_installation()
    with ExitStack() as stack:
        for name, port in ports().items():
            stack.enter_context(_open_server(sites.load(name), port))
            console.print(f"{name}: {url_of(name)}/")
        Event().wait()


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
        time.sleep(LOOK_AGAIN)
        return None


def _is_served(name: str, port: int) -> bool:
    """Say whether a demo serves the site there already. Raises DemoRefused where something else listens."""
    try:
        return is_served(name, port)
    except PortTaken as error:
        raise DemoRefused(
            f"{error}; stop that, or set VERTEX_DEMO_PORT to the first of four free ports"
        ) from None


@contextmanager
def loopback_allowed() -> Iterator[None]:
    """Let this process, and no other, fetch from the address at which the demo serves its sites."""
    before = settings.ALLOWED_NETWORKS
    settings.ALLOWED_NETWORKS = [*before, ipaddress.ip_network(LOOPBACK_ADDRESS)]
    try:
        yield
    finally:
        settings.ALLOWED_NETWORKS = before


# Steps


def add_verticals(tour: Tour) -> str:
    """Add what the sites' pages describe; a vertical that is there stays as people made it."""
    table = tour.table("vertical", "attributes")
    plans = [read_vertical(orjson.dumps(sites.load(name).vertical)) for name in sites.NAMES]
    known = set(Vertical.objects.values_list("name", flat=True))
    for plan in plans:
        if plan.name not in known:
            save_vertical(name=plan.name, attributes=plan.attributes, actor=None)
        table.add_row(plan.name, ", ".join(attribute.name for attribute in plan.attributes))
    tour.console.print(table)
    return f"{len(plans)} verticals, {len({plan.name for plan in plans} - known)} of them new"


def add_sites(tour: Tour) -> str:
    """Add the sites with their verticals."""
    table = tour.table("site", "title", "address")
    n_before = Site.objects.count()
    for name in sites.NAMES:
        demo_site = sites.load(name)
        site = adding.add_site(
            name=name,
            root_url=url_of(name) + "/",
            title=demo_site.title,
            crawl_delay=0.0,
            actor=None,
        )
        if not site.assignments.exists():
            vertical = Vertical.objects.get(name=demo_site.vertical["name"])
            assign_vertical(site=site, vertical=vertical, actor=None)
        table.add_row(name, site.title, site.root_url)
    tour.console.print(table)
    return f"{len(sites.NAMES)} sites, {Site.objects.count() - n_before} of them new"


def crawl_sites(tour: Tour) -> str:
    """Crawl the sites that were not crawled to the end yet, and count what is there."""

    def row(site: Site) -> list[str]:
        how = "crawled before" if _is_crawled(site, tour.max_pages) else _crawl(site, tour)
        n_by_state = dict(site.pages.order_by().values_list("state").annotate(n=Count("pk")))
        return [*(f"{n_by_state.get(state, 0):,}" for state in STATES), how]

    tour.show_sites("n stored", "n redirected", "n refused", "n failed", "how", row=row)
    stored = Page.objects.filter(site__name__in=sites.NAMES, state=Page.State.STORED)
    return f"{stored.count():,} pages stored with their links"


def _is_crawled(site: Site, max_pages: int | None) -> bool:
    """Say whether the last crawl went as far as this one would."""
    done = Job.objects.filter(site=site, task="clustering.crawl_site", state=Job.State.DONE)
    last = done.order_by("-pk").first()
    if last is None:
        return False
    limit = last.params.get("max_pages")
    return limit is None or (max_pages is not None and max_pages <= limit)


def _crawl(site: Site, tour: Tour) -> str:
    """Crawl a site in this process and say how fast that was. Raises JobFailed."""
    job = crawling.interrupted_crawl(site=site, max_pages=tour.max_pages)
    if job is None:
        job = create_here(crawling.crawl_request(site=site, max_pages=tour.max_pages))
    crawling.resume_crawl(job=job)
    begun = time.monotonic()
    with tour.progress(job.title, len(sites.load(site.name).pages)) as advance:
        work = partial(crawling.crawl, max_pages=tour.max_pages)
        told = do_job(job, work, advance)
    tour.crawled_on.add(site.name)
    return told or f"{job.n_done / (time.monotonic() - begun):,.0f} pages a second"


def import_search_logs(tour: Tour) -> str:
    """Bring in what people typed before they came to the sites' pages."""

    def row(site: Site) -> list[str]:
        if not site.search_clicks.exists():
            _import_search_log(site)
        clicks = SearchClick.objects.filter(site=site)
        sums = clicks.aggregate(n=Count("pk"), clicks=Sum("clicks"))
        most = clicks.order_by("-clicks", "query").first()
        return [f"{sums['clicks'] or 0:,}", f"{sums['n']:,}", most.query if most else ""]

    tour.show_sites("n clicks", "n queries", "most clicked", row=row)
    clicks = SearchClick.objects.filter(site__name__in=sites.NAMES)
    return f"{clicks.count():,} queries with the pages that they led to"


def _import_search_log(site: Site) -> None:
    """Import a site's log; the file stays, so that a run that was cut off can be done again."""
    path = settings.VAR_DIR / "demo" / f"{site.name}-search-log.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sites.load(site.name).search_log(url_of(site.name)), encoding="utf-8")
    do_job(job_of(partial(search_log_request, site=site, source=path)), import_search_log)


def let_people_in(tour: Tour) -> str:
    """Add a person of each role; passwords that this installation knows are told again."""
    known = {
        user.username.lower(): user
        for user in User.objects.annotate(name=Lower("username")).filter(name__in=PEOPLE)
    }
    missing = [name for name in PEOPLE if name not in known]
    # Written down before they count: no password is lost, whenever the demo is cut off.
    logins = {name: people.random_password() for name in missing} | read_logins()
    write_logins(logins)
    for name in missing:
        people.create_user(username=name, role=PEOPLE[name], password=logins[name], actor=None)
    table = tour.table("log-in", "role", "password")
    for name, role in PEOPLE.items():
        table.add_row(name, role.label, _password_told(known.get(name), logins.get(name)))
    tour.console.print(table)
    return f"{len(missing)} people are new; the passwords stand in {logins_path()}"


def _password_told(user: User | None, password: str | None) -> str:
    """Return the password; of an account that was there before or changed, only what is known of it."""
    if user is None:
        return password or ""
    if password is None:
        return "as it was: the account is not the demo's"
    changes = AuditEntry.objects.filter(subject=user.username, action__in=PASSWORD_CHANGES)
    return "changed since" if changes.exists() else password


def logins_path() -> Path:
    return Path(settings.VAR_DIR) / "demo-logins.txt"


def read_logins() -> dict[str, str]:
    """Return the passwords that the demo gave, by name."""
    try:
        lines = logins_path().read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def write_logins(logins: dict[str, str]) -> None:
    """Keep the passwords where nobody but the installation's own user can read them."""
    handle, part = tempfile.mkstemp(dir=settings.VAR_DIR, prefix=".demo-logins-")
    with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle, not a path
        file.write(
            "# Log-ins of the demo. Delete the file when the accounts have passwords of their own.\n"
        )
        file.writelines(f"{name} {password}\n" for name, password in logins.items())
    Path(part).replace(logins_path())


STEPS = [
    TourStep("Verticals: what the pages describe", add_verticals),
    TourStep("Sites: four, made from templates, served on this machine", add_sites),
    TourStep("Pages: a crawl stores what it finds, and why it left out the rest", crawl_sites),
    TourStep("Search logs: what people typed before they came", import_search_logs),
    *demo_rules.STEPS,
    TourStep("People: one of each role", let_people_in),
]


def tell_what_to_open(tour: Tour) -> None:
    """Say where to look in the browser, and what else can be tried."""
    table = tour.table("open", "to see")
    table.columns[0].no_wrap = True  # so that it can be copied
    name = sites.NAMES[0]
    for path, told in (
        (reverse("sites"), "all sites"),
        (reverse("site", args=[name]), "how far one of them has come"),
        (reverse("pages", args=[name]), "its pages, their snapshots and links"),
        *demo_rules.to_open(name),
        (reverse("refusals"), "what was left out, and why"),
        (reverse("jobs"), "the work that was done"),
        (reverse("verticals"), "the verticals and their attributes"),
        (reverse("audit"), "who did what"),
        (url_of(name) + "/", "the site itself, while the demo or `make run` serves it"),
    ):
        table.add_row(path, told)
    tour.console.print("\n[bold]What to open[/]  (log in as admin; `make run` tells the address)")
    tour.console.print(table)
    if not any(LOOPBACK_ADDRESS in network for network in settings.ALLOWED_NETWORKS):
        tour.console.print(
            "Crawls begun in the browser reach these sites only with VERTEX_ALLOWED_NETWORKS=127.0.0.0/8, "
            "which `make run` sets.",
            style="yellow",
        )
