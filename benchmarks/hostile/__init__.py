"""What hostile pages cost in each kind of work: processor time, memory, and what is stopped.

Run it with: python -m benchmarks.run hostile
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from annotation.services.page.page_readers import (
    read_best_list,
    read_node,
    read_outline,
    read_print,
    read_suggestions,
)
from benchmarks.hostile.pages import KINDS
from benchmarks.report import markdown_table
from clustering.algorithms.tables.page_tables import tables_of_body
from clustering.dom.frame.outlines import draw_outline
from clustering.dom.frame.rendering import files_wanted_by, render_body
from clustering.dom.frame.still_pages import make_still
from clustering.dom.links import read_links
from clustering.dom.titles import read_title
from clustering.services.children.limits import (
    CPU_SECONDS,
    MEMORY,
    CallFailed,
    CallStopped,
    LimitedChild,
)
from clustering.services.clusters.observer_child import observe_bodies
from rules.services.learning.weighing import weigh_page

TITLE = "Hostile pages"
SIZES = (100_000, 3_000_000) if os.environ.get("VERTEX_FULL") == "1" else (100_000,)
URL = "http://hostile.example/a/page.html"
MIB = 2**20
INTRODUCTION = f"""{len(KINDS)} kinds of hostile pages, each of {{sizes}} bytes, through all that is
done with a page in limited children, each call with what a child may have: {CPU_SECONDS} seconds of
processor time and {MEMORY // MIB:,} MiB. Processor time of a call and the memory that the child had
at most. A page that is stopped is marked as too heavy when it is stopped twice. Wanted: no call
over {CPU_SECONDS} seconds, no process over {MEMORY // MIB:,} MiB.
"""

Call = Callable[[LimitedChild, bytes], object]


class Cost(NamedTuple):
    """What a page came to."""

    kind: str
    n_bytes: int
    seconds: float
    memory: int
    stopped: str  # why; blank: it was not


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with a page."""

    name: str
    call: Call


def run(data: Path | None) -> str:  # noqa: ARG001 - every benchmark takes the folder of given pages; these are made here
    """Read all hostile pages and return the figures."""
    costs = {work.name: list(costs_of(work, KINDS, SIZES)) for work in WORKS}
    rows = [_row(name, costs[name]) for name in costs]
    heads = ["work", "calls", "median s", "p95 s", "most s", "dearest page", "most MiB", "stopped"]
    stopped = [
        f"- {name}: {cost.kind} of {cost.n_bytes:,} bytes ({cost.stopped})"
        for name in costs
        for cost in costs[name]
        if cost.stopped
    ]
    sizes = " and ".join(f"{size:,}" for size in SIZES)
    introduction = INTRODUCTION.format(sizes=sizes)
    return f"{introduction}\n{markdown_table(heads, rows)}\n\nStopped:\n\n" + "\n".join(
        stopped or ["- none"]
    )


def costs_of(work: Work, kinds: Iterable[str], sizes: Iterable[int]) -> Iterable[Cost]:
    """Yield what pages of these kinds and sizes cost."""
    with LimitedChild() as child:
        work.call(child, b"<p>x")  # its modules are loaded once
        for size in sizes:
            for kind in kinds:
                yield cost_of(child, work, kind, size)


def cost_of(child: LimitedChild, work: Work, kind: str, size: int) -> Cost:
    """Return what a page of a kind and size costs."""
    body = KINDS[kind](size)
    if child.pid is None:
        work.call(child, b"<p>x")
    process = psutil.Process(child.pid)
    before = sum(process.cpu_times()[:2])
    stopped, memory = "", 0
    try:
        work.call(child, body)
    except CallStopped as error:
        stopped = "time" if error.status in {-signal.SIGXCPU, -signal.SIGKILL} else "memory"
    except CallFailed as error:
        stopped = f"failed: {error}"
    seconds = float(CPU_SECONDS)
    if child.pid == process.pid:
        seconds = sum(process.cpu_times()[:2]) - before
        memory = peak_of(process.pid)
    return Cost(kind, len(body), seconds, memory, stopped)


def peak_of(pid: int) -> int:
    """Return how much memory a process had at most, and begin anew."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return int(line.split()[1]) * 1024


def _row(name: str, costs: list[Cost]) -> list[object]:
    ordered = sorted(costs, key=lambda cost: cost.seconds)
    dearest = ordered[-1]
    return [
        name,
        len(costs),
        f"{ordered[len(ordered) // 2].seconds:.2f}",
        f"{ordered[int(0.95 * (len(ordered) - 1))].seconds:.2f}",
        f"{dearest.seconds:.2f}",
        f"{dearest.kind}, {dearest.n_bytes:,}",
        f"{max(cost.memory for cost in costs) / MIB:,.0f}",
        sum(bool(cost.stopped) for cost in costs),
    ]


def _on_page(function: Callable[..., Any], *args: object, **named: object) -> Call:
    """Return the call of a function of a page's body and content type."""

    def call(child: LimitedChild, body: bytes) -> object:
        return child.call(function, body, "text/html", *args, **named)

    return call


def _links(child: LimitedChild, body: bytes) -> object:
    return child.call(read_links, body, [(len(body), "text/html", URL)])


def _observe(algorithm: str | None, child: LimitedChild, body: bytes) -> object:
    return child.call(observe_bodies, body, [(len(body), URL, "text/html")], algorithm, {})


ATTRIBUTES = [{"name": name, "type": kind} for name, kind in (("name", "text"), ("price", "price"))]
WORKS = (
    Work("import", _links),
    Work("frame", _on_page(render_body, base_url=URL, addresses={}, sheets={}, script=None)),
    Work("files wanted", _on_page(files_wanted_by, base_url=URL, sheets={})),
    Work("thumbnail", _on_page(make_still)),
    Work("outline drawn", _on_page(draw_outline)),
    Work("title", _on_page(read_title)),
    Work("outline", _on_page(read_outline)),
    Work("node", _on_page(read_node, 5)),
    Work(
        "suggestions",
        _on_page(
            read_suggestions,
            url=URL,
            prints=[],
            key_paths=[],
            attributes=ATTRIBUTES,
            known={"name": [], "price": []},
        ),
    ),
    Work("text beside suggestions", _on_page(read_print, URL)),
    Work("list", _on_page(read_best_list)),
    Work("tables", _on_page(tables_of_body, URL, 5)),
    Work("observed for a clustering", partial(_observe, None)),
    Work("observed for shingles", partial(_observe, "shingles")),
    Work("annotated and learnt", _on_page(weigh_page)),
)
