"""Hint where values that were not found again probably stand, by field profiles of the vertical.

The profile of the changed cluster's own rule, made of its pages as they were, counts beside those
of other sites: a label that stayed names a field whose values are all others. A hint is told and
nothing more: a person annotates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml.etree import _Element

from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.recognising import MAX_PAGES, recognise_fields
from monitoring.models import Proposal
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import read_tree
from monitoring.services.repair.plans import RepairPlan
from rules.models import Rule
from rules.services.fields.cluster_drafts import MIN_PAGES
from rules.services.fields.field_profiles import profiles_with_own
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun

MAX_VALUE_CHARS: Final = 200


def hints_of(
    plan: RepairPlan, site: Site, fresh: Mapping[str, FreshPage], run: JobRun
) -> list[dict[str, Any]]:
    """Return what the attributes are of which a plan finds nothing, as far as that is certain."""
    rule = plan.rule
    if rule is None or plan.decision == Proposal.Decision.REUSED or _is_of_lists(rule):
        return []
    names = {attribute.name for attribute in rule.attributes}
    if plan.relearnt is not None:
        names &= set(plan.relearnt.silent)
    tree_by_url = _trees(plan, fresh) if names else {}
    profiles = profiles_with_own(rule.vertical, site=site, run=run) if tree_by_url else []
    if len(tree_by_url) < MIN_PAGES or not profiles:
        return []
    multi = frozenset(each.name for each in rule.attributes if each.is_multi)
    known = KnownFields([each.name for each in rule.attributes], multi, profiles)
    urls = list(tree_by_url)
    with run.kept_alive():
        drafts = recognise_fields(list(tree_by_url.values()), known, shipped_weights())
    hints = []
    for draft in drafts:
        if draft.is_certain and draft.field in names:
            page = min(draft.slot.texts)
            hints.append(
                {
                    "attribute": draft.field,
                    "value": draft.slot.values(page)[0][:MAX_VALUE_CHARS],
                    "url": urls[page],
                    "certainty": round(draft.certainty, 3),
                    "why": draft.why,
                }
            )
    return hints


def _is_of_lists(rule: Rule) -> bool:
    return bool(rule.definition.get("boundary"))


def _trees(plan: RepairPlan, fresh: Mapping[str, FreshPage]) -> dict[str, _Element]:
    """Return some pages of a plan's cluster as they are now."""
    trees: dict[str, _Element] = {}
    for url in sorted(plan.new.urls):
        tree, _ = read_tree(fresh[url])
        if tree is not None and len(trees) < MAX_PAGES:
            trees[url] = tree
    return trees
