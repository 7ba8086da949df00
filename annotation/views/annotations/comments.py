"""Comments on the nodes of a page, as a part of the pages that show it."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.algorithms.anchors.node_paths import AnchorProblem, PageNode
from annotation.models import Comment
from annotation.services.annotations import commenting
from annotation.services.page.stored_pages import PageUnfit, read_page
from clustering.models import Page, Snapshot
from vertex.core.models import Role
from vertex.core.views.access import check_role_at, needs_role, user_of
from vertex.core.views.page_reading import reads_pages

MAX_COMMENTS = 100
MAX_DIGITS = 18


@reads_pages
@needs_role(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def page_comments(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show the comments on a page; a post adds one."""
    page = get_object_or_404(
        Page.objects.select_related("site", "latest_snapshot"), site__name=name, pk=pk
    )
    error = ""
    if request.method == "POST":
        check_role_at(user_of(request), Role.EDITOR, name)
        error = _add(request, page)
        if not error and request.headers.get("HX-Request") != "true":
            return redirect("page", name=name, pk=pk)
    return _rendered(request, page, error)


def _add(request: HttpRequest, page: Page) -> str:
    """Add the comment that was posted; return what is wrong with it."""
    snapshot = _snapshot_of(request, page)
    xpath = request.POST.get("xpath", "")
    try:
        commenting.add_comment(
            page=page,
            text=request.POST.get("text", ""),
            xpath=xpath or _xpath_of(request.POST.get("number", ""), snapshot),
            attribute=request.POST.get("attribute", ""),
            snapshot=snapshot,
            actor=user_of(request),
        )
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def _snapshot_of(request: HttpRequest, page: Page) -> Snapshot | None:
    """Return the snapshot that is shown: the one that is named, or else the latest."""
    number = request.POST.get("snapshot", "") or request.GET.get("snapshot", "")
    if number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS:
        return Snapshot.objects.filter(page=page, pk=int(number)).first() or page.latest_snapshot
    return page.latest_snapshot


def _xpath_of(number: str, snapshot: Snapshot | None) -> str:
    """Return the path of the element of that number; blank for none. Raises ValidationError."""
    if not number or snapshot is None:
        return ""
    try:
        return PageNode(read_page(snapshot).element(int(number))).xpath
    except (AnchorProblem, PageUnfit, ValueError) as error:
        raise ValidationError(f"There is no such element: {error}.") from None


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def resolve_comment(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Settle a comment, or open it again."""
    comment = get_object_or_404(
        Comment.objects.select_related("page__site", "page__latest_snapshot"),
        page__site__name=name,
        pk=pk,
    )
    is_resolved = request.POST.get("open") != "yes"
    commenting.resolve_comment(comment=comment, is_resolved=is_resolved, actor=user_of(request))
    if request.headers.get("HX-Request") != "true":
        return redirect("page", name=name, pk=comment.page_id)
    return _rendered(request, comment.page, "")


def _rendered(request: HttpRequest, page: Page, error: str) -> HttpResponse:
    comments = Comment.objects.filter(page=page).select_related(
        "author", "resolved_by", "attribute"
    )
    snapshot = _snapshot_of(request, page)
    shown = list(comments.order_by("-id")[:MAX_COMMENTS])[::-1]
    numbers = commenting.element_numbers(shown, snapshot)
    context = {
        "site": page.site,
        "page": page,
        "snapshot": snapshot,
        "lines": [(comment, numbers.get(comment.pk)) for comment in shown],
        "n_open": comments.filter(resolved_at=None).count(),
        "can_comment": user_of(request).has_role(Role.EDITOR, page.site),
        "error": error,
        "typed": request.POST.get("text", "") if error else "",
        "xpath": request.POST.get("xpath", "") if error else "",
    }
    return render(request, "annotation/annotations/comments.html", context)
