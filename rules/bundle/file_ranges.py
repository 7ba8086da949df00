"""Extract a range of the pages of a source file: the one function under every engine that runs a bundle.

An engine hands out ranges, not pages: a range names a file and which of its items are meant, so that no HTML
goes through the engine. Ranges take items in turn, for the number of pages in an archive is not known before
it was read; reading past the others costs little beside extracting. A run on stored pages has no file to
read: what it shares with every engine is the function of one page that this one calls, `lines_of` of
`record_lines`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from clustering.services.pages.archives import read_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rules.algorithms.running.record_lines import Line
    from rules.bundle.bundle import Bundle


@dataclass(frozen=True, slots=True)
class FileRange:
    """Each `step`-th item of a page source, from the one at place `first` on; by itself the whole source."""

    source: str
    first: int = 0
    step: int = 1


def extract(bundle: Bundle, file_range: FileRange, *, base_url: str = "") -> Iterator[Line]:
    """Yield the lines of a range's pages, in the order of the source.

    Raises UnreadableFile.
    """
    for lines in lines_by_item(bundle, file_range, base_url=base_url):
        yield from lines


def lines_by_item(bundle: Bundle, file_range: FileRange, *, base_url: str = "") -> Iterator[list[Line]]:
    """Yield the lines of each item of a range; what is no page by its nature has none.

    Raises UnreadableFile.
    """
    items = read_pages(Path(file_range.source), base_url or root_of(bundle))
    for item in islice(items, file_range.first, None, file_range.step):
        yield bundle.lines_of_item(item)


def root_of(bundle: Bundle) -> str:
    """Return what the files of a source without addresses are relative to."""
    return bundle.root_url if bundle.root_url.endswith("/") else f"{bundle.root_url}/"


def ranges_of(sources: Iterable[str], n_parts: int = 1) -> list[FileRange]:
    """Return so many ranges for each source that together hold each item once."""
    return [FileRange(source, part, n_parts) for source in sources for part in range(n_parts)]
