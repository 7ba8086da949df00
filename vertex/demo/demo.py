"""Take one through the product on sites of its own, by the commands that anybody can type.

The sites come from `vertex.demo.sites`, the one place that the repository has for them: they are
test pages too, so that what the demo shows is what is tested. They are served on loopback, at fixed
ports, so that they can be crawled again later from the browser. In place of an editor, the truth
that comes with each site says what stands where on a few pages.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from annotation.models import Annotation, Sample, Vertical
from annotation.services.samples.sampling import DRAW_SAMPLES
from annotation.services.verticals.verticals import assign_vertical, read_vertical, save_vertical
from clustering.models import Cluster, Clustering, Page, PageMembership
from clustering.services.sites.sites import add_site
from monitoring.services.stream.chain import all_steps_paused
from rules.models import Record, Rule
from rules.services.records.extracting import due_pages
from rules.services.records.published_rules import published_rules
from vertex.core.models import Job, Site
from vertex.demo import sites
from vertex.demo.logins import let_people_in
from vertex.demo.serving import (
    LOOPBACK_ADDRESS,
    DemoRefused,
    check_installation,
    loopback_allowed,
    serve_edition,
    sites_served,
    url_of,
)
from vertex.demo.sites import DemoPage
from vertex.demo.sites.site import annotation_lines

N_ANNOTATED = 3  # pages of each site
REDESIGN = "2"  # the edition of a site in which its templates are others


class DemoIncomplete(Exception):
    """Some parts of the tour could not be done; what came after them was."""


class Step(NamedTuple):
    """A part of the tour.

    `plan` returns the command line that does it for a site, or why there is nothing to do. It gets
    the most pages that are crawled of a site, None for all.
    """

    title: str
    plan: Callable[[Site, int | None], list[str] | str]


class Thing(NamedTuple):
    """A page that describes one thing of its site's vertical, and what is true of it."""

    url: str
    truth: DemoPage


def take_tour(console: Console, *, max_pages: int | None = None) -> None:
    """Go through all steps; repeated, it is quick and changes nothing that people changed.

    Raises DemoRefused, SiteExists, and at its end DemoIncomplete where parts of it failed.
    """
    check_installation()
    n_failed = 0
    with sites_served(), loopback_allowed():
        add_verticals(console)
        add_sites(console)
        with all_steps_paused(Site.objects.filter(name__in=sites.NAMES)):
            for number, step in enumerate(STEPS, start=1):
                begun = time.monotonic()
                console.print(f"\n[bold]{number}  {step.title}[/]")
                for name in sites.NAMES:
                    n_failed += not run_step(console, step, Site.objects.get(name=name), max_pages)
                console.print(f"[dim]{time.monotonic() - begun:.1f} s[/]")
    print_results(console)
    console.print("\n[bold]Log-ins: a person of each role[/]")
    let_people_in(console)
    print_addresses(console)
    if n_failed:
        raise DemoIncomplete(f"{n_failed} parts failed, see above; the others are done")


def redesign(console: Console, name: str) -> None:
    """Serve a site in its redesign and check it, so that there is an alarm and a repair to decide.

    Raises DemoRefused.
    """
    check_installation()
    site = Site.objects.filter(name=name).first()
    if site is None or not Rule.objects.published().of_site(site).exists():
        raise DemoRefused(f"{name} has no rule yet; take the tour first: manage.py demo")
    serve_edition(name, REDESIGN)
    console.print(f"{name} is served in its redesign at {url_of(name)}/", markup=False)
    with loopback_allowed():
        for line in (["run_checks", name], ["heal_site", name]):
            console.print(f"  manage.py {' '.join(line)}", markup=False)
            for notice in call(line):
                console.print(f"    [dim]{escape(notice)}[/]")
    console.print(
        f"\nOpen {reverse('monitoring')}: the alarm is there. Three keys repair it: "
        "[bold]j[/] selects it, [bold]Enter[/] shows both pages, [bold]c[/] confirms all values."
    )


