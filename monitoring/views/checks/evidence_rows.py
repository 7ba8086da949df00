"""Gather a check's evidence: three pages as they were and are, with what a verdict rests on."""

from __future__ import annotations

from typing import Final, NamedTuple

from clustering.models import Snapshot
from monitoring.models import Check, CheckedPage
from monitoring.services.checks.thresholds import page_test_of
from rules.models import GoldenRecord, Rule

PAGES_SHOWN: Final = 3


class EvidencePage(NamedTuple):
    """A page that tells what a check found."""

    checked: CheckedPage
    old: Snapshot | None
    new: Snapshot | None
    finding: str


def evidence_of(check: Check) -> list[EvidencePage]:
    """Return the pages that tell most: those that fail, those replaced by others, then the rest."""
    pages = check.pages.select_related("page", "cluster", "snapshot__page__site").order_by("pk")
    telling = sorted(pages, key=_rank)[:PAGES_SHOWN]
    return [
        EvidencePage(page, _old(check, page), page.snapshot, _finding(page)) for page in telling
    ]


def _rank(page: CheckedPage) -> tuple[bool, bool, bool, int]:
    fails = page_test_of(page).fails()
    is_away = page.outcome == CheckedPage.Outcome.UNREACHABLE
    return not fails, not is_away, page.snapshot_id is None, page.pk


def _old(check: Check, page: CheckedPage) -> Snapshot | None:
    rules = Rule.objects.filter(cluster=page.cluster_id, published_at__lte=check.made_at)
    golden = GoldenRecord.objects.filter(rule__in=rules, page=page.page_id)
    row = golden.select_related("snapshot__page__site").order_by("-rule__version").first()
    return row.snapshot if row else None


def _finding(page: CheckedPage) -> str:
    """Return in words what was found on a page."""
    signs = page.signs
    sentences = []
    if signs.get("n_own"):
        sentences.append(
            f"{signs['n_standing']} of {signs['n_own']} texts that only this page had "
            "still stand on it."
        )
    if signs.get("gone"):
        sentences.append(f"Gone: {', '.join(signs['gone'])}.")
    if signs.get("lost"):
        sentences.append(f"The rule lost {', '.join(signs['lost'])}.")
    if page.outcome != CheckedPage.Outcome.UNREACHABLE and "form_likeness" in signs:
        sentences.append(f"Its form is {signs['form_likeness']:.0%} that of before.")
    return " ".join(sentences)
