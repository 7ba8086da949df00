"""Draft one cluster's rule: from what its pages declare, from known records, from other sites."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.declared_labels import KnownByAttribute, label_declared
from annotation.algorithms.fields.drafting import FieldDraft
from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.profiles import SiteProfile
from annotation.algorithms.fields.recognising import ConfirmedPage, recognise_fields
from annotation.algorithms.suggestions.spots import SpotIndex
from annotation.models import Attribute, Vertical
from clustering.algorithms.slots.finding import SlotFinder
from clustering.models import Cluster, Snapshot
from clustering.services.pages.stored_trees import read_tree
from rules.algorithms.drafting.confirmed_rules import learn_from_confirmed
from rules.algorithms.drafting.label_rules import (
    LabelledField,
    fields_of_labels,
    marks_of_labels,
    without_refuted,
)
from rules.algorithms.drafting.slot_rules import (
    ClusterPage,
    learn_from_marks,
    marks_of_slots,
)
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.services.fields.field_profiles import pages_of
from rules.services.learning.sample_pages import annotated_as_held, annotated_page
from rules.services.learning.versions import figure_of
from rules.services.records.known_records import known_from_records

MIN_PAGES: Final = 4  # of a cluster, to tell what varies
VERTICAL, DECLARED, KNOWN = "vertical", "declared", "known"  # what a field was drafted from
WHY_DECLARED: Final = "the pages declare it, and show it there on {n} of {n_labelled} pages"
WHY_KNOWN: Final = "records of the same things elsewhere have it on {n} of {n_labelled} pages"


@dataclass(frozen=True, slots=True)
class DraftedField:
    """What is said of a field that was drafted."""

    source: str
    certainty: float
    why: str


@dataclass(frozen=True, slots=True)
class DraftedRule:
    """A draft before it is saved."""

    rule: ClusterRule
    stylesheet: str
    figures: list[dict[str, Any]]
    snapshots: list[Snapshot]  # the pages that were looked at
    annotated: list[Snapshot]  # those of them that a person annotated


@dataclass(frozen=True, slots=True)
class _Pages:
    snapshots: list[Snapshot]
    pages: list[ClusterPage]

    @property
    def trees(self) -> list[Any]:
        return [page.tree for page in self.pages]

    @property
    def confirmed(self) -> list[ConfirmedPage]:
        """Return what a person says that the annotated pages show."""
        return [
            ConfirmedPage(number, annotated_as_held(page.annotated))
            for number, page in enumerate(self.pages)
            if page.annotated is not None
        ]


def make_draft(
    cluster: Cluster,
    vertical: Vertical,
    profiles: Sequence[SiteProfile],
    *,
    min_certainty: float = 0.0,
    annotated: Sequence[Snapshot] = (),
) -> DraftedRule | None:
    """Return the draft of a cluster's rule; None where no field was recognised.

    1. What the pages declare is looked for in them; then what records elsewhere know of
       the same things.
    2. The slots of the other fields are compared with those of other sites.
    3. The learner gets the texts of all of these as if they had been annotated, and what a person
       did annotate as it is.
    """
    attributes = vertical.attribute_types()
    read = _read_pages(cluster, annotated)
    if len(read.pages) < MIN_PAGES:
        return None
    labelled = _labelled_fields(read, attributes, list(vertical.attributes.live()))
    drafts = _recognised(read, attributes, profiles, besides={f.field for f, _ in labelled})
    statements = {field.field: _statement(field, source) for field, source in labelled}
    statements |= {d.field: DraftedField(VERTICAL, d.certainty, d.why) for d in drafts}
    statements = {
        field: entry for field, entry in statements.items() if entry.certainty >= min_certainty
    }
    fields = [field for field, _ in labelled if field.field in statements]
    drafts = [draft for draft in drafts if draft.field in statements]
    if not statements:
        return None
    rule = _learn(read, fields, drafts, attributes)
    stylesheet = stylesheet_of(rule, title=f"{cluster.site.name}: {cluster.title}")
    figures = _figures(cluster, read, rule, stylesheet, attributes, statements)
    return DraftedRule(rule, stylesheet, figures, read.snapshots, list(annotated))


def _read_pages(cluster: Cluster, annotated: Sequence[Snapshot]) -> _Pages:
    """Return some pages of a cluster that have a tree, the annotated ones first."""
    ids = {snapshot.pk for snapshot in annotated}
    others = [snapshot for snapshot in pages_of(cluster) if snapshot.pk not in ids]
    read = _Pages([], [])
    for snapshot in [*annotated, *others]:
        by_hand = annotated_page(snapshot) if snapshot.pk in ids else None
        tree = by_hand.tree if by_hand is not None else read_tree(snapshot)
        if tree is not None:
            read.snapshots.append(snapshot)
            read.pages.append(ClusterPage(snapshot.page.url, tree, by_hand))
    return read


def _labelled_fields(
    read: _Pages, attributes: Sequence[AttributeType], rows: Sequence[Attribute]
) -> list[tuple[LabelledField, str]]:
    """Return the fields that declarations, or else known values, agree on, with which of both."""
    finder = SlotFinder(read.trees)
    slots = finder.find()
    labels = label_declared(read.trees, finder.texts, attributes)
    declared = fields_of_labels(slots, labels, attributes)
    names = {field.field for field in declared}
    others = [attribute for attribute in attributes if attribute.name not in names]
    known = _known_values(read, [row for row in rows if row.name not in names])
    if not any(known):
        return [(field, DECLARED) for field in declared]
    labels = label_declared(read.trees, finder.texts, others, known)
    return [
        *((field, DECLARED) for field in declared),
        *((field, KNOWN) for field in fields_of_labels(slots, labels, others)),
    ]


def _known_values(read: _Pages, rows: Sequence[Attribute]) -> list[KnownByAttribute]:
    """Return what records know of the things on the pages, page by page."""
    if not rows:
        return []
    known: list[KnownByAttribute] = []
    for snapshot, tree in zip(read.snapshots, read.trees, strict=True):
        heading = SpotIndex(tree, snapshot.page.url).heading
        known.append(known_from_records(snapshot, rows, heading.text if heading else ""))
    return known


def _recognised(
    read: _Pages,
    attributes: Sequence[AttributeType],
    profiles: Sequence[SiteProfile],
    *,
    besides: Collection[str],
) -> list[FieldDraft]:
    known = KnownFields(
        [attribute.name for attribute in attributes],
        frozenset(attribute.name for attribute in attributes if attribute.is_multi),
        profiles,
    )
    drafts = recognise_fields(read.trees, known, shipped_weights(), read.confirmed)
    return [draft for draft in drafts if draft.field not in besides]


def _statement(field: LabelledField, source: str) -> DraftedField:
    ranked = field.ranked
    why = WHY_DECLARED if source == DECLARED else WHY_KNOWN
    text = why.format(n=ranked.n_agreed, n_labelled=ranked.n_labelled)
    return DraftedField(source, ranked.certainty, text)


def _learn(
    read: _Pages,
    fields: Sequence[LabelledField],
    drafts: Sequence[FieldDraft],
    attributes: Sequence[AttributeType],
) -> ClusterRule:
    if read.confirmed:
        return learn_from_confirmed(read.pages, drafts, attributes)
    of_slots = marks_of_slots(len(read.pages), drafts, attributes)
    of_labels = marks_of_labels(len(read.pages), fields)
    marks = [{**slot, **label} for slot, label in zip(of_slots, of_labels, strict=True)]
    return without_refuted(learn_from_marks(read.pages, marks, attributes), read.pages, fields)


def _figures(
    cluster: Cluster,
    read: _Pages,
    rule: ClusterRule,
    stylesheet: str,
    attributes: Sequence[AttributeType],
    statements: dict[str, DraftedField],
) -> list[dict[str, Any]]:
    """Return what each attribute's rule is and measured, as the command line prints it."""
    unversioned = RunnableRule(cluster.name, 0, stylesheet, list(attributes))
    missing: dict[str, list[str]] = {attribute.name: [] for attribute in attributes}
    for page in read.pages:
        extracted = extract_tree(page.tree, page.url, unversioned)
        shown = {name for record in extracted.records for name in record.values}
        for name in missing.keys() - shown:
            missing[name].append(page.url)
    figures = []
    for line in rule.attributes:
        name = line.attribute
        n_annotated = sum(name in page.values for page in read.confirmed)
        figure = figure_of(line, n_annotated=n_annotated, missing_on=missing[name])
        entry = statements.get(name)
        if line.alternatives:
            figure["draft"] = True
        else:
            figure["reason"] = line.reason if entry else "nothing on the pages is like it"
        if entry is None:
            figure |= {"source": VERTICAL, "certainty": 0.0}
        else:
            certainty = round(entry.certainty, 3) if line.alternatives else 0.0
            figure |= {"source": entry.source, "certainty": certainty, "why": entry.why}
        figures.append(figure)
    return figures