def run_step(console: Console, step: Step, site: Site, max_pages: int | None) -> bool:
    """Call a step's command for a site, and return whether it went well."""
    try:
        line = step.plan(site, max_pages)
        if isinstance(line, str):
            console.print(f"  {site.name}: {line}", markup=False)
            return True
        console.print(f"  manage.py {' '.join(line)}", markup=False)
        notices = call(line)
    except (CommandError, OSError) as error:
        console.print(f"  [red]failed: {escape(str(error))}[/]")
        return False
    for notice in notices:
        console.print(f"    [dim]{escape(notice)}[/]")
    return True


def call(line: list[str]) -> list[str]:
    """Call a command and return its notices; its result lines can be seen in the browser."""
    stderr = StringIO()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        call_command(*line, stdout=nowhere, stderr=stderr, no_color=True)
    return stderr.getvalue().splitlines()


# Before the steps


def add_verticals(console: Console) -> None:
    """Add what the sites' pages describe; a vertical that is there stays as people made it."""
    plans = [read_vertical(orjson.dumps(sites.load(name).vertical)) for name in sites.NAMES]
    known = set(Vertical.objects.values_list("name", flat=True))
    for plan in plans:
        if plan.name not in known:
            save_vertical(name=plan.name, attributes=plan.attributes, actor=None)
    n_new = len({plan.name for plan in plans} - known)
    console.print(f"{len(plans)} verticals, {n_new} of them new")


def add_sites(console: Console) -> None:
    """Add the sites with their verticals. Raises SiteExists."""
    n_before = Site.objects.count()
    for name in sites.NAMES:
        demo_site = sites.load(name)
        site = add_site(
            name=name,
            root_url=url_of(name) + "/",
            title=demo_site.title,
            crawl_delay=0.0,
            actor=None,
        )
        if not site.assignments.exists():
            vertical = Vertical.objects.get(name=demo_site.vertical["name"])
            assign_vertical(site=site, vertical=vertical, actor=None)
    n_new = Site.objects.count() - n_before
    console.print(f"{len(sites.NAMES)} sites, {n_new} of them new")


# Steps


def plan_crawl(site: Site, max_pages: int | None) -> list[str] | str:
    """Crawl a site that was not crawled as far as this tour goes."""
    jobs = Job.objects.filter(site=site, task="clustering.crawl_site", state=Job.State.DONE)
    last = jobs.order_by("-pk").first()
    if last is not None:
        limit = last.params.get("max_pages")
        if limit is None or (max_pages is not None and max_pages <= limit):
            return "crawled before"
    limits = [] if max_pages is None else ["--max-pages", str(max_pages)]
    return ["crawl_site", site.name, *limits]


def plan_search_log(site: Site, _max_pages: int | None) -> list[str] | str:
    """Import a site's log; the file stays, so that a run that was cut off can be done again."""
    if site.search_clicks.exists():
        return "imported before"
    path = _folder() / f"{site.name}-search-log.tsv"
    path.write_text(sites.load(site.name).search_log(url_of(site.name)), encoding="utf-8")
    return ["import_search_log", site.name, str(path)]


def plan_clustering(site: Site, _max_pages: int | None) -> list[str] | str:
    """Cluster a site that has no clusters yet, or pages that came after them."""
    current = _current(site)
    if current is not None and not _has_newer_pages(site, current):
        return "clustered before"
    return ["cluster_site", site.name]


def plan_samples(site: Site, _max_pages: int | None) -> list[str] | str:
    """Draw samples where none were drawn since clustering; lists and the like get none."""
    current = _current(site)
    if current is None:
        return "no clusters yet"
    drawn = Job.objects.filter(site=site, task=DRAW_SAMPLES.task, state=Job.State.DONE)
    if drawn.filter(created_at__gte=current.made_at).exists():
        return "drawn before"
    return ["draw_samples", site.name]


