"""Where a browser reports what an editor did on a page; the answer is how the attributes look now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.models import Annotation, Assignment, Attribute
from annotation.services.annotations.annotating import AnnotatedMeanwhile, NoSuchRevision
from annotation.services.page import gestures as services
from annotation.services.page.gestures import GestureChange, Subject
from annotation.services.page.page_states import RECORDS, Row, rows_of
from annotation.services.page.stored_pages import PageUnfit, read_page
from annotation.views.page.gesture_requests import Gesture, read_gesture
from clustering.models import Snapshot
from vertex.core.models import Role, User
from vertex.core.views.access import needs_role, user_of

CONFLICT = 409
UNUSABLE = 422
LONGEST_TOLD = 80


class Stage(NamedTuple):
    """Where a gesture is made."""

    snapshot: Snapshot
    page: NumberedPage
    attributes: dict[str, Attribute]
    actor: User

    def subject(self, name: str, source: str = Annotation.Source.HAND) -> Subject:
        """Return what a gesture is about. Raises BadRequest."""
        if name != RECORDS and name not in self.attributes:
            raise BadRequest(f"The page has no attribute “{name}”. Load it again.")
        attribute = self.attributes.get(name)
        return services.Subject(self.snapshot, self.page, attribute, self.actor, source)


class Outcome:
    """What came of a gesture: what changed, what somebody else changed meanwhile, what cannot be."""

    def __init__(self) -> None:
        self.changes: list[GestureChange] = []
        self.conflicts: list[str] = []
        self.problems: list[str] = []

    def attempt(self, name: str, act: Callable[[], GestureChange]) -> None:
        try:
            self.changes.append(act())
        except AnnotatedMeanwhile:
            self.conflicts.append(name)
        except (AnchorProblem, NoSuchRevision, services.TooManyMarks) as error:
            told = str(error)
            self.problems.append(f"{name or 'Records'}: {told[:1]}{told[1:]}.")

    @property
    def status(self) -> int:
        if self.changes or not (self.conflicts or self.problems):
            return 200
        return CONFLICT if self.conflicts else UNUSABLE


@needs_role(Role.EDITOR)
@require_POST
def gesture(request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> JsonResponse:
    """Do what an editor's gesture means and answer with the rows that it changed."""
    snapshot = get_object_or_404(
        Snapshot.objects.select_related("page__site"),
        page__site__name=name,
        page=pk,
        pk=snapshot_pk,
    )
    told = read_gesture(request)
    do = GESTURES.get(told.text("gesture"))
    if do is None:
        raise BadRequest(f"There is no gesture “{told.text('gesture')[:40]}”.")
    try:
        page = read_page(snapshot)
    except PageUnfit as error:
        return JsonResponse({"problems": [str(error)]}, status=UNUSABLE)
    vertical = Assignment.objects.vertical_of_page(snapshot.page)
    attributes = list(vertical.attributes.live()) if vertical else []
    stage = Stage(snapshot, page, {one.name: one for one in attributes}, user_of(request))
    outcome = Outcome()
    do(stage, told, outcome)
    rows = rows_of(page, snapshot, attributes)
    return JsonResponse(_answer(outcome, rows, stage.actor), status=outcome.status)


def _answer(outcome: Outcome, rows: list[Row], viewer: User) -> dict[str, Any]:
    """Return the outcome with the rows that it concerns; of records every row may have changed."""
    concerned = {change.attribute for change in outcome.changes} | set(outcome.conflicts)
    shown = [row for row in rows if row.name in concerned or RECORDS in concerned]
    return {
        "changes": [asdict(change) for change in outcome.changes],
        "problems": outcome.problems,
        "conflicts": [
            {"attribute": row.name, "revision": row.revision, "text": _said_by_other(row)}
            for row in shown
            if row.name in outcome.conflicts
        ],
        "rows": {row.name: _rendered(row, viewer) for row in shown},
    }


def _rendered(row: Row, viewer: User) -> str:
    return render_to_string("annotation/page/said.html", {"row": row, "viewer": viewer})


def _said_by_other(row: Row) -> str:
    """Say what somebody else said of an attribute meanwhile."""
    who = str(row.author) if row.author else "Somebody else"
    if row.is_absent:
        return f"{who} said meanwhile that it is not on this page."
    if not row.values:
        return f"{who} cleared it meanwhile."
    texts = ", ".join(f"“{value.text[:LONGEST_TOLD]}”" for value in row.values[:3])
    more = f" and {len(row.values) - 3} more" if len(row.values) > 3 else ""
    return f"{who} took {texts}{more} meanwhile."


