"""The fields that a cluster's pages show, and the rule that those that are ticked become."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseFormSet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import Vertical
from annotation.services.verticals.verticals import BadVertical
from clustering.algorithms.slots.fields import FIRST_SHOWN, FoundField
from clustering.models import Cluster
from clustering.services.clusters.found_fields import cluster_fields
from rules.forms import FieldsForm, FoundFieldFormSet
from rules.services.fields import accepting_fields
from vertex.core.models import Job, Role
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell

MOST_VERTICALS = 200


@reads_pages
@needs_role(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def found_fields(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Show the fields of a cluster; an editor ticks those that become a rule."""
    clusters = Cluster.objects.select_related("site")
    cluster = get_object_or_404(clusters, site__name=name, name=cluster_name)
    can_edit = user_of(request).has_role(Role.EDITOR, cluster.site)
    of_cluster = cluster_fields(cluster)
    shown = of_cluster.shown()
    is_all = "all" in request.GET
    listed = shown if is_all else shown[:FIRST_SHOWN]
    posted = request.POST if request.method == "POST" and can_edit else None
    form = FieldsForm(posted, initial={"vertical": accepting_fields.vertical_name_for(cluster)})
    rows = FoundFieldFormSet(posted, initial=[_initial(field) for field in listed], prefix="fields")
    if posted is not None and form.is_valid() and rows.is_valid():
        job = _requested(request, form, rows, cluster)
        if job is not None:
            return redirect("field_job", name, job.pk)
    context = {
        "site": cluster.site,
        "cluster": cluster,
        "of_cluster": of_cluster,
        "rows": list(zip(rows.forms, listed, strict=False)),
        "n_shown": len(shown),
        "n_more": len(shown) - len(listed),
        "form": form,
        "formset": rows,
        "verticals": Vertical.objects.order_by("name").values_list("name", flat=True)[
            :MOST_VERTICALS
        ],
        "can_edit": can_edit,
    }
    status = 400 if posted is not None else 200
    return render(request, "rules/learning/found_fields.html", context, status=status)


@needs_role(Role.VIEWER)
@require_GET
def field_job(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show how far the rule of some fields is, and lead to it when it is learnt."""
    jobs = Job.objects.select_related("site", "created_by")
    task = accepting_fields.ACCEPT_FIELDS.task
    job = get_object_or_404(jobs, site__name=name, pk=pk, task=task)
    if job.state == Job.State.DONE and isinstance(job.result, dict):
        tell(
            request,
            f"{job.result['pages']:,} samples are annotated, and the rule is a draft.",
            undo_url=reverse("undo_fields", args=[name, job.pk]),
        )
        address = reverse("rule", args=[name, job.result["cluster"]])
        address = f"{address}?version={job.result['version']}"
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=204, headers={"HX-Redirect": address})
        return redirect(address)
    context = {
        "site": job.site,
        "job": job,
        "is_live": not job.is_finished,
        "cluster_name": job.params["cluster"],
        "can_operate": user_of(request).has_role(Role.OPERATOR, job.site),
    }
    return render(request, "rules/learning/field_job.html", context)


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def undo_fields(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Take back the annotations that a rule of fields was learnt from."""
    task = accepting_fields.ACCEPT_FIELDS.task
    job = get_object_or_404(Job, site__name=name, pk=pk, task=task, state=Job.State.DONE)
    n_undone = accepting_fields.undo_fields(job=job, actor=user_of(request))
    messages.info(
        request,
        f"{n_undone:,} annotations are taken back. The draft stays until the rule is learnt again.",
    )
    return redirect("found_fields", name, job.params["cluster"])


def _initial(field: FoundField) -> dict[str, Any]:
    name = f"{field.list_name}.{field.name}" if field.list_name else field.name
    return {"slot": field.identifier, "name": name, "type": field.type}


def _requested(
    request: HttpRequest, form: FieldsForm, rows: BaseFormSet[Any], cluster: Cluster
) -> Job | None:
    """Ask for the rule; what is wrong is told by the form, and nothing comes back."""
    chosen_rows = [row for row in rows.cleaned_data if row.get("takes")]
    fields = [
        accepting_fields.ChosenField(row["slot"], row["name"], row["type"]) for row in chosen_rows
    ]
    try:
        job_request = accepting_fields.fields_request(
            cluster=cluster, fields=fields, vertical=form.cleaned_data["vertical"]
        )
        return enqueue(job_request, actor=user_of(request))
    except JobExists as error:
        form.add_error(None, f"{error}. Wait until it is done, then learn this rule.")
    except BadVertical as error:
        form.add_error(None, [f"{problem[:1].upper()}{problem[1:]}." for problem in error.problems])
    except ValidationError as error:
        form.add_error(None, error.messages)
    return None
