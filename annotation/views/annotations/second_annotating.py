"""The second annotation of some pages: blind for its maker, compared and settled by reviewers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.algorithms.anchors.anchoring import Anchor, anchor_node, find_text
from annotation.algorithms.anchors.node_paths import AnchorProblem, PageNode
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.models import Annotation, Assignment, Attribute, SecondAnnotation
from annotation.services.annotations import second_annotating as services
from annotation.services.annotations.comparing import first_rows
from annotation.services.page.stored_pages import PageUnfit, read_page
from clustering.models import Page, Snapshot
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell

KEYS = "123456789"
MAX_PAGES_SHOWN = 50


@needs_role(Role.VIEWER)
@require_GET
def second_annotations(request: HttpRequest, name: str) -> HttpResponse:
    """Show the pages that wait for a second person, and where two people differ."""
    site = get_object_or_404(Site, name=name)
    user = user_of(request)
    differing = SecondAnnotation.objects.disagreeing().filter(page__site=site)
    related = ("page", "attribute", "author", "snapshot")
    part = list_part(request, differing.select_related(*related), order=["id"])
    can_resolve = user.has_role(Role.REVIEWER, site)
    waiting = (
        services.pages_to_annotate_again(site, user) if user.has_role(Role.EDITOR, site) else []
    )
    context = {
        "site": site,
        "page": part,
        "rows": [(row, first_rows(row)) for row in part.rows] if can_resolve else [],
        "n_differ": differing.count(),
        "waiting": waiting[:MAX_PAGES_SHOWN],
        "n_waiting": len(waiting),
        "agreement": services.agreement_at(site),
        "can_resolve": can_resolve,
        "can_annotate": user.has_role(Role.EDITOR, site),
    }
    return render(request, "annotation/annotations/second_annotations.html", context)


@reads_pages
@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def annotate_again(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Annotate a page without seeing its first annotation."""
    page = get_object_or_404(Page.objects.select_related("site"), site__name=name, pk=pk)
    snapshot, attributes = _subject(page)
    user = user_of(request)
    refusal = _refusal(page, request)
    problems: dict[str, str] = {}
    if request.method == "POST" and not refusal:
        annotations, problems = _read(request.POST, snapshot, attributes)
        for attribute, anchors in annotations:
            services.annotate_again(
                snapshot=snapshot, attribute=attribute, anchors=anchors, actor=user
            )
        if not problems:
            tell(
                request, f"{len(annotations)} attributes of {page.url} are annotated a second time."
            )
            following = services.pages_to_annotate_again(page.site, user)
            if following:
                return redirect("annotate_again", name=name, pk=following[0].pk)
            return redirect("second_annotations", name=name)
    own_rows = SecondAnnotation.objects.filter(page=page, author=user)
    row_by_attribute = {row.attribute_id: row for row in own_rows}
    context = {
        "site": page.site,
        "page": page,
        "snapshot": snapshot,
        "refusal": refusal,
        "rows": [
            _row(attribute, index, row_by_attribute, request.POST, problems)
            for index, attribute in enumerate(attributes)
        ],
    }
    return render(
        request,
        "annotation/annotations/annotate_again.html",
        context,
        status=400 if problems else 200,
    )


def _subject(page: Page) -> tuple[Snapshot, list[Attribute]]:
    """Return the bytes that the first annotator saw, and the attributes that the page may have."""
    first = (
        Annotation.objects.live()
        .filter(page=page, attribute__isnull=False)
        .select_related("snapshot")
    )
    row = first.first()
    vertical = Assignment.objects.vertical_of_page(page)
    if row is None or vertical is None:
        raise Http404("Nobody has annotated this page yet.")
    return row.snapshot, list(vertical.attributes.live())


def _refusal(page: Page, request: HttpRequest) -> str:
    try:
        services.check_blind(page, user_of(request))
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def _read(
    posted: QueryDict, snapshot: Snapshot, attributes: list[Attribute]
) -> tuple[list[tuple[Attribute, list[Anchor]]], dict[str, str]]:
    """Return the annotation of each attribute, and what is wrong with the others."""
    annotations, problems = [], {}
    try:
        page = read_page(snapshot)
    except PageUnfit as error:
        return [], {"": str(error)}
    for attribute in attributes:
        try:
            anchors = _anchors(posted, attribute.name, page)
        except (AnchorProblem, ValueError) as error:
            problems[attribute.name] = str(error)
        else:
            if anchors is not None:
                annotations.append((attribute, anchors))
    return annotations, problems


def _anchors(posted: QueryDict, name: str, page: NumberedPage) -> list[Anchor] | None:
    """Return the values given for an attribute, None if it was left blank. Raises AnchorProblem."""
    if posted.get(f"absent-{name}"):
        return []
    texts = [text.strip() for text in posted.getlist(f"text-{name}")]
    numbers = posted.getlist(f"number-{name}")
    anchors = []
    for index, text in enumerate(texts):
        number = numbers[index] if index < len(numbers) else ""
        if number:
            anchors.append(anchor_node(page.texts, PageNode(page.element(int(number))).xpath, text))
        elif text:
            anchors.append(find_text(page.texts, text))
    return anchors or None


def _row(
    attribute: Attribute,
    index: int,
    row_by_attribute: dict[int, SecondAnnotation],
    posted: QueryDict,
    problems: dict[str, str],
) -> dict[str, Any]:
    """Return what the form shows of an attribute: what was typed, else this person's annotation."""
    name, annotated = attribute.name, row_by_attribute.get(attribute.pk)
    texts = posted.getlist(f"text-{name}")
    if not texts and annotated is not None:
        texts = [mark["quote"] for mark in annotated.marks]
    texts = texts or [""]
    return {
        "attribute": attribute,
        "key": KEYS[index] if index < len(KEYS) else "",
        "texts": [*texts, ""] if attribute.is_multi and texts[-1] else texts,
        "is_absent": bool(posted.get(f"absent-{name}"))
        or (annotated is not None and not annotated.marks),
        "problem": problems.get(name, ""),
    }


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def resolve_disagreement(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Settle which of two annotations stands."""
    row = get_object_or_404(
        SecondAnnotation.objects.select_related("page__site", "snapshot", "attribute"),
        page__site__name=name,
        pk=pk,
    )
    try:
        services.resolve(
            row=row, resolution=request.POST.get("resolution", ""), actor=user_of(request)
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        tell(request, f"{row.attribute.name}: {row.get_resolution_display().lower()}.")
    return redirect("second_annotations", name=name)
