"""`manage.py fetch` that takes few crawls at once, so that several processes share few jobs.

It says in its log when it looks for jobs. `python -m tests.journeys.few_crawls_fetcher N`
"""

from __future__ import annotations

import os
import sys

import django
from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
django.setup()

from clustering.services.crawl import engine, fetch_service  # noqa: E402
from vertex.core.services.jobs import heartbeat  # noqa: E402

READY = "looks for jobs"
LIMIT, LEASE_BEAT, HEARTBEAT = "MAX_CRAWLS", "LEASE_BEAT_SECONDS", "record_heartbeat"


def main() -> None:
    setattr(fetch_service, LIMIT, int(sys.argv[1]))
    setattr(engine, LEASE_BEAT, 1.0)  # crawls look that often whether a check waits for their host
    record_heartbeat = heartbeat.record_heartbeat

    def record_and_say_so(name: str) -> None:
        record_heartbeat(name)
        print(READY, flush=True)  # noqa: T201 - the test waits for it

    setattr(heartbeat, HEARTBEAT, record_and_say_so)
    execute_from_command_line(["manage.py", "fetch"])


if __name__ == "__main__":
    main()
