"""Rows for the pages of rules: one a cluster, a card an attribute, the lines of a change."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson
from django.db.models import Count, F, Q

from annotation.algorithms.attribute_types import AttributeType
from annotation.services.samples.worth import reasons_to_leave_out
from clustering.models import Cluster, ClusterFigures, Snapshot
from rules.algorithms.rule.rule import Alternative
from rules.algorithms.rule.sentences import place_in_words
from rules.models import Extraction, JudgedPage, Record, Rule
from rules.views.review.review_rows import marks_at, paths_of
from vertex.core.models import Job, Site

RULE_TASKS = (
    "rules.learn_rules",
    "rules.draft_rules",
    "rules.extract_records",
    "rules.export_records",
)
KIND_WORDS = {
    "xpath": ("good", "XPath"),
    "positional": ("good", "Position"),
    "naive_bayes": ("warning", "Naive Bayes"),
    "by_hand": ("unknown", "By hand"),
    "draft": ("warning", "Draft"),
    "none": ("bad", "No rule"),
}
MAX_LOOKED_AT = 20  # records, of which the one with most values is lit
MAX_DIFF_LINES = 2_000  # of a change of stylesheets


class RuleLine(NamedTuple):
    """A cluster with the rule that serves it, or the newest one."""

    cluster: Cluster
    rule: Rule | None
    n_versions: int
    n_pages: int | None  # of the cluster
    n_served: int  # pages that the rule extracted records from
    n_records: int
    kinds: Sequence[tuple[str, str, int]]  # tone, word, how many attributes
    waiting: Rule | None  # a newer version that does not serve yet
    left_out: str  # why nobody is asked to annotate it; blank where people are

    @property
    def coverage(self) -> float | None:
        return min(1.0, self.n_served / self.n_pages) if self.n_pages else None


class AttributeCard(NamedTuple):
    """All that is known of how one attribute is found."""

    name: str
    type: str
    tone: str
    word: str
    figure: Mapping[str, Any]
    alternatives: Sequence[Mapping[str, Any]]  # in the order in which a page tries them
    losers: Sequence[Mapping[str, Any]]
    failures: Sequence[Mapping[str, Any]]
    n_found: int | None  # pages that were no samples
    n_checked: int
    attribute: AttributeType
    written: Sequence[Mapping[str, Any]] = ()  # XPaths that somebody wrote
    sentence: str = ""  # where its values stand, in plain words
    # Of the vertical's other sites, where they are certain.
    opinion: Mapping[str, Any] | None = None

    @property
    def is_unlearnt(self) -> bool:
        """Return whether nothing at all was learnt of the attribute, and why is known."""
        has_any = self.alternatives or self.written or self.losers
        return bool(self.figure.get("reason")) and not has_any

    @property
    def share_found(self) -> float | None:
        if self.n_found is None or not self.n_checked:
            return None
        return self.n_found / self.n_checked


class UnlearntAttributes(NamedTuple):
    """Attributes of which nothing was learnt, for one reason, and missing on the same pages."""

    names: Sequence[str]
    reason: str
    missing_on: Sequence[str]


class ChangedLine(NamedTuple):
    """A line of the change between two stylesheets."""

    sign: str  # + - or blank; @ for a gap
    text: str


def rule_lines(site: Site, clusters: Sequence[Cluster]) -> list[RuleLine]:
    """Return a line for each cluster, in a fixed number of queries."""
    rules: dict[int, list[Rule]] = {}
    versions = Rule.objects.filter(cluster__in=clusters).defer("definition", "stylesheet")
    for rule in versions.order_by("-version").select_related("cluster"):
        rules.setdefault(rule.cluster_id, []).append(rule)
    cluster_figures = ClusterFigures.objects.current().filter(cluster__in=clusters)
    n_pages = dict(cluster_figures.values_list("cluster", "n_pages"))
    served = Extraction.objects.filter(site=site, n_records__gt=0, cluster__in=clusters)
    n_served = _counted(served.values_list("cluster").annotate(n=Count("pk")))
    records = Record.objects.there().filter(cluster__in=clusters)
    n_records = _counted(records.order_by().values_list("cluster").annotate(n=Count("pk")))
    left_out = reasons_to_leave_out(clusters)
    return [
        _line(
            cluster,
            rules.get(cluster.pk, []),
            n_pages=n_pages.get(cluster.pk),
            n_served=n_served.get(cluster.pk, 0),
            n_records=n_records.get(cluster.pk, 0),
            left_out=left_out.get(cluster.pk, ""),
        )
        for cluster in clusters
    ]


def _counted(rows: Any) -> dict[int, int]:
    return dict(rows)


def _line(
    cluster: Cluster,
    versions: list[Rule],
    *,
    n_pages: int | None,
    n_served: int,
    n_records: int,
    left_out: str,
) -> RuleLine:
    published = next((rule for rule in versions if rule.state == Rule.State.PUBLISHED), None)
    newest = versions[0] if versions else None
    shown = published or newest
    is_waiting = published is not None and newest is not None and newest.version > published.version
    return RuleLine(
        cluster=cluster,
        rule=shown,
        n_versions=len(versions),
        n_pages=n_pages,
        n_served=n_served,
        n_records=n_records,
        kinds=kinds_of(shown) if shown else [],
        waiting=newest if is_waiting else None,
        left_out=left_out,
    )


def kinds_of(rule: Rule) -> list[tuple[str, str, int]]:
    """Return the kinds of XPaths that a rule has, each with the number of its attributes."""
    n_by_kind = Counter(_kind_of(figure) for figure in rule.figures)
    return [
        (tone, word, n_by_kind[kind])
        for kind, (tone, word) in KIND_WORDS.items()
        if n_by_kind[kind]
    ]


def _kind_of(figure: Mapping[str, Any]) -> str:
    if figure.get("draft"):
        return "draft"
    return str(figure.get("kind", "none"))


def attribute_cards(rule: Rule) -> list[AttributeCard]:
    """Return what a rule knows of each attribute of its vertical."""
    figures = {figure["attribute"]: figure for figure in rule.figures}
    learnt = {entry["attribute"]: entry for entry in rule.definition.get("attributes", [])}
    return [
        _card(attribute, figures.get(attribute.name, {}), learnt.get(attribute.name, {}), rule)
        for attribute in rule.attributes
    ]


def _card(
    attribute: AttributeType, figure: Mapping[str, Any], learnt: Mapping[str, Any], rule: Rule
) -> AttributeCard:
    alternatives = learnt.get("alternatives", [])
    kind = _kind_of(figure) if figure else ""
    if not kind and alternatives:
        kind = alternatives[0]["kind"]
    tone, word = KIND_WORDS.get(kind, KIND_WORDS["by_hand"])
    return AttributeCard(
        name=attribute.name,
        type=attribute.type,
        tone=tone,
        word=word,
        figure=figure,
        alternatives=alternatives,
        losers=learnt.get("losers", []),
        failures=learnt.get("failures", []),
        n_found=rule.validation.get("found", {}).get(attribute.name),
        n_checked=rule.validation.get("pages", 0),
        attribute=attribute,
        written=[] if alternatives else figure.get("ways", []),
        sentence=place_in_words(
            [Alternative.from_json(entry) for entry in alternatives], is_multi=attribute.is_multi
        ),
        opinion=next(
            (entry for entry in rule.opinions if entry["attribute"] == attribute.name), None
        ),
    )


def joined_unlearnt(
    cards: Sequence[AttributeCard],
) -> tuple[list[AttributeCard], list[UnlearntAttributes]]:
    """Return the cards to be shown one by one, and together those that would all say the same."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for card in cards:
        if card.is_unlearnt:
            reason_and_pages = card.figure["reason"], tuple(card.figure["missing_on"])
            alike.setdefault(reason_and_pages, []).append(card.name)
    groups = [
        UnlearntAttributes(names, reason, missing_on)
        for (reason, missing_on), names in alike.items()
        if len(names) > 1
    ]
    joined = {name for group in groups for name in group.names}
    return [card for card in cards if card.name not in joined], groups


