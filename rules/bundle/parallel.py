"""Spread the ranges of a source over processes and give the lines back in the order of its pages.

Each process runs `lines_by_item` on a range of its own and reads the source itself; what it finds
of an item waits in a pipe until its turn comes, so that memory stays flat. A process is replaced
after a while: running stylesheets for long makes it slow. A page that ends its process gets a line
that says so, and the others go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import orjson

from clustering.services.pages.archives import read_pages
from rules.algorithms.running.record_lines import line_json, line_not_taken
from rules.bundle.bundle import FileRange, extract, lines_by_item, ranges_of, read_bundle, root_of
from vertex.core.services.files.files import UnreadableFile

MOST_ITEMS = 20_000  # of a process
END: Final = b"end"
MORE: Final = b"more"  # the process has done its share; another one goes on
BAD: Final = b"bad "  # the source cannot be read further, and why


def extract_bundle(
    folder: Path, source: Path, *, n_jobs: int = 1, base_url: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the lines of all pages of a source as JSON, in its order.

    Raises BadBundle, UnreadableFile.
    """
    bundle = read_bundle(folder)
    if n_jobs <= 1:
        for line in extract(bundle, FileRange(str(source)), base_url=base_url):
            yield line_json(line)
        return
    yield from spread(str(folder), str(source), n_jobs, base_url or root_of(bundle))


def spread(folder: str, source: str, n_jobs: int, base_url: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON lines of a bundle for all items of a source. Raises UnreadableFile."""
    parts = [Part(folder, base_url, file_range) for file_range in ranges_of([source], n_jobs)]
    try:
        for part in cycle(parts):
            lines = part.next_lines()
            if lines is None:
                return  # ranges take items in turn: the first that has none left is the end of all
            yield from lines
    finally:
        for part in parts:
            part.close()


class Part:
    """A range of a source and the process that extracts it, item by item."""

    def __init__(self, folder: str, base_url: str, file_range: FileRange) -> None:
        self._folder = folder
        self._base_url = base_url
        self._rest = file_range  # what no lines came of yet
        self._start()

    def next_lines(self) -> list[dict[str, Any]] | None:
        """Return the JSON lines of the next item; None after the last. Raises UnreadableFile."""
        try:
            message = self._receiver.recv_bytes()
        except EOFError:
            return self._lost()
        if message == MORE:
            self._restart()
            return self.next_lines()
        if message == END:
            return None
        if message.startswith(BAD):
            raise UnreadableFile(message.removeprefix(BAD).decode())
        self._advance()
        lines: list[dict[str, Any]] = orjson.loads(message)
        return lines

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self._receiver.close()

    def _start(self) -> None:
        context = get_context("spawn")
        self._receiver, sender = context.Pipe(duplex=False)
        arguments = (self._folder, self._base_url, self._rest, sender)
        self.process: Any = context.Process(target=_extract_range, args=arguments, daemon=True)
        self.process.start()
        sender.close()

    def _restart(self) -> None:
        self.close()
        self._start()

    def _advance(self) -> None:
        self._rest = replace(self._rest, first=self._rest.first + self._rest.step)

    def _lost(self) -> list[dict[str, Any]] | None:
        """Return the line of the item on which the process ended; None where there is none left."""
        items = read_pages(Path(self._rest.source), self._base_url)
        item = next(islice(items, self._rest.first, None), None)
        if item is None:
            return None
        self._advance()
        self._restart()
        url, place = getattr(item, "url", ""), getattr(item, "place", "")
        line = line_not_taken(url, place, "crashed", "extracting it ended the process")
        return [line_json(line)]


def _extract_range(folder: str, base_url: str, file_range: FileRange, sender: Connection) -> None:
    """Send the lines of each item of a range, in a process of its own."""
    bundle = read_bundle(Path(folder))
    try:
        items = lines_by_item(bundle, file_range, base_url=base_url)
        for number, lines in enumerate(items, 1):
            sender.send_bytes(orjson.dumps([line_json(line) for line in lines]))
            if number >= MOST_ITEMS:
                sender.send_bytes(MORE)
                return
        sender.send_bytes(END)
    except UnreadableFile as error:
        sender.send_bytes(BAD + str(error).encode())
