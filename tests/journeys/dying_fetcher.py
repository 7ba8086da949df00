"""`manage.py fetch` that kills itself at one step, the n-th time that it comes there.

`python -m tests.journeys.dying_fetcher STEP N`
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

import django
from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
django.setup()

from clustering.fetching.loop import Requests  # noqa: E402
from clustering.services.crawl import engine, hosts  # noqa: E402
from clustering.services.crawl.crawler import Crawler  # noqa: E402

# Where each step stands, and whether the process dies once it is done or before.
STEPS: Final[dict[str, tuple[Any, str, bool]]] = {
    "a host is leased": (hosts, "lease_host", True),
    "robots.txt is kept": (hosts, "keep_robots", True),
    "a page is asked for": (Requests, "send", True),
    "an answer came": (Crawler, "accept", True),
    "nothing of a batch is stored": (engine, "prepare_answers", False),
    "bodies are stored, rows are not": (engine, "prepare_answers", True),
    "rows are written, not committed": (engine, "store_answers", True),
    "hosts are counted, not committed": (hosts, "count_answers", True),
    "a batch is committed, nobody knows": (Crawler, "note_stored", False),
    "leases are renewed": (engine.Engine, "_keep_hosts", True),
    "all pages are stored, the job is not done": (Crawler, "end", True),
    "the job is done, hosts are not released": (Crawler, "close", False),
}

LEASE_BEAT: Final = "LEASE_BEAT_SECONDS"


def main() -> None:
    """Fetch until the step comes for the n-th time."""
    step, n_left = sys.argv[1], int(sys.argv[2])
    owner, name, is_after = STEPS[step]
    setattr(owner, name, _dying(getattr(owner, name), n_left, is_after=is_after))
    setattr(engine, LEASE_BEAT, 0.5)  # so that leases are renewed at all
    execute_from_command_line(["manage.py", "fetch"])


def _dying(work: Callable[..., Any], n_left: int, *, is_after: bool) -> Callable[..., Any]:
    def dying_work(*arguments: Any, **options: Any) -> Any:
        nonlocal n_left
        n_left -= 1
        if n_left == 0 and not is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = work(*arguments, **options)
        if n_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return dying_work


if __name__ == "__main__":
    main()