def plan_annotations(site: Site, _max_pages: int | None) -> list[str] | str:
    """Import what stands where on the first samples of the cluster with most of a site's things."""
    cluster = main_cluster(site)
    if cluster is None:
        return "no page of a thing yet"
    if Annotation.objects.of_cluster(cluster).exists():
        return "annotated before"
    path = _folder() / f"{site.name}-annotations.jsonl"
    lines = _annotations_of(site, cluster)
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return ["import_annotations", site.name, str(path)]


def plan_learning(site: Site, _max_pages: int | None) -> list[str] | str:
    """Learn and publish the rule of an annotated cluster that has none."""
    cluster = main_cluster(site)
    if cluster is None or not Annotation.objects.live().of_cluster(cluster).exists():
        return "nothing annotated yet"
    if Rule.objects.published().filter(cluster=cluster).exists():
        return "published before"
    return ["learn_rules", site.name, "--cluster", cluster.name]


def plan_extraction(site: Site, _max_pages: int | None) -> list[str] | str:
    """Run the published rules on all pages that they have not seen as they are now."""
    published = published_rules(site)
    if not published.rule_by_cluster:
        return "no rule yet"
    if not due_pages(site, published.ruleset_version):
        return "extracted before"
    return ["extract_records", site.name]


STEPS = [
    Step("Pages: a crawl stores what it finds, and why it left out the rest", plan_crawl),
    Step("Search logs: what people typed before they came", plan_search_log),
    Step("Clusters: pages that one template makes", plan_clustering),
    Step("Samples: the pages worth an editor's time", plan_samples),
    Step("Annotations: what stands where on three of them", plan_annotations),
    Step("Rules: learnt from the annotations, published", plan_learning),
    Step("Records: what the rules find on all pages", plan_extraction),
]


def _folder() -> Path:
    """Return the folder of the files that the demo imports. Raises OSError."""
    folder: Path = settings.VAR_DIR / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _current(site: Site) -> Clustering | None:
    return Clustering.objects.current().without_model().filter(site=site).first()


def _has_newer_pages(site: Site, clustering: Clustering) -> bool:
    """Return whether pages came that a clustering has not judged."""
    return site.last_snapshot_at is not None and site.last_snapshot_at > clustering.assigned_at


def main_cluster(site: Site) -> Cluster | None:
    """Return the cluster with most of the pages that describe a thing; None where there is none."""
    things = _things_by_cluster(site)
    sizes = Counter({cluster: len(pages) for cluster, pages in things.items()})
    return Cluster.objects.get(pk=sizes.most_common(1)[0][0]) if sizes else None


def _things_by_cluster(site: Site) -> dict[int, dict[int, Thing]]:
    """Return the things of each cluster, by page."""
    memberships = PageMembership.objects.of_site(site)
    rows = memberships.order_by("page").values_list("cluster", "page", "page__url")
    things: defaultdict[int, dict[int, Thing]] = defaultdict(dict)
    for cluster, page, url in rows:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        truth = sites.load(site.name).page_at(target)
        if truth is not None and truth.values and truth.status < HTTPStatus.BAD_REQUEST:
            things[cluster][page] = Thing(url, truth)
    return dict(things)


def _annotations_of(site: Site, cluster: Cluster) -> list[dict[str, object]]:
    """Return what is true of the first samples of a cluster, as lines of annotations."""
    things = _things_by_cluster(site)[cluster.pk]
    sampled = Sample.objects.filter(cluster=cluster).order_by("rank").values_list("page", flat=True)
    pages = [page for page in dict.fromkeys([*sampled, *things]) if page in things]
    lines: list[dict[str, object]] = []
    for page in pages[:N_ANNOTATED]:
        thing = things[page]
        lines += [{"url": thing.url} | line for line in annotation_lines(thing.truth)]
    return lines


# After the steps