class LitSample(NamedTuple):
    """A stored page with what a rule finds on it, as the frame lights it."""

    snapshot: Snapshot
    marks: str


def lit_sample(rule: Rule) -> LitSample | None:
    """Return a page on which a rule finds much of what it looks for; None if it ran on none."""
    records = Record.objects.there().filter(rule=rule)
    records = records.select_related("snapshot__page__site", "snapshot__page_assets")
    # First those that are drawn with their styles and images.
    records = records.order_by(F("snapshot__page_assets").asc(nulls_last=True), "pk")
    looked_at = [(record.snapshot, record.nodes) for record in records[:MAX_LOOKED_AT]]
    if not looked_at:
        judged = JudgedPage.objects.filter(review__rule=rule)
        for page in judged.select_related("snapshot__page__site")[:MAX_LOOKED_AT]:
            looked_at += [(page.snapshot, line.nodes) for line in page.lines if line.nodes]
    if not looked_at:
        return None
    snapshot, nodes = max(looked_at, key=_n_values_seen)
    return lit(snapshot, nodes)


def _n_values_seen(looked_at: tuple[Snapshot, Mapping[str, Any]]) -> tuple[bool, int]:
    snapshot, nodes = looked_at
    return hasattr(snapshot, "page_assets"), len(nodes)


def lit(snapshot: Snapshot, nodes: Mapping[str, Any]) -> LitSample:
    """Return a page with the nodes of a record, by attribute, as marks."""
    return LitSample(snapshot, orjson.dumps(marks_at(snapshot, paths_of(nodes))).decode())


def changed_lines(before: str, after: str) -> list[ChangedLine]:
    """Return the lines in which two stylesheets differ, each with three lines around it."""
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="")
    changed = []
    for line in islice(diff, 2, 2 + MAX_DIFF_LINES):  # without the two lines of a header
        if line.startswith("@@"):
            changed.append(ChangedLine("@", ""))
        else:
            changed.append(ChangedLine(line[:1].strip(), line[1:]))
    return changed


def work_on_rules(site: Site) -> Job | None:
    """Return the unfinished job that learns, runs or exports at a site."""
    return Job.objects.unfinished().filter(site=site, task__in=RULE_TASKS).order_by("pk").first()


def last_failure(site: Site) -> Job | None:
    """Return the newest job of that kind if it failed."""
    last = Job.objects.finished().filter(site=site, task__in=RULE_TASKS).order_by("-pk").first()
    return last if last and last.state == Job.State.FAILED else None


def clusters_with_rules(site: Site, query: str) -> Any:
    """Return the clusters that have pages now or a rule, whose title or name has the words."""
    present = Cluster.objects.present().filter(site=site).values("pk")
    ruled = Rule.objects.of_site(site).values("cluster")
    clusters = Cluster.objects.filter(Q(pk__in=present) | Q(pk__in=ruled), site=site)
    for word in query.split():
        clusters = clusters.filter(Q(title__icontains=word) | Q(name__icontains=word))
    return clusters
