"""What was fetched of a page: shown as text, never as a page."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from clustering.models import Snapshot
from vertex.core.models import Role
from vertex.core.storage import BodyDamaged, BodyMissing, page_store
from vertex.core.views.access import needs_role

PART = 200_000  # characters shown at once
LINES_AT_ONCE = 4_000
COMPARED_LINES = 1_000  # what is left between equal beginnings and ends; more would take too long
CONTEXT = 3
LONGEST_NUMBER = 9  # digits; no page is longer
# What a browser would not draw, or would draw in a misleading order, is shown by its code point.
UNSEEN = [
    *range(9),
    11,
    12,
    *range(14, 32),
    127,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0x200E,
    0x200F,
]
SHOWN_BY_NUMBER = {code: f"⟨U+{code:04X}⟩" for code in UNSEEN}


class SourceLine(NamedTuple):
    """A line of a page's source; `sign` is + or - in a comparison, … for a gap."""

    number: int | None
    text: str
    sign: str = ""


@needs_role(Role.VIEWER)
@require_GET
def snapshot_source(request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> HttpResponse:
    snapshot = _snapshot(name, pk, snapshot_pk)
    context: dict[str, Any] = {
        "site": snapshot.page.site,
        "shown": snapshot.page,
        "snapshot": snapshot,
    }
    try:
        text = source_of(snapshot)
    except (BodyMissing, BodyDamaged) as error:
        return render(
            request,
            "clustering/pages/snapshot_source.html",
            context | {"problem": error},
            status=410,
        )
    start = min(_number(request.GET.get("from", "")), len(text))
    lines, end = cut(text, start)
    context |= {
        "lines": lines,
        "n_characters": len(text),
        "start": start,
        "end": end,
        "has_more": end < len(text),
    }
    return render(request, "clustering/pages/snapshot_source.html", context)


@needs_role(Role.VIEWER)
@require_GET
def snapshot_body(request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> HttpResponse:
    """Hand out the bytes as they came, for saving: a browser is told not to show them."""
    snapshot = _snapshot(name, pk, snapshot_pk)
    try:
        body = page_store().read(snapshot.body)
    except (BodyMissing, BodyDamaged) as error:
        raise Http404(str(error)) from None
    return HttpResponse(
        body,
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": "attachment; "
            f'filename="{name}-page-{pk}-snapshot-{snapshot_pk}.bin"',
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


@needs_role(Role.VIEWER)
@require_GET
def compare_snapshots(
    request: HttpRequest, name: str, pk: int, older: int, newer: int
) -> HttpResponse:
    before, after = _snapshot(name, pk, older), _snapshot(name, pk, newer)
    context: dict[str, Any] = {
        "site": after.page.site,
        "shown": after.page,
        "before": before,
        "after": after,
    }
    try:
        lines = list(difference(source_of(before).splitlines(), source_of(after).splitlines()))
    except (BodyMissing, BodyDamaged) as error:
        return render(
            request,
            "clustering/pages/compare_snapshots.html",
            context | {"problem": error},
            status=410,
        )
    context |= {
        "lines": lines[:LINES_AT_ONCE],
        "n_added": sum(line.sign == "+" for line in lines),
        "n_removed": sum(line.sign == "-" for line in lines),
        "n_left_out": max(0, len(lines) - LINES_AT_ONCE),
    }
    return render(request, "clustering/pages/compare_snapshots.html", context)


def source_of(snapshot: Snapshot) -> str:
    """Return a snapshot's text, the invisible made visible. Raises BodyMissing, BodyDamaged."""
    body = page_store().read(snapshot.body)
    try:
        text = body.decode(snapshot.encoding or "utf-8", errors="replace")
    except LookupError:
        text = body.decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").translate(SHOWN_BY_NUMBER)


def cut(text: str, start: int) -> tuple[list[SourceLine], int]:
    """Return the lines from a place on, as many as are shown at once, and where they end."""
    number = text.count("\n", 0, start) + 1
    lines: list[SourceLine] = []
    end, stop = start, min(len(text), start + PART)
    while end < stop and len(lines) < LINES_AT_ONCE:
        line_end = text.find("\n", end, stop)
        line_end = stop if line_end < 0 else line_end
        lines.append(SourceLine(number + len(lines), text[end:line_end].rstrip("\r")))
        end = line_end + 1
    return lines, min(end, stop)


def difference(before: list[str], after: list[str]) -> Iterator[SourceLine]:
    """Yield what changed between two texts, with a few equal lines around each change.

    Where more than COMPARED_LINES lines differ, the old ones are told as removed and the new
    ones as added.
    """
    head = _n_equal(before, after)
    tail = _n_equal(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return
    yield from _context(after, max(0, head - CONTEXT), head)
    if max(len(old), len(new)) > COMPARED_LINES:
        yield from (SourceLine(None, text, "-") for text in old)
        yield from (SourceLine(n, text, "+") for n, text in enumerate(new, head + 1))
    else:
        yield from _compared(old, new, head)
    yield from _context(after, len(after) - tail, min(len(after), len(after) - tail + CONTEXT))


def _compared(old: list[str], new: list[str], n_before: int) -> Iterator[SourceLine]:
    matcher = difflib.SequenceMatcher(None, old, new)
    for n_group, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if n_group:
            yield SourceLine(None, "", "…")
        for kind, old_start, old_end, start, end in group:
            if kind == "equal":
                yield from _context(new, start, end, n_before)
                continue
            yield from (SourceLine(None, text, "-") for text in old[old_start:old_end])
            yield from (SourceLine(n_before + n + 1, new[n], "+") for n in range(start, end))


def _context(lines: list[str], start: int, end: int, n_before: int = 0) -> Iterator[SourceLine]:
    yield from (SourceLine(n_before + n + 1, lines[n]) for n in range(start, end))


def _n_equal(lines: list[str], other_lines: list[str]) -> int:
    """Return how many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(lines, other_lines, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(lines), len(other_lines)))


def _snapshot(name: str, page: int, pk: int) -> Snapshot:
    snapshots = Snapshot.objects.select_related("page__site")
    return get_object_or_404(snapshots, page__site__name=name, page=page, pk=pk)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else 0
