"""The program of a page process: it answers whole requests whose views read strangers' pages.

It is the application once more, with limits. `vertex.running.page_requests` starts it and calls
`vertex.running.page_answers`.
"""

from __future__ import annotations

import os
import sys

from clustering.services.children.child import serve
from vertex.core.storage import note_reads_in
from vertex.running.page_answers import load_application


def main(cpu_seconds: int, memory: int, notes: int) -> None:
    """Answer requests until the parent closes the pipe; what is printed goes to the log."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        note_reads_in(notes)
        load_application()  # takes seconds, which are no request's
        serve(cpu_seconds, memory, answers, may_write=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
