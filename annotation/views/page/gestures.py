"""Where a browser reports what an editor did on a page; the answer shows the attributes now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.models import Annotation, Assignment, Attribute
from annotation.services.annotations.annotating import AnnotatedMeanwhile, NoSuchRevision
from annotation.services.page import gestures as services
from annotation.services.page.gestures import Accepted, GestureChange, Subject
from annotation.services.page.page_states import RECORDS, Row, rows_of
from annotation.services.page.stored_pages import PageUnfit, read_page
from annotation.views.page.gesture_requests import Gesture, read_gesture
from clustering.models import Snapshot
from vertex.core.models import Role, User
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages

MAX_VALUE_CHARS = 80  # of somebody else's value
MAX_VALUES = 3


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
        return Subject(self.snapshot, self.page, self.attributes.get(name), self.actor, source)


class GestureOutcome:
    """What came of a gesture: what changed, what others changed meanwhile, what cannot be."""

    def __init__(self) -> None:
        self.changes: list[GestureChange] = []
        self.conflicts: list[str] = []
        self.problems: list[str] = []

    def attempt(self, name: str, act: Callable[[], GestureChange]) -> None:
        """Change an attribute, or record why it cannot be changed."""
        try:
            self.changes.append(act())
        except (AnnotatedMeanwhile, AnchorProblem, NoSuchRevision, services.TooManyMarks) as error:
            self.refuse(name, error)

    def refuse(self, name: str, error: Exception) -> None:
        """Record why an attribute cannot be changed."""
        if isinstance(error, AnnotatedMeanwhile):
            self.conflicts.append(name)
        else:
            self.problems.append(f"{name or 'Records'}: {error}.")

    @property
    def status(self) -> int:
        if self.changes or not (self.conflicts or self.problems):
            return HTTPStatus.OK
        return HTTPStatus.CONFLICT if self.conflicts else HTTPStatus.UNPROCESSABLE_ENTITY


@reads_pages
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
    reported = read_gesture(request)
    do = GESTURES.get(reported.text("gesture"))
    if do is None:
        raise BadRequest(f"There is no gesture “{reported.text('gesture')[:40]}”.")
    try:
        page = read_page(snapshot)
    except PageUnfit as error:
        return JsonResponse({"problems": [str(error)]}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    vertical = Assignment.objects.vertical_of_page(snapshot.page)
    attributes = list(vertical.attributes.live()) if vertical else []
    attribute_by_name = {attribute.name: attribute for attribute in attributes}
    stage = Stage(snapshot, page, attribute_by_name, user_of(request))
    outcome = GestureOutcome()
    do(stage, reported, outcome)
    rows = rows_of(page, snapshot, attributes)
    return JsonResponse(_answer(outcome, rows, stage.actor), status=outcome.status)


def _answer(outcome: GestureOutcome, rows: list[Row], viewer: User) -> dict[str, Any]:
    """Return the outcome with the rows that it concerns; of records every row may have changed."""
    concerned = {change.attribute for change in outcome.changes} | set(outcome.conflicts)
    shown = [row for row in rows if row.name in concerned or RECORDS in concerned]
    return {
        "changes": [asdict(change) for change in outcome.changes],
        "problems": outcome.problems,
        "conflicts": [
            {"attribute": row.name, "revision": row.revision, "text": _change_by_other(row)}
            for row in shown
            if row.name in outcome.conflicts
        ],
        "rows": {row.name: _rendered(row, viewer) for row in shown},
    }


def _rendered(row: Row, viewer: User) -> str:
    context = {"row": row, "viewer": viewer}
    return render_to_string("annotation/page/annotated_attribute.html", context)


def _change_by_other(row: Row) -> str:
    """Return how somebody else annotated an attribute meanwhile, in words."""
    who = str(row.author) if row.author else "Somebody else"
    if row.is_absent:
        return f"{who} said meanwhile that it is not on this page."
    if not row.values:
        return f"{who} cleared it meanwhile."
    texts = ", ".join(f"“{value.text[:MAX_VALUE_CHARS]}”" for value in row.values[:MAX_VALUES])
    n_more = len(row.values) - MAX_VALUES
    more = f" and {n_more} more" if n_more > 0 else ""
    return f"{who} took {texts}{more} meanwhile."


def _take(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Take the node or the text at a place; for the records, the record there and those like it."""
    name, revision, place = (
        reported.text("attribute"),
        reported.number("revision"),
        reported.place(),
    )
    subject = stage.subject(name)

    def act() -> GestureChange:
        if subject.attribute is None:
            first = stage.page.element(place.number)
            last = None if place.end_number is None else stage.page.element(place.end_number)
            return services.mark_records(subject=subject, first=first, last=last, revision=revision)
        anchor = services.anchor_clicked(subject, place, widens=reported.is_set("widens"))
        return _take_anchor(subject, anchor, reported)

    outcome.attempt(name, act)


