"""What the steps of the demo share: how they tell what they do, and how they do a job in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from django.core.exceptions import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from vertex.core.models import Job, Site
from vertex.core.services.files.files import UnreadableFile
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobRequest, create_here
from vertex.demo import sites

Row = Callable[[Site], list[str]]  # what one site's row says, the site's name left out

MOST_TOLD = 60  # characters of a value


class DemoIncomplete(Exception):
    """Some parts of the tour could not be done; what came after them was."""


class TourStep(NamedTuple):
    """A part of the tour; `show` does its work and returns how it went in a few words."""

    title: str
    show: Callable[[Tour], str]


@dataclass
class Tour:
    """What the steps know of each other."""

    console: Console
    max_pages: int | None = None
    crawled_on: set[str] = field(default_factory=set)  # names of sites that got pages in this tour
    failures: list[str] = field(default_factory=list)

    def table(self, *columns: str) -> Table:
        """Return a table; columns named "n …" hold numbers."""
        table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
        for column in columns:
            name = column.removeprefix("n ")
            table.add_column(name, justify="left" if name == column else "right", overflow="fold")
        return table

    def show_sites(self, *columns: str, row: Row) -> None:
        """Show a row for each site; one that fails says so in its last column, and the tour goes on."""
        table = self.table("site", *columns)
        for name in sites.NAMES:
            try:
                cells = row(Site.objects.get(name=name))
            except (jobs.JobFailed, UnreadableFile, ValidationError, OSError) as error:
                told = (
                    " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
                )
                self.failures.append(f"{name}: {told}")
                cells = [*[""] * (len(columns) - 1), f"failed: {told}"]
            table.add_row(*map(escape, (name, *cells)))
        self.console.print(table)

    @contextmanager
    def progress(self, title: str, n_total: int) -> Iterator[jobs.Report]:
        """Show a bar on a terminal while work goes on; call what is yielded once a step."""
        is_hidden = not self.console.is_terminal
        with Progress(console=self.console, transient=True, disable=is_hidden) as bar:
            task = bar.add_task(title, total=n_total)
            yield lambda _line: bar.advance(task)


def job_of(request: Callable[[], JobRequest]) -> Job:
    """Return the job asked for, or the unfinished one that stands in its way, so that it goes on."""
    try:
        return create_here(request())
    except jobs.JobExists as unfinished:
        return unfinished.job


def do_job(job: Job, work: jobs.Work, report: jobs.Report = jobs.report_to_nobody) -> str:
    """Do a job's work here; return why not where another process does it or it waits. Raises JobFailed."""
    try:
        done = jobs.run_job(job.pk, work, report=report)
    except jobs.JobNotClaimed:
        job.refresh_from_db()
        is_waiting = job.state == Job.State.DUE
        return f"job {job.pk} " + (
            "waits for its next try" if is_waiting else "of another process does it"
        )
    if done.state != Job.State.DONE:
        raise jobs.JobFailed(
            f"“{job.title}” (job {job.pk}): {done.error or done.get_state_display().lower()}"
        )
    job.refresh_from_db()
    return ""


def shortened(text: str) -> str:
    return text if len(text) <= MOST_TOLD else text[: MOST_TOLD - 1] + "…"