def _take(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    """Take the node or the text at a place; for the records, the record there with those like it."""
    name, revision, place = told.text("attribute"), told.number("revision"), told.place()
    subject = stage.subject(name)

    def act() -> GestureChange:
        if subject.attribute is None:
            first = stage.page.element(place.number)
            last = None if place.end_number is None else stage.page.element(place.end_number)
            return services.mark_records(subject=subject, first=first, last=last, revision=revision)
        anchor = services.anchor_clicked(subject, place, widens=told.is_set("widens"))
        return services.take(
            subject=subject, anchor=anchor, revision=revision, adds=told.is_set("adds")
        )

    outcome.attempt(name, act)


def _take_text(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    """Take a part of what an element displays."""
    name = told.text("attribute")
    subject = stage.subject(name)

    def act() -> GestureChange:
        anchor = services.anchor_typed(
            subject, told.number("number"), told.number("start"), told.number("end")
        )
        return services.take(
            subject=subject,
            anchor=anchor,
            revision=told.number("revision"),
            adds=told.is_set("adds"),
        )

    outcome.attempt(name, act)


def _take_run(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    """Take everything from one element to another; for the records, the run of siblings between them."""
    name = told.text("attribute")
    subject = stage.subject(name)

    def act() -> GestureChange:
        ends = sorted([told.number("number"), told.number("end_number")])
        first, last = (stage.page.element(number) for number in ends)
        revision = told.number("revision")
        if subject.attribute is None:
            return services.mark_records(subject=subject, first=first, last=last, revision=revision)
        anchor = services.anchor_run_of(subject, first, last)
        return services.take(
            subject=subject, anchor=anchor, revision=revision, adds=told.is_set("adds")
        )

    outcome.attempt(name, act)


def _accept(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    """Write down all that was proposed and shown."""
    for part in told.parts("said"):
        _accept_one(stage, part, outcome)


def _accept_one(stage: Stage, part: Gesture, outcome: Outcome) -> None:
    name = part.text("attribute")
    source = Annotation.Source.HAND if part.is_set("by_hand") else Annotation.Source.SUGGESTION
    subject = stage.subject(name, source)

    def act() -> GestureChange:
        if subject.attribute is None:
            records, revision = (
                [mark.mark() for mark in part.parts("marks")],
                part.number("revision"),
            )
            if records:
                return services.accept_records(subject=subject, records=records, revision=revision)
            return services.mark_found_records(subject=subject, revision=revision)
        return services.accept(
            subject=subject,
            marks=[mark.mark() for mark in part.parts("marks")],
            is_absent=part.is_set("absent"),
            revision=part.number("revision"),
            adds=part.is_set("adds"),
        )

    outcome.attempt(name, act)


def _absent(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    for part in told.parts("said"):
        name = part.text("attribute")
        if name == RECORDS:
            raise BadRequest("That a page has no records is said by marking none.")
        subject, revision = stage.subject(name), part.number("revision")
        outcome.attempt(name, _absence(subject, revision))


def _absence(subject: Subject, revision: int) -> Callable[[], GestureChange]:
    return lambda: services.mark_absent(subject=subject, revision=revision)


def _clear(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    name, revision = told.text("attribute"), told.number("revision")
    outcome.attempt(name, lambda: services.clear(subject=stage.subject(name), revision=revision))


def _remove(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    name, position, revision = (
        told.text("attribute"),
        told.number("position"),
        told.number("revision"),
    )
    subject = stage.subject(name)
    outcome.attempt(
        name, lambda: services.remove_value(subject=subject, position=position, revision=revision)
    )


def _take_alike(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    name, revision = told.text("attribute"), told.number("revision")
    subject = stage.subject(name)
    outcome.attempt(name, lambda: services.take_alike(subject=subject, revision=revision))


def _restore(stage: Stage, told: Gesture, outcome: Outcome) -> None:
    """Undo or redo: let the revisions that are wanted hold again."""
    for part in told.parts("changes"):
        outcome.attempt(part.text("attribute"), _restoration(stage, part))


def _restoration(stage: Stage, part: Gesture) -> Callable[[], GestureChange]:
    subject = stage.subject(part.text("attribute"))
    return lambda: services.restore(
        page=stage.snapshot.page,
        attribute=subject.attribute,
        shown=part.number("shown"),
        wanted=part.number("wanted"),
        actor=stage.actor,
    )


GESTURES: dict[str, Callable[[Stage, Gesture, Outcome], None]] = {
    "take": _take,
    "take_text": _take_text,
    "take_run": _take_run,
    "take_alike": _take_alike,
    "accept": _accept,
    "absent": _absent,
    "clear": _clear,
    "remove": _remove,
    "restore": _restore,
}
