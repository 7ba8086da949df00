"""Report what a site change was, once it is over: how long, what it cost, what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from clustering.models import PageMembership
from monitoring.models import CheckedPage, Proposal, SiteChange
from vertex.core.models import AuditEntry, Job

# The first word of the audited actions that repair a site.
REPAIR_ACTIONS = ("annotation", "annotations", "rule", "proposal", "sample", "healing")

MINUTES_OF_HOUR, HOURS_OF_DAY = 60, 24
LONGEST_IN_HOURS = 48

REPAIR_TASKS = ("monitoring.heal_site", "monitoring.accept_proposal")


def report_of(change: SiteChange) -> dict[str, Any]:
    """Return what became of a site change, as numbers and in words."""
    end = change.ended_at or timezone.now()
    report = {
        "cluster": change.cluster.name,
        "end": change.end,
        "attributes": _lost_attributes(change),
        "hours_unseen_at_most": _hours(change.last_good_at, change.found_at),
        "hours_open": _hours(change.found_at, end),
        "n_pages": PageMembership.objects.of_cluster(change.cluster_id).count(),
        "n_held": change.n_held,
        "n_human_steps": _n_human_steps(change, end),
        "machine_seconds": _machine_seconds(change, end),
        **_effort_saved(change),
    }
    return report | {"text": _text(report)}


def _lost_attributes(change: SiteChange) -> dict[str, int]:
    """Return how many bellwethers lost each attribute."""
    lost: dict[str, int] = {}
    pages = CheckedPage.objects.filter(check_run=change.found_by_id, cluster=change.cluster_id)
    for failed in pages.values_list("failed", flat=True):
        for failure in failed:
            name = failure["attribute"]
            lost[name] = lost.get(name, 0) + 1
    return dict(sorted(lost.items()))


def _n_human_steps(change: SiteChange, end: datetime) -> int:
    """Return how many things people did to the site's rules and annotations meanwhile."""
    entries = AuditEntry.objects.filter(site=change.site_id, at__gte=change.found_at, at__lte=end)
    by_people = entries.filter(actor__isnull=False, actor__is_service=False)
    actions = by_people.values_list("action", flat=True)
    return sum(action.partition(".")[0] in REPAIR_ACTIONS for action in actions)


def _machine_seconds(change: SiteChange, end: datetime) -> int:
    """Return how long the jobs worked that repaired the site."""
    jobs = Job.objects.filter(site=change.site_id, task__in=REPAIR_TASKS, started_at__isnull=False)
    spans = jobs.filter(created_at__gte=change.found_at, created_at__lte=end)
    seconds = 0.0
    for started_at, finished_at in spans.values_list("started_at", "finished_at"):
        if started_at:
            seconds += ((finished_at or end) - started_at).total_seconds()
    return round(seconds)


def _effort_saved(change: SiteChange) -> dict[str, Any]:
    """Return what nobody had to annotate: values found again and a reused rule's attributes."""
    accepted = Proposal.objects.filter(
        site=change.site_id, state=Proposal.State.ACCEPTED, accepted_at__gte=change.found_at
    )
    proposal = accepted.filter(from_cluster=change.cluster_id).order_by("-id").first()
    if proposal is None:
        return {"decision": "", "n_values_found": 0, "n_pages_found": 0}
    return {
        "decision": proposal.decision,
        "n_values_found": sum(
            len(values) for page in proposal.evidence.values() for values in page.values()
        ),
        "n_pages_found": len(proposal.evidence),
    }


def _text(report: Mapping[str, Any]) -> str:
    lost = ", ".join(report["attributes"]) or "the structure"
    sentences = [f"{report['cluster']}: {lost} broke on {report['n_pages']:,} pages."]
    if report["hours_unseen_at_most"] is not None:
        span = span_in_words(report["hours_unseen_at_most"])
        sentences.append(f"It went unseen for at most {span}.")
    sentences.append(f"It was open for {span_in_words(report['hours_open'])}.")
    if report["n_held"]:
        sentences.append(f"The new values of {report['n_held']:,} pages were held back meanwhile.")
    sentences.append(
        f"People took {report['n_human_steps']:,} steps, "
        f"machines {report['machine_seconds']:,} seconds."
    )
    if report["n_values_found"]:
        sentences.append(
            f"{report['n_values_found']:,} values on {report['n_pages_found']:,} pages "
            "were found again "
            "that nobody had to annotate."
        )
    return " ".join(sentences)


def span_in_words(hours: float) -> str:
    """Write a span of time in the unit that suits it.

    >>> [span_in_words(hours) for hours in (0.004, 0.03, 1.2, 30, 72)]
    ['less than a minute', '2 minutes', '1.2 hours', '30 hours', '3 days']
    """
    minutes = round(hours * MINUTES_OF_HOUR)
    if minutes < 1:
        return "less than a minute"
    if hours < 1:
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    if hours < LONGEST_IN_HOURS:
        return f"{hours:.2g} hours" if hours != 1 else "1 hour"
    return f"{hours / HOURS_OF_DAY:.3g} days"


def _hours(start: datetime | None, end: datetime) -> float | None:
    return None if start is None else round((end - start).total_seconds() / 3600, 2)
