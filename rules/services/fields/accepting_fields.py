"""Make fields found on a cluster's pages a rule: they become attributes, their values annotations.

What a person annotated on a page stays as it is. A page that does not show a field is left unknown:
that nothing is there would be a claim that nobody has checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.algorithms.anchors.anchoring import anchor_node
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute, Sample, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue, current_revision
from annotation.services.annotations.annotating import annotate, annotate_page, restore_revision
from annotation.services.samples import sampling
from annotation.services.verticals.verticals import (
    VerticalPlan,
    assign_vertical,
    check_vertical,
    save_vertical,
)
from clustering.algorithms.slots.fields import FoundField
from clustering.algorithms.slots.finding import SlotText
from clustering.dom.paths import element_paths
from clustering.models import Cluster, Page
from clustering.services.clusters.found_fields import ClusterFields, cluster_fields
from clustering.services.pages.stored_trees import read_tree
from rules.services.learning.learning import learn_rule
from rules.services.learning.schemas import vertical_of
from vertex.core.models import Job, User
from vertex.core.services.jobs.jobs import JobFailed, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, run_here

N_STEPS: Final = 4
MOST_FIELDS: Final = 60  # that become attributes at once


@dataclass(frozen=True, slots=True)
class ChosenField:
    """A found field and the attribute that it becomes."""

    slot: str  # its identifier
    name: str
    type: str


def fields_request(*, cluster: Cluster, fields: Sequence[ChosenField], vertical: str) -> JobRequest:
    """Describe the job that annotates a cluster's samples by fields and learns the rule.

    Raises ValidationError, BadVertical.
    """
    if not fields:
        raise ValidationError("Tick at least one field.")
    if len(fields) > MOST_FIELDS:
        raise ValidationError(f"Tick at most {MOST_FIELDS} fields at once.")
    plans = tuple(AttributeType(field.name, field.type) for field in fields)
    check_vertical(VerticalPlan(vertical, plans))
    params = {
        "cluster": cluster.name,
        "fields": [list(astuple(field)) for field in fields],
        "vertical": vertical,
    }
    return JobRequest(
        kind=ACCEPT_FIELDS,
        title=f"Make a rule of the fields of {cluster.name}",
        site=cluster.site,
        params=params,
        key=f"learn_rules:{cluster.site_id}",
        subject=cluster.name,
        detail=params,
    )


def accept_fields(run: JobRun) -> dict[str, Any]:
    """Annotate the samples of a cluster by the chosen fields, and learn the rule as a draft.

    1. Find the fields again, and give the vertical an attribute for each that is chosen.
    2. Draw samples where the cluster has none.
    3. Annotate the samples, but for what a person annotated on them.
    4. Learn the rule.

    Returns what was annotated, so that it can be undone. Raises JobFailed.
    """
    params, actor = run.job.params, run.job.created_by
    cluster = Cluster.objects.filter(site=run.site, name=params["cluster"]).first()
    if cluster is None:
        raise JobFailed(f"the cluster {params['cluster']} is gone; look at the site's clusters")
    choices = [ChosenField(*choice) for choice in params["fields"]]
    with run.kept_alive():
        of_cluster = cluster_fields(cluster)
    field_by_slot = {field.identifier: field for field in of_cluster.fields}
    if not all(choice.slot in field_by_slot for choice in choices):
        raise JobFailed("the pages have changed meanwhile; open their fields again")
    fields = [field_by_slot[choice.slot] for choice in choices]
    vertical = _vertical_with(params["vertical"], choices, fields, actor)
    assign_vertical(site=cluster.site, cluster=cluster, vertical=vertical, actor=actor)
    _report_step(run, 1, "drawing samples")
    _draw_samples_once(cluster)
    _report_step(run, 2, "annotating the samples")
    attributes = {attribute.name: attribute for attribute in vertical.attributes.live()}
    attribute_by_slot = {choice.slot: attributes[choice.name] for choice in choices}
    annotated = _annotate_samples(run, cluster, of_cluster, attribute_by_slot)
    _report_step(run, 3, "learning the rule")
    with run.kept_alive():
        rule = learn_rule(cluster=cluster, actor=actor)
    return {
        "cluster": cluster.name,
        "version": rule.version,
        "annotated": annotated,
        "pages": len({page for page, _, _ in annotated}),
    }


ACCEPT_FIELDS = JobKind("rules.accept_fields", Job.Queue.LEARN, accept_fields, "fields.accepted")


@transaction.atomic
def undo_fields(*, job: Job, actor: User | None) -> int:
    """Take back what a job annotated, where nobody changed it since; return on how many places."""
    n_undone = 0
    for page_id, attribute_id, revision in (job.result or {}).get("annotated", []):
        page = Page.objects.filter(pk=page_id, site=job.site).first()
        attribute = Attribute.objects.filter(pk=attribute_id).first()
        if page is None or attribute is None or current_revision(page, attribute) != revision:
            continue
        if revision > 1:
            restore_revision(page=page, attribute=attribute, revision=revision - 1, actor=actor)
        elif page.latest_snapshot is not None:
            annotate(snapshot=page.latest_snapshot, attribute=attribute, marks=[], actor=actor)
        n_undone += 1
    return n_undone


def vertical_name_for(cluster: Cluster) -> str:
    """Return the name of the vertical that a cluster describes; blank where it describes none."""
    vertical = vertical_of(cluster)
    return vertical.name if vertical else ""


def _report_step(run: JobRun, n_done: int, message: str) -> None:
    run.renew(n_done=n_done, n_total=N_STEPS, message=message)


def _vertical_with(
    name: str, choices: Sequence[ChosenField], fields: Sequence[FoundField], actor: User | None
) -> Vertical:
    """Return the vertical of this name with an attribute for each field; those that it has stay."""
    plans = [
        AttributeType(choice.name, choice.type, is_multi=field.is_multi)
        for choice, field in zip(choices, fields, strict=True)
    ]
    with transaction.atomic():
        vertical = Vertical.objects.select_for_update().filter(name=name).first()
        if vertical is None:
            description = "Made from fields that were found on pages."
            return save_vertical(name=name, attributes=plans, description=description, actor=actor)
        present = vertical.attribute_types()
        names = {attribute.name for attribute in present}
        new = [plan for plan in plans if plan.name not in names]
        return save_vertical(name=name, attributes=[*present, *new], actor=actor)


def _draw_samples_once(cluster: Cluster) -> None:
    if Sample.objects.filter(cluster=cluster).exists():
        return
    run_here(sampling.samples_request(site=cluster.site, cluster=cluster.name))


def _annotate_samples(
    run: JobRun,
    cluster: Cluster,
    of_cluster: ClusterFields,
    attribute_by_slot: dict[str, Attribute],
) -> list[tuple[int, int, int]]:
    """Annotate the samples; return each page and attribute with the revision that it has now."""
    annotated = []
    for sample in (
        Sample.objects.filter(cluster=cluster).in_order().select_related("snapshot__page")
    ):
        tree = read_tree(sample.snapshot)
        if tree is None:
            continue
        page = sample.snapshot.page
        by_hand = _attributes_by_hand(page)
        with run.kept_alive():
            texts = read_texts(tree)
            marks: dict[Attribute | None, Sequence[AnnotatedValue]] = {}
            for field, slot_texts in zip(of_cluster.fields, of_cluster.read(tree), strict=True):
                attribute = attribute_by_slot.get(field.identifier)
                if attribute is None or attribute.pk in by_hand:
                    continue
                values = _marks_of(texts, field, slot_texts)
                if values:
                    marks[attribute] = values
        with transaction.atomic():
            run.renew(message=f"annotating {page.url}"[:300])
            annotate_page(
                snapshot=sample.snapshot,
                marks=marks,
                actor=run.job.created_by,
                source=Annotation.Source.SUGGESTION,
            )
            annotated += [
                (page.pk, attribute.pk, current_revision(page, attribute))
                for attribute in marks
                if attribute is not None
            ]
    if not annotated:
        raise JobFailed("no sample shows any of these fields; tick others, or draw samples anew")
    return annotated


def _attributes_by_hand(page: Page) -> set[int]:
    """Return the attributes that a person or a file annotated on a page."""
    rows = Annotation.objects.live().filter(page=page, attribute__isnull=False)
    by_hand = rows.exclude(source=Annotation.Source.SUGGESTION)
    return set(by_hand.values_list("attribute", flat=True))


def _marks_of(
    page: PageTexts, field: FoundField, slot_texts: Sequence[SlotText]
) -> list[AnnotatedValue]:
    """Return a field's values on a page as annotations; none where one has no anchor."""
    if not slot_texts:
        return []
    if field.reading == "joined":
        places = [(_common_path([text.text.xpath for text in slot_texts]), "")]
    else:
        places = []
        for slot_text in slot_texts if field.is_multi else slot_texts[:1]:
            (value,) = field.values([slot_text.text.text])[:1] or [""]
            if field.is_image:
                places.append((f"{element_paths([slot_text.text.element])[0]}/@src", ""))
            else:
                places.append((slot_text.text.xpath, value))
    marks = []
    for xpath, value in places:
        with suppress(AnchorProblem):
            marks.append(AnnotatedValue(anchor_node(page, xpath, value)))
    return marks if len(marks) == len(places) else []


def _common_path(xpaths: Sequence[str]) -> str:
    """Return the path of the element that holds all of some texts.

    >>> _common_path(["/html/body/div/p[1]/text()[1]", "/html/body/div/p[2]/text()[1]"])
    '/html/body/div'
    """
    steps = [xpath.split("/")[:-1] for xpath in xpaths]
    common = []
    for level in zip(*steps, strict=False):
        if len(set(level)) > 1:
            break
        common.append(level[0])
    return "/".join(common)