def _take_text(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Take a part of what an element displays, from one of its characters to another."""
    name = reported.text("attribute")
    number, start, end = (reported.number(key) for key in ("number", "start", "end"))
    subject = stage.subject(name)

    def act() -> GestureChange:
        anchor = services.anchor_typed(subject, number, start, end)
        return _take_anchor(subject, anchor, reported)

    outcome.attempt(name, act)


def _take_run(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Take everything from one element to another; for the records, the siblings between them."""
    name = reported.text("attribute")
    subject = stage.subject(name)

    def act() -> GestureChange:
        ends = sorted([reported.number("number"), reported.number("end_number")])
        first, last = (stage.page.element(number) for number in ends)
        if subject.attribute is None:
            revision = reported.number("revision")
            return services.mark_records(subject=subject, first=first, last=last, revision=revision)
        return _take_anchor(subject, services.anchor_run_of(subject, first, last), reported)

    outcome.attempt(name, act)


def _take_anchor(subject: Subject, anchor: Anchor, reported: Gesture) -> GestureChange:
    return services.take(
        subject=subject,
        anchor=anchor,
        revision=reported.number("revision"),
        adds=reported.is_set("adds"),
    )


def _accept(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Annotate all that was proposed and shown; the records first, in which values may stand."""
    parts = {part.text("attribute"): part for part in reported.parts("annotations")}
    records = parts.pop(RECORDS, None)
    accepted = [_accepted(stage, part) for part in parts.values()]
    if records is not None:
        _accept_records(stage, records, outcome)
    for each, came in zip(accepted, services.accept_each(accepted), strict=True):
        if isinstance(came, GestureChange):
            outcome.changes.append(came)
        else:
            outcome.refuse(each.subject.name, came)


def _accept_records(stage: Stage, part: Gesture, outcome: GestureOutcome) -> None:
    """Save the records of a list that an editor accepted, or find them where none are named."""
    subject = stage.subject(RECORDS, _source_of(part))
    marks, revision = [mark.mark() for mark in part.parts("marks")], part.number("revision")

    def act() -> GestureChange:
        if marks:
            return services.accept_records(subject=subject, records=marks, revision=revision)
        return services.mark_found_records(subject=subject, revision=revision)

    outcome.attempt(RECORDS, act)


def _accepted(stage: Stage, part: Gesture) -> Accepted:
    """Return what an editor accepted for an attribute. Raises BadRequest."""
    return Accepted(
        stage.subject(part.text("attribute"), _source_of(part)),
        marks=[mark.mark() for mark in part.parts("marks")],
        is_absent=part.is_set("absent"),
        revision=part.number("revision"),
        adds=part.is_set("adds"),
    )


def _source_of(part: Gesture) -> str:
    return Annotation.Source.HAND if part.is_set("by_hand") else Annotation.Source.SUGGESTION


def _absent(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    for part in reported.parts("annotations"):
        name, revision = part.text("attribute"), part.number("revision")
        if name == RECORDS:
            raise BadRequest("That a page has no records is said by marking none.")
        subject = stage.subject(name)
        outcome.attempt(name, partial(services.mark_absent, subject=subject, revision=revision))


def _clear(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    name, revision = reported.text("attribute"), reported.number("revision")
    subject = stage.subject(name)
    outcome.attempt(name, partial(services.clear, subject=subject, revision=revision))


def _remove(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    name, position = reported.text("attribute"), reported.number("position")
    revision = reported.number("revision")
    subject = stage.subject(name)
    remove = partial(services.remove_value, subject=subject, position=position, revision=revision)
    outcome.attempt(name, remove)


def _only_here(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Restrict a value to its node, or to no node in particular."""
    name = reported.text("attribute")
    mark = partial(
        services.mark_only_here,
        subject=stage.subject(name),
        position=reported.number("position"),
        is_only_here=reported.is_set("only_here"),
        revision=reported.number("revision"),
    )
    outcome.attempt(name, mark)


def _take_alike(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    name, revision = reported.text("attribute"), reported.number("revision")
    subject = stage.subject(name)
    outcome.attempt(name, partial(services.take_alike, subject=subject, revision=revision))


def _restore(stage: Stage, reported: Gesture, outcome: GestureOutcome) -> None:
    """Undo or redo: restore the revisions that are wanted."""
    for part in reported.parts("changes"):
        name = part.text("attribute")
        restore = partial(
            services.restore,
            page=stage.snapshot.page,
            attribute=stage.subject(name).attribute,
            shown=part.number("shown"),
            wanted=part.number("wanted"),
            actor=stage.actor,
        )
        outcome.attempt(name, restore)


GESTURES: dict[str, Callable[[Stage, Gesture, GestureOutcome], None]] = {
    "take": _take,
    "take_text": _take_text,
    "take_run": _take_run,
    "take_alike": _take_alike,
    "accept": _accept,
    "absent": _absent,
    "clear": _clear,
    "remove": _remove,
    "only_here": _only_here,
    "restore": _restore,
}
