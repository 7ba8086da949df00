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

READY = "looks for jobs"
LIMIT, LEASE_BEAT = "MAX_CRAWLS", "LEASE_BEAT_SECONDS"


def main() -> None:
    setattr(fetch_service, LIMIT, int(sys.argv[1]))
    setattr(engine, LEASE_BEAT, 1.0)  # crawls look that often whether a check waits for their host
    take_jobs = fetch_service.FetchService._take_jobs

    def take_jobs_and_say_so(service: fetch_service.FetchService) -> None:
        take_jobs(service)
        print(READY, flush=True)  # noqa: T201 - the test waits for it

    fetch_service.FetchService._take_jobs = take_jobs_and_say_so  # type: ignore[method-assign]
    execute_from_command_line(["manage.py", "fetch"])


if __name__ == "__main__":
    main()
