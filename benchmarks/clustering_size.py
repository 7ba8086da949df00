"""How clustering grows: seconds and memory for up to 100,000 stored pages, and what an undo costs.

`VERTEX_BENCHMARK_PAGES=10000,30000` measures other sizes than 10,000, 30,000 and 100,000 pages.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from benchmarks.report import markdown_table
from tests.servers import postgres
from vertex.demo import sites

TITLE = "Clustering large sites"
ROOT = Path(__file__).resolve().parent.parent
SIZES = [
    int(size) for size in os.environ.get("VERTEX_BENCHMARK_PAGES", "10000,30000,100000").split(",")
]
N_MEMBERSHIPS = 1_000_000
N_FOUND, N_SPLIT = 40, 100_000  # found clusters of them, pages that a split names
MIB = 1 << 20
PAGES_PER_BATCH = 200
# A site has few of them, however large it is.
NOT_COPIED = {"home", "login", "missing", "help", "search"}
INTRODUCTION = """
A site of stored pages on PostgreSQL: those of two editions of the four demo sites, and copies with
other numbers in their addresses, links and headings; start pages, log-ins, help, searches and error
pages are not copied, so they are a few dozen of however many pages. **First** is `cluster_site` by
`auto` right after the import; **again** is the same once it is known what is on the pages. Seconds
are from the start of the command to its end; processor seconds are those of all its processes and
of the database. Bars: 300 s and 1,024 MiB at 100,000 pages, 2,000 assigned pages a second and core.
"""


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    rows = []
    for n_pages in SIZES:
        with postgres() as url, tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "DATABASE_URL": url, "VERTEX_VAR": folder}
            _call(environment, "manage.py", "migrate", "-v0")
            _call(environment, "-m", "benchmarks.clustering_size", "fill", str(n_pages))
            first = _call(environment, "manage.py", "cluster_site", "large")
            again = _call(environment, "manage.py", "cluster_site", "large")
            assigned = _call(environment, "-m", "benchmarks.clustering_size", "assign").result
            rows.append(
                [
                    f"{n_pages:,}",
                    *(f"{call.seconds:.0f} / {call.cpu_seconds:.0f}" for call in (first, again)),
                    *(f"{1000 * call.cpu_seconds / n_pages:.2f}" for call in (first, again)),
                    f"{max(first.peak, again.peak) / MIB:,.0f}",
                    assigned["clusters"],
                    f"{assigned['per_second']:,.0f}",
                    f"{assigned['bytes']:,.0f}",
                ]
            )
    with postgres() as url, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATABASE_URL": url, "VERTEX_VAR": folder}
        _call(environment, "manage.py", "migrate", "-v0")
        undone = _call(environment, "-m", "benchmarks.clustering_size", "undo").result
    header = [
        "pages",
        "first: s / processor s",
        "again: s / processor s",
        "first: processor ms a page",
    ]
    header += ["again: processor ms a page", "peak MiB", "clusters", "assigned a second and core"]
    header += ["stored bytes a page"]
    return (
        f"{INTRODUCTION}\n{markdown_table(header, rows)}\n\n"
        f"A clustering of {N_MEMBERSHIPS:,} pages in {N_FOUND} clusters, with a split of "
        f"{N_SPLIT:,} pages in force, and one clustering before it:\n\n"
        + markdown_table(["change", "rows written", "s / processor s"], undone)
    )


class _Called:
    """What a process took, and the last line that it wrote, as JSON."""

    def __init__(
        self, seconds: float, used: resource.struct_rusage, database_seconds: float, output: bytes
    ) -> None:
        self.seconds = seconds
        self.cpu_seconds = used.ru_utime + used.ru_stime + database_seconds
        self.peak = used.ru_maxrss * 1024
        self.output = output

    @property
    def result(self) -> Any:
        return orjson.loads(self.output.splitlines()[-1])


def _call(environment: dict[str, str], *arguments: str) -> _Called:
    began, database_began = time.perf_counter(), _database_seconds()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=output
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{' '.join(arguments)}: exit status {child.returncode}")
        output.seek(0)
        database_seconds = _database_seconds() - database_began
        return _Called(time.perf_counter() - began, used, database_seconds, output.read())


def _database_seconds() -> float:
    """Return the processor seconds of all processes of the PostgreSQL that this process started."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:  # it has ended
            continue
        figures = rest.split()
        if name.endswith("(postgres") and int(figures[1]) == os.getpid():
            ticks += sum(map(int, figures[11:15]))  # its own, and of those that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def _cpu_seconds_here() -> float:
    """Return the processor seconds of this process and of the one that serves its connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (server,) = cursor.fetchone()
    figures = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, figures[11:13])) / os.sysconf("SC_CLK_TCK")


def fill(n_pages: int) -> None:
    """Store a site of so many pages."""
    from django.db import transaction
    from django.utils import timezone

    from clustering.services.pages.pages import Visit, prepare_visits, store_visits
    from vertex.core.models import Site

    site = Site.objects.create(name="large", root_url="http://large.example/")
    visits: list[Visit] = []
    for n, (path, body, content_type) in enumerate(_pages(n_pages), start=1):
        url = f"http://large.example{path}"
        visits.append(Visit(url, body, timezone.now(), content_type=content_type))
        if len(visits) == PAGES_PER_BATCH or n == n_pages:
            prepared = prepare_visits(visits)
            with transaction.atomic():
                store_visits(site=site, prepared=prepared)
            visits = []


def _pages(n_pages: int) -> Iterator[tuple[str, bytes, str]]:
    """Yield path, bytes and content type of so many different pages."""
    originals = [
        (f"/{name}/{edition}", path, page)
        for edition in ("1", "2")
        for name in sites.NAMES
        for path, page in sites.load(name, edition).pages.items()
    ]
    n_left, copy = n_pages, 0
    while True:
        for prefix, path, page in originals:
            if copy and page.type in NOT_COPIED:
                continue
            if n_left == 0:
                return
            n_left -= 1
            yield (
                f"{prefix}{_numbered(path, copy)}",
                _copied(page.body, prefix, copy),
                page.content_type,
            )
        copy += 1


def _numbered(path: str, copy: int) -> str:
    """Return the address of a copy: its last number is longer, or it gets one."""
    if not copy:
        return path
    numbered, n = re.subn(r"(\d+)(\D*)$", rf"\g<1>{copy:03}\2", path)
    return numbered if n else f"{path.rstrip('/')}-{copy:03}"


def _copied(body: bytes, prefix: str, copy: int) -> bytes:
    """Return a page whose links stay within its copy, with a heading of its own."""

    def link(match: re.Match[bytes]) -> bytes:
        path = match[1].decode("latin-1")
        is_numbered = re.search(r"\d", path) is not None
        return (
            b'href="'
            + f"{prefix}{_numbered(path, copy) if is_numbered else path}".encode("latin-1")
            + b'"'
        )

    body = re.sub(rb'href="(/[^"]*)"', link, body)
    return body.replace(b"</h1>", b" %d</h1>" % copy) if copy else body


def assign() -> dict[str, Any]:
    """Assign stored pages by the current clustering, here; return pages per processor second."""
    from django.conf import settings

    from clustering.models import Clustering
    from clustering.services.clusters.arrivals import PAGES_PER_BATCH as N
    from clustering.services.clusters.arrivals import _Clusters
    from clustering.services.pages.stored_pages import stored_pages

    clustering = Clustering.objects.get(is_current=True)
    pages = stored_pages(clustering.site)[-10_000:]
    clusters = _Clusters(clustering)
    clusters.assign(pages[:N])  # the model and the centres of the clusters are read
    began = time.process_time()
    for start in range(0, len(pages), N):
        clusters.assign(pages[start : start + N])
    seconds = time.process_time() - began
    files = [path.stat().st_size for path in settings.OBSERVATION_DIR.rglob("*.obs")]
    return {
        "per_second": len(pages) / seconds,
        "clusters": clustering.figures.filter(n_pages__gt=0).count(),
        "bytes": sum(files) / len(files),
    }


def undo() -> list[list[object]]:
    """Change a clustering of a million pages, and undo it; return what each took."""
    from django.db import connection

    from clustering.models import Cluster, ClusterChange, Clustering
    from clustering.services.clusters import cluster_changes
    from clustering.services.clusters.clusterings import make_current
    from vertex.core.models import Site

    site = Site.objects.create(name="huge", root_url="http://huge.example/")
    before = Clustering.objects.create(site=site, algorithm="auto")
    clustering = Clustering.objects.create(site=site, algorithm="auto", is_current=True)
    clusters = [
        Cluster.objects.create(site=site, name=f"c{n}", title=f"C{n}") for n in range(N_FOUND + 1)
    ]
    part = clusters.pop()
    first = clusters[0].pk
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_PAGES, [site.pk, N_MEMBERSHIPS])
        # Half of the pages are in the first cluster, the others are spread over the others.
        for pk in (before.pk, clustering.pk):
            cursor.execute(_INSERT_MEMBERSHIPS, [pk, first, first, N_FOUND - 1, site.pk])
        cursor.execute("ANALYZE")
        cursor.execute(
            "SELECT page_id FROM clustering_pagemembership WHERE clustering_id = %s AND "
            "cluster_id = %s "
            "ORDER BY page_id LIMIT %s",
            [clustering.pk, clusters[1].pk, N_SPLIT],
        )
        pages = [pk for (pk,) in cursor.fetchall()]
    half = len(pages) // 2
    ClusterChange.objects.create(
        site=site,
        kind=ClusterChange.Kind.SPLIT,
        cluster=clusters[1],
        detail={
            "parts": {str(clusters[1].pk): pages[:half], str(part.pk): pages[half:]},
            "groups": {},
            "model": {},
        },
    )
    rows: list[list[object]] = []

    def measure(change: str, n_rows: int, act: Callable[[], Any]) -> Any:
        began, cpu_began = time.perf_counter(), _cpu_seconds_here()
        result = act()
        seconds, cpu_seconds = time.perf_counter() - began, _cpu_seconds_here() - cpu_began
        rows.append([change, f"{n_rows:,}", f"{seconds:.1f} / {cpu_seconds:.1f}"])
        return result

    n_small, n_large = len(pages), N_MEMBERSHIPS // 2
    measure(
        "make the clustering before it current",
        half,
        partial(make_current, clustering=before, actor=None),
    )
    for name, cluster, n in (("small", clusters[2], n_small), ("large", clusters[0], n_large)):
        change = measure(
            f"merge a {name} cluster",
            n,
            partial(cluster_changes.merge_clusters, cluster=cluster, into=clusters[3], actor=None),
        )
        measure(
            "undo it",
            n,
            partial(cluster_changes.undo_change, change=change, actor=None),
        )
        measure(
            "redo it",
            n,
            partial(cluster_changes.redo_change, change=change, actor=None),
        )
        measure(
            "undo it",
            n,
            partial(cluster_changes.undo_change, change=change, actor=None),
        )
    split = ClusterChange.objects.get(kind=ClusterChange.Kind.SPLIT)
    measure("undo the split", half, partial(cluster_changes.undo_change, change=split, actor=None))
    measure("redo the split", half, lambda: cluster_changes.redo_change(change=split, actor=None))
    moved = measure(
        "move pages",
        n_small,
        lambda: cluster_changes.move_pages(
            site=site, pages=pages[:100_000], to=clusters[5], actor=None
        ),
    )
    measure("undo it", n_small, lambda: cluster_changes.undo_change(change=moved, actor=None))
    return rows


_INSERT_PAGES = """
INSERT INTO clustering_page (
    site_id, url, url_hash, given_url, state, reason, depth, n_tries, first_seen_at)
SELECT %s, 'http://huge.example/' || n, decode(md5(n::text), 'hex'), 'http://huge.example/' || n,
       'stored', '', 1, 0, now()
FROM generate_series(1, %s) AS n
"""
_INSERT_MEMBERSHIPS = """
INSERT INTO clustering_pagemembership (clustering_id, page_id, found_id, cluster_id, distance)
SELECT %s, id, c, c, 0.1
FROM (SELECT id, CASE WHEN id %% 2 = 0 THEN %s ELSE %s + 1 + (id / 2) %% %s END AS c
      FROM clustering_page WHERE site_id = %s) AS placed
"""


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    django.setup()
    match sys.argv[1:]:
        case ["fill", n]:
            fill(int(n))
        case ["assign"]:
            print(orjson.dumps(assign()).decode())
        case ["undo"]:
            print(orjson.dumps(undo()).decode())
