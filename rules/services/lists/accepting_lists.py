"""Make a list's table a rule: its columns become a vertical, its cells annotations to learn from.

What the person saw is what is annotated: the lists of a snapshot are the same whenever they
are looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.algorithms.anchors.anchoring import anchor_node
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate_page
from annotation.services.verticals.verticals import (
    VerticalPlan,
    assign_vertical,
    check_vertical,
    save_vertical,
)
from clustering.algorithms.tables.page_tables import ListTable
from clustering.models import Cluster, Snapshot
from clustering.services.pages.stored_trees import read_tree
from rules.algorithms.running.run_rule import extract_tree
from rules.models import Rule
from rules.services.learning.learning import learn_rule
from rules.services.learning.schemas import runnable
from rules.services.lists.list_clusters import cluster_for
from rules.services.lists.shown_tables import table_at
from rules.services.lists.table_views import TableView, merged_table
from rules.services.records.extracting import extraction_request
from rules.services.review.reviewing import propose_rule, publish_reviewed, why_not
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.jobs import JobExists, JobFailed, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

Marks = dict[Attribute | None, Sequence[AnnotatedValue]]

N_STEPS = 5


@dataclass(frozen=True, slots=True)
class ChosenColumn:
    """A column of the table and the attribute that it becomes."""

    column: str
    name: str
    type: str


def acceptance_request(
    *,
    snapshot: Snapshot,
    rank: int,
    columns: Sequence[ChosenColumn],
    vertical: str,
    publishes: bool,
    view: TableView | None = None,
) -> JobRequest:
    """Describe the job that annotates a page by the table of its list and learns the rule.

    Raises ValidationError, BadVertical.
    """
    if not columns:
        raise ValidationError("Choose at least one column.")
    targets = dict(view.target_by_column) if view else {}
    known = _table_with(table_at(snapshot, rank), columns, targets)
    if known is None or not {column.column for column in columns} <= set(known.names):
        raise ValidationError("The page has no such list any more. Open its table again.")
    check_vertical(VerticalPlan(vertical, tuple(_plans(columns, known))))
    site = snapshot.page.site
    params = {
        "snapshot": snapshot.pk,
        "rank": rank,
        "columns": [list(astuple(column)) for column in columns],
        "merged": targets,
        "vertical": vertical,
        "publishes": publishes,
    }
    return JobRequest(
        kind=ACCEPT_LIST,
        title=f"Make a rule of the list {snapshot.page.url}",
        site=site,
        params=params,
        key=f"learn_rules:{site.pk}",
        subject=snapshot.page.url,
        detail=params,
    )


def accept_list(run: JobRun) -> dict[str, Any]:
    """Annotate a page by its table, learn the rule and, if wished, publish it. Raises JobFailed."""
    params, actor = run.job.params, run.job.created_by
    snapshot = Snapshot.objects.select_related("page__site").filter(pk=params["snapshot"]).first()
    columns = [ChosenColumn(*chosen_column) for chosen_column in params["columns"]]
    whole_table = table_at(snapshot, params["rank"]) if snapshot else None
    table = _table_with(whole_table, columns, params.get("merged", {}))
    if snapshot is None or table is None:
        raise JobFailed("the page or its list is gone meanwhile; paste its address again")
    vertical = _vertical_with_columns(params["vertical"], columns, table, actor)
    _report_step(run, 1, "looking for the page's cluster")
    cluster = cluster_for(run, snapshot.page, vertical)
    assign_vertical(site=snapshot.page.site, cluster=cluster, vertical=vertical, actor=actor)
    _report_step(run, 2, "annotating the records")
    n_values, n_left = _annotate(run, snapshot, table, vertical, columns)
    _report_step(run, 3, "learning the rule")
    with run.kept_alive():
        rule = learn_rule(cluster=cluster, actor=actor)
    _report_step(run, 4, "comparing with the table")
    n_records, n_different = compare(rule, snapshot, table, columns)
    publication = (
        _published(rule, n_different, actor) if params["publishes"] else {"published": False}
    )
    return {
        "cluster": cluster.name,
        "version": rule.version,
        "records": n_records,
        "values": n_values,
        "left_out": n_left,
        "different": n_different,
        **publication,
    }


ACCEPT_LIST = JobKind("rules.accept_list", Job.Queue.LEARN, accept_list, "list.accepted")


def _table_with(
    whole_table: ListTable | None, columns: Iterable[ChosenColumn], targets: Mapping[str, str]
) -> ListTable | None:
    """Return a found table with the columns that were brought back, and merged as was asked."""
    if whole_table is None:
        return None
    shown = frozenset(column.column for column in columns)
    return merged_table(whole_table, TableView(shown, target_by_column=targets))


def compare(
    rule: Rule, snapshot: Snapshot, table: ListTable, columns: Iterable[ChosenColumn]
) -> tuple[int, int]:
    """Return how many records a rule finds, and how many cells are not as the table has them."""
    tree = read_tree(snapshot)
    records = [] if tree is None else extract_tree(tree, snapshot.page.url, runnable(rule)).records
    name_by_column = {column.column: column.name for column in columns}
    rows = list(table.rows())
    n_different = abs(len(records) - len(rows)) * len(name_by_column)
    for row, record in zip(rows, records, strict=False):
        for column, name in name_by_column.items():
            n_different += _plain(row.get(column)) != _plain(record.values.get(name))
    return len(records), n_different


def _plain(value: str | Sequence[str | None] | None) -> list[str | None]:
    """Return values by their words alone; None is the gap of a nested list."""
    if value is None:
        return []
    texts = [value] if isinstance(value, str) else value
    return [None if text is None else " ".join(text.split()) for text in texts]


def _report_step(run: JobRun, n_done: int, message: str) -> None:
    run.renew(n_done=n_done, n_total=N_STEPS, message=message)


def _plans(chosen_columns: Iterable[ChosenColumn], table: ListTable) -> list[AttributeType]:
    """Return the attributes that the chosen columns become."""
    column_by_name = {column.name: column for column in table.columns}
    return [
        AttributeType(choice.name, choice.type, is_multi=column_by_name[choice.column].is_multi)
        for choice in chosen_columns
    ]


def _vertical_with_columns(
    name: str, columns: Sequence[ChosenColumn], table: ListTable, actor: User | None
) -> Vertical:
    """Return the vertical of this name with an attribute for each column; its own ones stay."""
    plans = _plans(columns, table)
    with transaction.atomic():
        vertical = Vertical.objects.select_for_update().filter(name=name).first()
        if vertical is None:
            return save_vertical(
                name=name,
                attributes=plans,
                description="Made from the table of a list.",
                actor=actor,
            )
        present = vertical.attribute_types()
        names = {plan.name for plan in present}
        return save_vertical(
            name=name,
            attributes=[*present, *(plan for plan in plans if plan.name not in names)],
            actor=actor,
        )


def _annotate(
    run: JobRun,
    snapshot: Snapshot,
    table: ListTable,
    vertical: Vertical,
    columns: Sequence[ChosenColumn],
) -> tuple[int, int]:
    """Write down records and values; return how many values there are, how many lack an anchor."""
    tree = read_tree(snapshot)
    if tree is None:
        raise JobFailed("the bytes of the page are gone; paste its address again")
    attributes = {attribute.name: attribute for attribute in vertical.attributes.live()}
    with run.kept_alive():
        marked = _Marked(read_texts(tree), table)
        marks: Marks = {None: [AnnotatedValue(record=record) for record in marked.records]}
        marks |= {attributes[column.name]: marked.column(column.column) for column in columns}
    with transaction.atomic():
        run.renew()
        annotate_page(
            snapshot=snapshot,
            marks=marks,
            actor=run.job.created_by,
            source=Annotation.Source.SUGGESTION,
        )
    return marked.n_values, marked.n_left


class _Marked:
    """The cells of a table as annotations."""

    def __init__(self, page: PageTexts, table: ListTable) -> None:
        self.page = page
        self.records = table.records
        self.n_values = self.n_left = 0
        self._column_by_name = {column.name: column for column in table.columns}

    def column(self, name: str) -> list[AnnotatedValue]:
        """Return the marks of a column; a record without a value says that it has none."""
        marks = []
        column = self._column_by_name[name]
        for record, nodes, values in zip(self.records, column.nodes, column.values, strict=True):
            if not nodes:
                marks.append(AnnotatedValue(record=record))
            for node, value in zip(nodes, values, strict=True):
                mark = self._mark(node, value, record)
                if mark is not None:
                    marks.append(mark)
        return list(dict.fromkeys(marks))

    def _mark(self, path: str, value: str, record: tuple[str, ...]) -> AnnotatedValue | None:
        """Return the mark of a value, of its whole node where its words do not stand there so."""
        for text in (value, ""):
            with suppress(AnchorProblem):
                mark = AnnotatedValue(anchor_node(self.page, path, text), record)
                self.n_values += 1
                return mark
        self.n_left += 1
        return None


def _published(rule: Rule, n_different: int, actor: User | None) -> dict[str, Any]:
    """Publish a rule that gives back the accepted table, if the site's policy lets the actor.

    Returns whether it serves now and, if not, why.
    """
    if actor is None:
        return {"published": False}
    if n_different:
        why = (
            f"It differs from the table in {n_different:,} cells: look at it before you publish it."
        )
        return {"published": False, "why": why}
    refusal = why_not(rule, actor)
    try:
        if refusal:
            propose_rule(rule=rule, comment="Made from the table of a list.", actor=actor)
            return {"published": False, "why": f"{refusal} The rule is proposed."}
        publish_reviewed(rule=rule, actor=actor)
    except ValidationError as error:
        return {"published": False, "why": " ".join(error.messages)}
    _extract(rule.cluster, actor)
    return {"published": True}


def _extract(cluster: Cluster, actor: User) -> None:
    """Enqueue the extraction of the records where the actor may ask for it."""
    site: Site = cluster.site
    if actor.has_role(Role.OPERATOR, site):
        with suppress(JobExists):
            enqueue(extraction_request(site=site), actor=actor)
