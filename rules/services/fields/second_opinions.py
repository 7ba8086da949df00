"""Ask the other sites of a vertical what they would take for the attributes of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.recognising import recognise_fields
from annotation.algorithms.fields.second_opinions import SecondOpinion, second_opinions
from rules.models import Rule
from rules.services.fields.cluster_drafts import MIN_PAGES
from rules.services.fields.field_profiles import PageWithRecord, extracted_pages, known_profiles
from vertex.core.services.jobs.jobs import JobRun

MAX_VALUE_CHARS: Final = 200  # of a value that is told


def ask_other_sites(*, rule: Rule, run: JobRun) -> None:
    """Store with a rule what other sites of its vertical are certain of; nothing where none is."""
    if rule.origin == Rule.Origin.DRAFTED:
        return  # it is what they would take
    rule.opinions = []
    profiles = known_profiles(rule.vertical, besides=rule.cluster.site, run=run)
    if profiles:
        with run.kept_alive():
            pages = extracted_pages(rule)
            if len(pages) >= MIN_PAGES:
                multi = frozenset(each.name for each in rule.attributes if each.is_multi)
                known = KnownFields([each.name for each in rule.attributes], multi, profiles)
                drafts = recognise_fields([page.tree for page in pages], known, shipped_weights())
                opinions = second_opinions(drafts, [page.values for page in pages])
                rule.opinions = [_as_json(opinion, pages) for opinion in opinions]
    rule.save(update_fields=["opinions"])


def _as_json(opinion: SecondOpinion, pages: Sequence[PageWithRecord]) -> dict[str, Any]:
    form = {
        "attribute": opinion.draft.field,
        "agrees": opinion.agrees,
        "certainty": round(opinion.draft.certainty, 3),
        "why": opinion.draft.why,
    }
    if opinion.page is None:
        return form
    page = pages[opinion.page].snapshot.page
    return form | {
        "value": opinion.value[:MAX_VALUE_CHARS],
        "page": page.pk,
        "url": page.given_url,
    }
