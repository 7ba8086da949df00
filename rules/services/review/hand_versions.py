"""Save somebody's stylesheet as the next version of a cluster's rule: a draft like any other."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.models import Cluster
from rules.algorithms.by_hand.hand_edits import same_templates
from rules.algorithms.by_hand.sandbox import read_stylesheet
from rules.algorithms.by_hand.scoring import AttributeScore
from rules.models import Rule
from rules.services.learning.place_pictures import start_drawing_places
from rules.services.learning.trial_runs import HandEdit, Trial, root_of, try_edit
from rules.services.learning.versions import lock_versions, save_version
from rules.services.review.reviewing import MAX_COMMENT_CHARS
from vertex.core.models import User
from vertex.core.services.people import audit
from vertex.core.texts import storable

BY_HAND = "by_hand"


class NewerVersion(Exception):
    """A newer version was made meanwhile, or the newest one anew; `version` is that one."""

    def __init__(self, version: Rule) -> None:
        self.version = version
        who = f" by {version.made_by}" if version.made_by else ""
        super().__init__(
            f"{version} was made{who} meanwhile ({version.get_origin_display().lower()}). Look at "
            "what it changes; what you wrote is kept, and saving it again makes it the version "
            "after that one."
        )


def keep_version(
    *,
    cluster: Cluster,
    edit: HandEdit,
    why: str,
    newest: int | None = None,
    newest_made_at: datetime | None = None,
    actor: User | None = None,
    trial: Trial | None = None,
) -> Rule:
    """Save an edit as the next version, a draft with what it scored on the samples.

    `newest` is the newest version that its author knew and `newest_made_at` when it was made: a
    draft is learnt again in place. `trial` is what the edit was found to do. Raises
    ValidationError, and NewerVersion where there is a newer one by now.
    """
    why = storable(why).strip()
    if not why:
        raise ValidationError(
            {"why": "Say why the rule is changed by hand; it stays with the version."}
        )
    if len(why) > MAX_COMMENT_CHARS:
        raise ValidationError(
            {"why": f"It has {len(why):,} characters; write {MAX_COMMENT_CHARS:,} at most."}
        )
    trial = trial or try_edit(cluster, edit)
    if trial.refused or trial.vertical is None or trial.samples is None:
        raise ValidationError({"stylesheet": f"It is not kept: {trial.refused}"})
    if edit.base is not None and trial.stylesheet == edit.base.stylesheet:
        raise ValidationError(
            {"stylesheet": f"It is the same as {edit.base}; nothing was changed."}
        )
    with transaction.atomic():
        last = lock_versions(cluster)
        if last is not None and _is_newer(last, newest, newest_made_at):
            raise NewerVersion(last)
        rule = Rule(
            cluster=cluster,
            vertical=trial.vertical,
            schema=[attribute.as_json() for attribute in trial.attributes],
            stylesheet=trial.stylesheet,
            figures=figures_of(trial, edit.base),
            learner="",
            origin=Rule.Origin.IMPORTED if edit.is_import else Rule.Origin.EDITED,
            edited_from=edit.base.version if edit.base else None,
            comment=why,
        )
        save_version(rule, pages=trial.samples, actor=actor)
        detail = {"from": rule.edited_from, "why": why}
        audit.record(
            actor=actor,
            action=f"rule.{rule.origin}",
            subject=str(rule),
            site=cluster.site,
            detail=detail,
        )
        start_drawing_places(rule=rule, actor=actor)
    return rule


def _is_newer(last: Rule, newest: int | None, made_at: datetime | None) -> bool:
    """Return whether the newest version is not the one an author knew, or was made anew since."""
    if newest is None:
        return False
    return last.version > newest or (made_at is not None and last.made_at != made_at)


def figures_of(trial: Trial, base: Rule | None) -> list[dict[str, Any]]:
    """Return a version's figures on samples; of unchanged attributes also how they are found."""
    names = [attribute.name for attribute in trial.attributes]
    unchanged: set[str] = set()
    before = root_of(base) if base else None
    if before is not None:
        unchanged = same_templates(before, read_stylesheet(trial.stylesheet.encode()), names)
    base_figures: dict[str, dict[str, Any]] = {}
    learnt: dict[str, dict[str, Any]] = {}
    if base is not None:
        base_figures = {figure["attribute"]: figure for figure in base.figures}
        learnt = {form["attribute"]: form for form in base.definition.get("attributes", [])}
    figures = []
    for score in trial.scores:
        figure = {"kind": BY_HAND, "xpath": "", "distance": 0} | _measured(trial, score)
        if score.name in unchanged and score.name in base_figures:
            base_figure = base_figures[score.name]
            ways = base_figure.get("ways") or learnt.get(score.name, {}).get("alternatives", [])
            figure |= {
                name: base_figure[name]
                for name in ("kind", "xpath", "distance")
                if name in base_figure
            }
            figure["ways"] = [_way(way["xpath"], way.get("selection")) for way in ways]
        elif score.name in trial.xpaths:
            written = trial.xpaths[score.name]
            figure["xpath"] = written.xpaths[0] if written.xpaths else ""
            figure["ways"] = [
                _way(xpath, written.selection(way).as_json())
                for way, xpath in enumerate(written.xpaths)
            ]
        figures.append(figure)
    return figures


def _way(xpath: str, selection: dict[str, Any] | None) -> dict[str, Any]:
    return {"xpath": xpath, "selection": selection or {}}


def _measured(trial: Trial, score: AttributeScore) -> dict[str, Any]:
    n_values = score.n_right + score.n_wrong + score.n_unwanted
    return {
        "attribute": score.name,
        "precision": score.n_right / n_values if n_values else 0.0,
        "support": score.n_found / score.n_others if score.n_others else 0.0,
        "n_annotated": score.n_annotated,
        "missing_on": [
            run.snapshot.page.url
            for run in trial.runs
            if not (run.values and run.values.get(score.name))
        ],
    }