def print_results(console: Console) -> None:
    """Print a table of what each site has now, and the sum of it."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("site")
    for column in ("pages", "queries", "clusters", "samples", "annotations", "records"):
        table.add_column(column, justify="right", min_width=len(column))
    table.add_column("rule", overflow="fold")
    for name in sites.NAMES:
        site = Site.objects.get(name=name)
        rules = Rule.objects.published().of_site(site).select_related("cluster")
        counts = (
            site.pages.filter(state=Page.State.STORED).count(),
            site.search_clicks.count(),
            Cluster.objects.present().filter(site=site).count(),
            Sample.objects.filter(cluster__site=site).count(),
            Annotation.objects.live().filter(page__site=site).count(),
            Record.objects.there().filter(site=site).count(),
        )
        table.add_row(name, *(f"{n:,}" for n in counts), escape(", ".join(map(str, rules))))
    console.print("\n[bold]What there is now[/]")
    console.print(table)
    names = sites.NAMES
    n_pages = Page.objects.filter(site__name__in=names, state=Page.State.STORED).count()
    n_rules = Rule.objects.published().filter(cluster__site__name__in=names).count()
    n_records = Record.objects.there().filter(site__name__in=names).count()
    console.print(
        f"[dim]{n_pages:,} pages stored, {n_rules} rules published, {n_records:,} records[/]"
    )


def print_addresses(console: Console) -> None:
    """Print where to look in the browser, and what else can be tried."""
    table = Table("open", "to see", box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True  # so that it can be copied
    name = sites.NAMES[0]
    for address, what in (
        (reverse("sites"), "all sites"),
        (reverse("site", args=[name]), "how far one of them has come"),
        (reverse("pages", args=[name]), "its pages, their snapshots and links"),
        *_addresses_of_results(Site.objects.get(name=name)),
        (reverse("refusals"), "what was left out, and why"),
        (reverse("jobs"), "the work that was done"),
        (reverse("verticals"), "the verticals and their attributes"),
        (reverse("audit"), "who did what"),
        (url_of(name) + "/", "the site itself, while the demo or `make run` serves it"),
    ):
        table.add_row(address, what)
    console.print("\n[bold]What to open[/]  (log in as admin; `make run` tells the address)")
    console.print(table)
    print_what_to_try(console)
    if not any(LOOPBACK_ADDRESS in network for network in settings.ALLOWED_NETWORKS):
        console.print(
            "Crawls begun in the browser reach these sites only with "
            "VERTEX_ALLOWED_NETWORKS=127.0.0.1/32; `make run` allows that by itself.",
            style="yellow",
        )


def print_what_to_try(console: Console) -> None:
    """Print what is worth doing by hand: each step is a command or a key."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    name = sites.NAMES[0]
    for step, what in (
        (
            reverse("annotate"),
            (
                "annotate: open a cluster; Enter accepts all that is proposed on a page "
                "and learns a rule"
            ),
        ),
        (
            f"manage.py demo --redesign {name}",
            "redesign the site: its rule breaks and an alarm is raised",
        ),
        (reverse("monitoring"), "see the alarm, with its cause"),
        (
            "j  Enter  c",
            (
                "repair it with three keys: select, open, confirm all; "
                "pages fetched again get records again"
            ),
        ),
    ):
        table.add_row(escape(step), what)
    console.print("\n[bold]What to try[/]")
    console.print(table)


def _addresses_of_results(site: Site) -> list[tuple[str, str]]:
    """Return where to see what came of a site, as far as it came."""
    addresses = [(reverse("clusters", args=[site.name]), "its clusters")]
    cluster = main_cluster(site)
    if cluster is not None:
        address = reverse("cluster", args=[site.name, cluster.name])
        addresses.append((address, "the one that holds its things"))
        if Rule.objects.filter(cluster=cluster).exists():
            address = reverse("rule", args=[site.name, cluster.name])
            addresses.append((address, "what was learnt for it, and from what"))
    addresses.append((reverse("records", args=[site.name]), "its records"))
    record = Record.objects.there().filter(site=site).order_by("pk").first()
    if record is not None:
        address = reverse("record", args=[site.name, record.pk])
        addresses.append((address, "one of them, and where it stands"))
    return addresses
