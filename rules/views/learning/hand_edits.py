"""Change a rule by hand: its XPaths or its stylesheet, scored on the samples as one types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_POST

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Sample
from clustering.models import Cluster
from clustering.views.clusters.cluster_rows import cluster_of
from rules.algorithms.by_hand.sandbox import MAX_STYLESHEET, StylesheetRefused
from rules.algorithms.by_hand.scoring import AttributeScore
from rules.models import Rule
from rules.services.learning.schemas import vertical_of
from rules.services.learning.trial_runs import (
    RULE_CHECK,
    RULE_SAVE,
    HandEdit,
    Trial,
    compose,
    start_of,
    try_edit,
    xpaths_of,
)
from rules.services.review.hand_versions import NewerVersion, keep_version
from vertex.core.models import Role, Site
from vertex.core.services.people.heavy_work_turns import TurnTaken, own_turn
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell

XPATHS, STYLESHEET = "xpaths", "stylesheet"
MAX_FIELD_ROWS = 6  # of a field for XPaths
MAX_VERSION_DIGITS = 9


class XPathField(NamedTuple):
    """The XPaths of one attribute as they are written."""

    attribute: AttributeType
    text: str
    parts: Sequence[Mapping[str, Any]]  # of the texts that its XPaths take
    is_whole: bool

    @property
    def n_rows(self) -> int:
        return min(MAX_FIELD_ROWS, self.text.count("\n") + 1)


class ShownScore(NamedTuple):
    """How the edit does on one attribute, with the first page on which it is wrong."""

    score: AttributeScore
    url: str
    href: str
    expected: Sequence[str]
    got: Sequence[str]


@reads_pages
@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def edit_rule(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Show a version's XPaths or stylesheet to be changed; save changes as the next version."""
    cluster = cluster_of(get_object_or_404(Site, name=name), cluster_name)
    if request.method != "POST":
        base = _version(cluster, request.GET.get("version", "")) or _default_base(cluster)
        form = STYLESHEET if request.GET.get("as") == STYLESHEET else XPATHS
        return _page(request, cluster, HandEdit(base), form)
    edit, form = _edit_of(request, cluster), _form_of(request)
    if request.POST.get("show") == STYLESHEET:
        return _as_stylesheet(request, cluster, edit)
    try:
        with own_turn(user_of(request), RULE_SAVE):
            rule = keep_version(
                cluster=cluster,
                edit=edit,
                why=request.POST.get("why", ""),
                newest=_number(request.POST.get("newest", "")),
                newest_made_at=_moment(request.POST.get("newest_made_at", "")),
                actor=user_of(request),
            )
    except TurnTaken as error:
        return _page(request, cluster, edit, form, problems=[str(error)])
    except NewerVersion as error:
        problems = [str(error)]
        return _page(request, cluster, edit, form, problems=problems, newer=error.version)
    except ValidationError as error:
        return _page(request, cluster, edit, form, problems=error.messages)
    tell(
        request,
        f"Version {rule.version} of {cluster.title} is a draft. Review it, then publish it.",
    )
    return redirect(f"{reverse('rule', args=[name, cluster_name])}?version={rule.version}")


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def score_edit(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Show what an edit comes to on the samples; nothing is stored."""
    cluster = cluster_of(get_object_or_404(Site, name=name), cluster_name)
    edit = _edit_of(request, cluster)
    file = request.FILES.get("file")
    try:
        with own_turn(user_of(request), RULE_CHECK):
            trial = try_edit(cluster, edit)
    except TurnTaken:
        context = {"site": cluster.site, "cluster": cluster, "is_file": bool(file)}
        return render(request, "rules/learning/hand_waiting.html", context)
    context = {
        "site": cluster.site,
        "cluster": cluster,
        "trial": trial,
        "rows": _rows(trial),
        "n_samples": len(trial.runs),
        "file_name": file.name if file else "",
        "imported_text": _shown_text(trial) if file else "",
    }
    return render(request, "rules/learning/hand_score.html", context)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    edit: HandEdit,
    form: str,
    *,
    problems: Sequence[str] = (),
    newer: Rule | None = None,
) -> HttpResponse:
    vertical = vertical_of(cluster)
    attributes = vertical.attribute_types() if vertical else []
    newest = Rule.objects.filter(cluster=cluster).order_by("-version").first()
    typed = edit.stylesheet if isinstance(edit.stylesheet, str) else None
    text = typed if typed is not None else start_of(cluster, edit.base, attributes)
    context = {
        "site": cluster.site,
        "cluster": cluster,
        "vertical": vertical,
        "base": edit.base,
        "form": form,
        "fields": _fields(edit, attributes) if form == XPATHS else [],
        "text": text,
        "is_import": edit.is_import,
        "why": request.POST.get("why", ""),
        "problems": problems,
        "newer": newer,
        "newest": newest.version if newest else 0,
        "newest_made_at": newest.made_at.isoformat() if newest else "",
        "next_version": newest.version + 1 if newest else 1,
        "max_megabytes": MAX_STYLESHEET // 1024**2,
    }
    return render(request, "rules/learning/hand_edit.html", context, status=409 if newer else 200)


def _as_stylesheet(request: HttpRequest, cluster: Cluster, edit: HandEdit) -> HttpResponse:
    """Show the stylesheet that changed XPaths come to, to be changed further."""
    vertical = vertical_of(cluster)
    try:
        text, _ = compose(cluster, edit, vertical.attribute_types() if vertical else [])
    except StylesheetRefused as refused:
        return _page(request, cluster, edit, XPATHS, problems=[str(refused)])
    return _page(request, cluster, HandEdit(edit.base, text), STYLESHEET)


def _fields(edit: HandEdit, attributes: Sequence[AttributeType]) -> list[XPathField]:
    written_before = xpaths_of(edit.base, attributes)
    fields = []
    for attribute in attributes:
        before = written_before[attribute.name]
        lines = edit.xpaths.get(attribute.name, before.xpaths)
        parts = [selection.as_json() for selection in before.selections if not selection.is_whole]
        is_whole = attribute.name in edit.whole
        fields.append(XPathField(attribute, "\n".join(lines), parts, is_whole))
    return fields


def _edit_of(request: HttpRequest, cluster: Cluster) -> HandEdit:
    """Return what somebody wrote or uploaded."""
    file = request.FILES.get("file")
    if file is not None:
        return HandEdit(None, file.read(MAX_STYLESHEET + 1))
    base = _version(cluster, request.POST.get("base", ""))
    if _form_of(request) == STYLESHEET:
        is_import = request.POST.get("imported") == "yes"
        return HandEdit(None if is_import else base, request.POST.get("stylesheet", ""))
    vertical = vertical_of(cluster)
    names = [attribute.name for attribute in vertical.attribute_types()] if vertical else []
    xpaths = {
        name: request.POST[f"xpaths-{name}"].replace("\0", "").replace("\r", "").split("\n")
        for name in names
        if f"xpaths-{name}" in request.POST
    }
    whole = frozenset(name for name in names if request.POST.get(f"whole-{name}") == "yes")
    return HandEdit(base, None, xpaths, whole)


def _form_of(request: HttpRequest) -> str:
    return STYLESHEET if request.POST.get("form") == STYLESHEET else XPATHS


def _default_base(cluster: Cluster) -> Rule | None:
    """Return the version that is changed by default: the published one, or else the newest."""
    rules = Rule.objects.filter(cluster=cluster).order_by("-version")
    return rules.filter(state=Rule.State.PUBLISHED).first() or rules.first()


def _version(cluster: Cluster, text: str) -> Rule | None:
    """Return the version with a number; None where there is no number. Raises Http404."""
    number = _number(text)
    if number is None:
        return None
    rule = Rule.objects.filter(cluster=cluster, version=number).select_related("cluster").first()
    if rule is None:
        raise Http404(f"{cluster.name} has no version {number} of its rule.")
    return rule


def _number(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_VERSION_DIGITS
    return int(text) if is_number else None


def _moment(text: str) -> datetime | None:
    """Return the moment that the page was given, None for anything else."""
    try:
        return parse_datetime(text)
    except ValueError:  # written like one, and none: a 30th of February
        return None


def _shown_text(trial: Trial) -> str:
    """Return an uploaded text as the field may show it; blank where it is none."""
    text = trial.stylesheet
    return "" if "\0" in text or len(text) > MAX_STYLESHEET else text


def _rows(trial: Trial) -> list[ShownScore]:
    ranks = dict(Sample.objects.filter(cluster=trial.cluster).values_list("snapshot", "rank"))
    return [_row(trial, score, ranks) for score in trial.scores]


def _row(trial: Trial, score: AttributeScore, ranks: Mapping[int, int]) -> ShownScore:
    if not score.examples:
        return ShownScore(score, "", "", (), ())
    first = score.examples[0]
    snapshot, site = trial.runs[first.page].snapshot, trial.cluster.site.name
    rank = ranks.get(snapshot.pk)
    parts = [site, snapshot.page_id] if rank is None else [site, trial.cluster.name, rank]
    href = f"{reverse('annotate_page', args=parts)}?attribute={score.name}"
    return ShownScore(score, snapshot.page.url, href, first.expected, first.extracted)
