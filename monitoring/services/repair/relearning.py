"""Learn a rule for a changed cluster from its golden values, and run it beside the old one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.records.finding import find_records
from clustering.dom.paths import element_paths
from monitoring.algorithms.changed_proposals import ChangedProposals, propose_changed
from monitoring.algorithms.changed_values import ChangeWeights, shipped_weights
from monitoring.algorithms.known_values import Value, forms_of, plain, same_value
from monitoring.algorithms.record_matching import match_list
from monitoring.algorithms.repair import (
    FoundValue,
    KnownPage,
    ProposedPage,
    choose_pages,
    propose_annotations,
    stands_among_words,
)
from monitoring.algorithms.rule_reuse import FieldVerdict, Versions, field_test_of_rule
from monitoring.algorithms.value_places import ValueFrame, ValueIndex
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_text, read_tree
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.list_learner import learn_records
from rules.algorithms.learning.record_samples import (
    RecordSamples,
    copy_of_record,
    path_of_counterpart,
)
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import OF_PAGE, ClusterRule
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import RunnableRule, ShownValue
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.models import Rule

MAX_ANNOTATED_PAGES: Final = 8
MAX_ADDED_PAGES: Final = 3  # in each round, where the rule fails
MAX_UNANNOTATED_PAGES: Final = 18
MAX_ROUNDS: Final = 3
MIN_PRECISION: Final = 0.97  # of an attribute; below it the attribute is not proposed
MIN_RECALL: Final = 0.5  # of an attribute; below it too little was found to propose it
# Stored values may be wrong: where fewer are given, the new pages decide.
# Among the values found again, where a wrong one may stand in a menu.
MIN_PRECISION_OF_FOUND: Final = 0.9
MIN_AGREEMENT: Final = 0.5  # with the stored values, corrected for chance
MAX_SHOWING_SHARE: Final = 0.1  # of the pages, that show a value which tells that it is theirs
MAX_CHANCE_PAGES: Final = 1  # that show a wrong stored value all the same
MAX_CHANCE_SHARE: Final = 0.1  # of the pages, that such ones may be
MIN_SHARE_OF_ATTRIBUTES: Final = 0.5  # that the old rule gave; with fewer somebody must look

MAX_LISTS_TO_MATCH: Final = 5  # of a page
MAX_LIST_PAGES: Final = 8  # from which a list's rule is learnt
MAX_RECORDS_OF_PAGE: Final = 15  # that are annotated
MAX_UNANNOTATED_LIST_PAGES: Final = 15
MAX_LOST_RECORDS: Final = 0.1  # share of the records found again that the rule may not give

Pairs = Iterator[tuple[Value, Value]]  # a golden value, and what the rule extracts in its place


@dataclass(frozen=True, slots=True)
class OldPage:
    """A page as it was, with what the rule in force extracts from it."""

    page: RawPage
    golden: Sequence[Line]

    @property
    def url(self) -> str:
        return self.page.url


@dataclass(frozen=True, slots=True)
class RelearntRule:
    """A rule learnt from values that were found again, and what it does on all known pages."""

    definition: ClusterRule
    stylesheet: str
    annotated: Sequence[ProposedPage]
    proposed: Sequence[ProposedPage]
    unannotated: Sequence[str]  # URLs
    verdict: FieldVerdict
    # By attribute, with a certainty where all stored values may have changed: nothing tells
    # what is right.
    measures: Mapping[str, dict[str, Any]]
    # The attributes whose rule is right, as far as the new pages tell.
    right_on_new_pages: frozenset[str] = frozenset()
    # By URL, the attributes that the rule gives though the page seems not to have them.
    spurious: Mapping[str, set[str]] = field(default_factory=dict)
    # The attributes that had values and are not proposed, and the page on which to annotate them:
    # it still shows the values of most. Blank where none does.
    silent: Sequence[str] = ()
    page_to_annotate: str = ""


def compare_versions(
    rule: RunnableRule, old: Iterable[OldPage], fresh: Mapping[str, FreshPage]
) -> list[Versions]:
    """Return what is known of the old pages beside what a rule makes of the new ones."""
    versions = []
    for page in old:
        new = fresh.get(page.url)
        if new is not None:
            lines = extract_lines(rule, new)
            versions.append(Versions(page.url, page.golden, lines, read_text(new)))
    return versions


def relearn(
    rule: Rule,
    old: Sequence[OldPage],
    fresh: Mapping[str, FreshPage],
    urls: Iterable[str],
    weights: ChangeWeights | None = None,
) -> RelearntRule | None:
    """Return the rule of a changed cluster; None where nothing to learn from is found again.

    `old` are known pages of the cluster, `urls` all addresses of the cluster as it is now. A rule
    that fails on pages whose values were found is learnt again with some of them; an attribute that
    stays unreliable is dropped, and the others are proposed without it. `weights` are those by
    which changed values are found; without them the shipped ones.
    """
    if any(line.index is not None for page in old for line in page.golden):
        return relearn_list(rule, old, fresh, urls)
    old = [_without_separators(page) for page in old]
    known = _known_pages(old, fresh)
    proposed = propose_annotations(known, rule.attributes)
    task = _LearningTask(rule, old, fresh, sorted(urls), proposed)
    relearnt = _learn_with_changed(task, known, weights or shipped_weights())
    judged = None if relearnt is None else _judged_by_field(relearnt, rule.attributes, old)
    return None if judged is None else _with_silent_attributes(judged, known)


def _learn_with_changed(
    task: _LearningTask, known: Sequence[KnownPage], weights: ChangeWeights
) -> RelearntRule | None:
    """Return a rule for which values that all changed are told by how they look.

    So is an attribute for which no rule could be learnt, unless another one loses its rule thereby.
    """

    def learn(changing: Sequence[AttributeType]) -> RelearntRule | None:
        changed = propose_changed(known, task.proposed, changing, weights)
        learnt = _learn_reliably(replace(task, proposed=changed.pages))
        return None if learnt is None else _with_certainty(learnt, changed)

    doubtful = _doubtful_attributes(known, task.proposed, task.rule.attributes)
    relearnt = learn(doubtful)
    has_rule = set[str]() if relearnt is None else relearnt.measures.keys()
    had = {name for page in known for name in page.golden}
    lost = [
        attribute
        for attribute in task.rule.attributes
        if not attribute.is_constant
        and attribute.name in had - has_rule
        and attribute not in doubtful
    ]
    again = learn([*doubtful, *lost]) if lost else None
    return again if again is not None and again.measures.keys() > has_rule else relearnt


def _doubtful_attributes(
    known: Sequence[KnownPage],
    found: Sequence[ProposedPage],
    attributes: Iterable[AttributeType],
) -> list[AttributeType]:
    """Return the attributes whose values may all have changed: hardly any was found again.

    What most pages show between the words that stood around the values is no chance.
    """
    doubtful = []
    for attribute in attributes:
        if attribute.is_constant:
            continue
        pairs = []
        n_found = 0
        for page, proposed in zip(known, found, strict=True):
            if attribute.name in page.golden:
                texts = [value.place.text for value in proposed.values.get(attribute.name, ())]
                n_found += bool(texts)
                golden = forms_of(attribute.type, page.golden[attribute.name])
                pairs.append((golden, forms_of(attribute.type, texts)))
        is_among_words = stands_among_words(known, attribute) and 2 * n_found > len(pairs)
        if pairs and not is_among_words and _agreement(pairs) < MIN_AGREEMENT:
            doubtful.append(attribute)
    return doubtful


def _with_certainty(relearnt: RelearntRule, changed: ChangedProposals) -> RelearntRule:
    """Return a rule that tells of each attribute whose values all changed how sure they are."""
    measures = dict(relearnt.measures)
    for name, certainty in changed.certainty_by_name.items():
        if name in measures:
            measures[name] = measures[name] | {"certainty": certainty}
    return replace(relearnt, measures=measures)


def _learn_reliably(task: _LearningTask) -> RelearntRule | None:
    """Return a rule learnt again where it fails, without unreliable parts; None without values."""
    annotated = choose_pages(task.proposed, MAX_ANNOTATED_PAGES)
    if not annotated:
        return None
    relearnt = _learn(task, annotated)
    attributes = task.rule.attributes
    for _ in range(MAX_ROUNDS - 1):
        unreliable = _unreliable_attributes(relearnt, attributes)
        if relearnt.verdict.has_passed and not unreliable and not relearnt.spurious:
            break
        failing = _failing_pages(relearnt)
        if not failing:
            break
        annotated = [*annotated, *failing[:MAX_ADDED_PAGES]]
        relearnt = _learn(task, annotated)
    unreliable = _unreliable_attributes(relearnt, attributes)
    return _learn(task, annotated, unreliable) if unreliable else relearnt


def _without_separators(page: OldPage) -> OldPage:
    """Return a page without the stored texts that only part its several values, such as commas."""
    golden = []
    for line in page.golden:
        if line.record is None:
            golden.append(line)
            continue
        values = {name: _telling_texts(value) for name, value in line.record.values.items()}
        golden.append(replace(line, outcome=replace(line.record, values=values)))
    return replace(page, golden=golden)


def _telling_texts(value: ShownValue) -> ShownValue:
    """Return a value; of several texts those that are more than a comma or the like, if any is."""
    if isinstance(value, str):
        return value
    return [text for text in value if text is None or plain(text)] or value


def _judged_by_field(
    relearnt: RelearntRule, attributes: Sequence[AttributeType], old: Iterable[OldPage]
) -> RelearntRule | None:
    """Return a rule that passes if each attribute does and most are left; None if none is left."""
    if not relearnt.measures:
        return None
    had = {name for page in old for line in page.golden for name in line.values}
    has_most = len(relearnt.measures) >= MIN_SHARE_OF_ATTRIBUTES * len(had)
    is_reliable = not _unreliable_attributes(relearnt, attributes)
    verdict = relearnt.verdict
    has_passed = verdict.n_passed > 0 and is_reliable and has_most
    return replace(relearnt, verdict=replace(verdict, has_passed=has_passed))


def _with_silent_attributes(relearnt: RelearntRule, known: Sequence[KnownPage]) -> RelearntRule:
    """Return a rule with what it leaves out, and the page that would settle most of it."""
    had = {name for page in known for name in page.golden}
    silent = sorted(had - relearnt.measures.keys())
    best, most = "", 0
    for page in known:
        golden_values = [page.golden[name] for name in silent if name in page.golden]
        n_shown = sum(_is_shown(golden, page.page.texts.whole) for golden in golden_values)
        if n_shown > most:
            best, most = page.url, n_shown
    return replace(relearnt, silent=silent, page_to_annotate=best)


def _known_pages(old: Iterable[OldPage], fresh: Mapping[str, FreshPage]) -> list[KnownPage]:
    known = []
    for page in old:
        if page.url not in fresh or not page.golden:
            continue
        tree, _ = read_tree(fresh[page.url])
        if tree is None:
            continue
        golden = page.golden[0].values
        anchors = _old_anchors(page)
        known.append(KnownPage(page.url, ValueIndex(tree), golden, *anchors))
    return known


def _old_anchors(page: OldPage) -> tuple[dict[str, str], dict[str, str], dict[str, ValueFrame]]:
    """Return the labels and tags of golden values' nodes, and the words around the values."""
    tree, _ = read_tree(page.page)
    if tree is None:
        return {}, {}, {}
    index = ValueIndex(tree)
    labels, tags, frames = {}, {}, {}
    for name, nodes in page.golden[0].nodes.items():
        xpath = nodes if isinstance(nodes, str) else next(iter(nodes), "")
        place = index.place_at(xpath, "") if xpath else None
        if place is not None:
            labels[name], tags[name] = place.label, place.tag
        value = page.golden[0].values.get(name)
        frame = index.frame_at(xpath, value) if xpath and isinstance(value, str) else None
        if frame is not None:
            frames[name] = frame
    return labels, tags, frames


@dataclass(frozen=True, slots=True)
class _LearningTask:
    """What stays the same from round to round."""

    rule: Rule
    old: Sequence[OldPage]
    fresh: Mapping[str, FreshPage]
    urls: Sequence[str]
    proposed: Sequence[ProposedPage]


def _learn(
    task: _LearningTask,
    annotated: Sequence[ProposedPage],
    dropped: Collection[str] = frozenset(),
) -> RelearntRule:
    """Learn a rule without the dropped attributes, and test it on all known pages."""
    rule, fresh = task.rule, task.fresh
    annotated_urls = {page.url for page in annotated}
    candidates = dict.fromkeys([*(page.url for page in task.old), *task.urls])  # known pages first
    other_urls = [url for url in candidates if url in fresh and url not in annotated_urls]
    other_urls = other_urls[:MAX_UNANNOTATED_PAGES]
    samples = [_annotated_page(page, fresh[page.url], dropped) for page in annotated]
    definition = learn_cluster(
        [sample for sample in samples if sample is not None],
        _trees(other_urls, fresh),
        rule.attributes,
    )
    trial = _TrialRun(rule, definition, task.old, fresh)
    return RelearntRule(
        definition,
        trial.stylesheet,
        list(annotated),
        task.proposed,
        other_urls,
        trial.verdict,
        {
            attribute.name: measure(attribute, _pairs(attribute, trial.versions, task.proposed))
            for attribute in trial.attributes
        },
        frozenset(
            attribute.name
            for attribute in trial.attributes
            if _is_right_on_new_pages(attribute, trial.versions, task.proposed)
        ),
        _spurious(trial.versions, task.proposed),
    )


class _TrialRun:
    """A learnt rule, run on the new versions of all known pages."""

    def __init__(
        self,
        rule: Rule,
        definition: ClusterRule,
        old: Iterable[OldPage],
        fresh: Mapping[str, FreshPage],
    ) -> None:
        with_rule = {learnt.attribute for learnt in definition.attributes if learnt.alternatives}
        self.attributes = [
            attribute for attribute in rule.attributes if attribute.name in with_rule
        ]
        self.stylesheet = stylesheet_of(definition, title=rule.cluster.title)
        runnable = RunnableRule(rule.cluster.name, 0, self.stylesheet, rule.attributes)
        self.versions = compare_versions(runnable, old, fresh)
        self.verdict = field_test_of_rule(self.versions, self.attributes)


def _trees(urls: Iterable[str], fresh: Mapping[str, FreshPage]) -> list[Any]:
    trees = [read_tree(fresh[url])[0] for url in urls]
    return [tree for tree in trees if tree is not None]


def _annotated_page(
    page: ProposedPage, fresh: FreshPage, dropped: Collection[str]
) -> AnnotatedPage | None:
    tree, problem = read_tree(fresh)
    if tree is None:
        return None
    values = {
        name: found_values for name, found_values in page.values.items() if name not in dropped
    }
    absent = page.absent.difference(dropped, values)
    return AnnotatedPage(page.url, tree, _marked_nodes(values), absent, problem)


def _marked_nodes(values: Mapping[str, Sequence[FoundValue]]) -> dict[str, list[MarkedNode]]:
    """Return the nodes with found values, with the text where a value is only a part of it."""
    nodes: dict[str, list[MarkedNode]] = {}
    for name, found_values in values.items():
        places = [value.place for value in found_values]
        nodes[name] = [
            MarkedNode(place.xpath, None if place.is_whole else place.text) for place in places
        ]
    return nodes


def _spurious(
    versions: Iterable[Versions], proposed: Iterable[ProposedPage]
) -> dict[str, set[str]]:
    """Return the attributes that a rule gives on pages that seem not to have them, by URL."""
    absent_by_url = {page.url: page.absent for page in proposed}
    spurious = {}
    for version in versions:
        given = {name for line in version.new for name in line.values}
        absent = given & absent_by_url.get(version.url, frozenset())
        if absent:
            spurious[version.url] = absent
    return spurious


def _failing_pages(relearnt: RelearntRule) -> list[ProposedPage]:
    """Return further pages to annotate: a value found there is lost, or one comes from nothing."""
    annotated_urls = {page.url for page in relearnt.annotated}
    pages = []
    for page in relearnt.proposed:
        if page.url in annotated_urls:
            continue
        failed = {failure.attribute for failure in relearnt.verdict.failed.get(page.url, ())}
        if failed & set(page.values) or page.url in relearnt.spurious:
            pages.append(page)
    return pages


def _unreliable_attributes(relearnt: RelearntRule, attributes: Iterable[AttributeType]) -> set[str]:
    """Return the attributes whose rule is wrong too often, or silent, to be proposed."""
    unreliable = set()
    for attribute in attributes:
        figures = relearnt.measures.get(attribute.name)
        if figures is None:
            continue
        is_right = figures["precision"] >= MIN_PRECISION
        is_right = is_right or attribute.name in relearnt.right_on_new_pages
        if not is_right or figures["recall"] < MIN_RECALL:
            unreliable.add(attribute.name)
    return unreliable


def _is_right_on_new_pages(
    attribute: AttributeType, versions: Sequence[Versions], proposed: Sequence[ProposedPage]
) -> bool:
    """Return whether a rule is right as far as the new pages tell: some stored values may be wrong.

    1. It gives the values that were found again, where they were.
    2. It agrees with the stored values far more than by chance. Of several values it gives
       all where it gives one that is stored: wrong stored ones have none in common, a rule
       for a part has.
    3. Hardly any page shows a stored value that few others show where the rule gives another one.
    """
    if not attribute.is_constant:
        return False
    figures = measure(attribute, pairs_of_proposals(attribute, versions, proposed))
    if figures["precision"] < MIN_PRECISION_OF_FOUND:
        return False
    pairs = [
        (forms_of(attribute.type, golden), forms_of(attribute.type, extracted))
        for golden, extracted in pairs_of_pages(attribute, versions)
        if extracted is not None
    ]
    if _agreement(pairs) < MIN_AGREEMENT:
        return False
    in_common = [golden == extracted for golden, extracted in pairs if golden & extracted]
    if sum(in_common) < MIN_PRECISION_OF_FOUND * len(in_common):
        return False
    n_refuting = sum(_is_refuting(attribute, version, versions) for version in versions)
    is_precise = n_refuting <= (1 - MIN_PRECISION) * len(pairs)
    is_by_chance = n_refuting <= min(MAX_CHANCE_PAGES, MAX_CHANCE_SHARE * len(pairs))
    return is_precise or is_by_chance


def _agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> float:
    """Return how often two values of a pair are the same, from 0 by chance to 1 (Cohen's kappa)."""
    if not pairs:
        return 0.0
    n = len(pairs)
    n_golden = Counter(golden for golden, _ in pairs)
    n_extracted = Counter(extracted for _, extracted in pairs)
    by_chance = sum(n_golden[value] * n_extracted[value] for value in n_golden) / (n * n)
    same = sum(golden == extracted for golden, extracted in pairs) / n
    return (same - by_chance) / (1 - by_chance) if by_chance < 1 else same


def _is_refuting(attribute: AttributeType, version: Versions, versions: Sequence[Versions]) -> bool:
    """Return whether a page shows its stored value, as few do, and the rule gives another one."""
    for golden, extracted in pairs_of_pages(attribute, [version]):
        if golden is None or extracted is None:
            continue
        if same_value(attribute.type, golden, extracted) or not _is_shown(golden, version.shown):
            continue
        n_showing = sum(_is_shown(golden, other.shown) for other in versions)
        if n_showing <= max(1, MAX_SHOWING_SHARE * len(versions)):
            return True
    return False


def measure(attribute: AttributeType, pairs: Pairs) -> dict[str, Any]:
    """Return how often a rule gives the golden value of an attribute."""
    n_known = n_given = n_right = 0
    for golden, extracted in pairs:
        n_known += 1
        n_given += extracted is not None
        n_right += same_value(attribute.type, golden, extracted)
    precision = n_right / n_given if n_given else 0.0
    recall = n_right / n_known if n_known else 0.0
    return {"precision": round(precision, 4), "recall": round(recall, 4), "n_known": n_known}


def _pairs(
    attribute: AttributeType, versions: Sequence[Versions], proposed: Sequence[ProposedPage]
) -> Pairs:
    """Yield what a rule is measured by: golden values, or found ones where they may change."""
    if attribute.is_constant:
        return pairs_of_pages(attribute, versions)
    return pairs_of_proposals(attribute, versions, proposed)


def pairs_of_proposals(
    attribute: AttributeType, versions: Iterable[Versions], proposed: Iterable[ProposedPage]
) -> Pairs:
    """Yield the values found on pages with one record each, beside those that the rule gives."""
    found_by_url = {page.url: page.values.get(attribute.name, ()) for page in proposed}
    for version in versions:
        texts = [value.place.text for value in found_by_url.get(version.url, ())]
        if texts:
            extracted = version.new[0].values if version.new else {}
            yield texts if attribute.is_multi else texts[0], extracted.get(attribute.name)


def pairs_of_pages(attribute: AttributeType, versions: Iterable[Versions]) -> Pairs:
    """Yield golden and extracted values of pages with one record; changing ones if still shown."""
    for version in versions:
        golden = version.old[0].values.get(attribute.name) if version.old else None
        if golden is None:
            continue
        if attribute.is_constant or _is_shown(golden, version.shown):
            extracted = version.new[0].values if version.new else {}
            yield golden, extracted.get(attribute.name)


def _is_shown(value: str | Sequence[str], shown: str) -> bool:
    """Return whether a page shows all texts of a value."""
    shown = plain(shown)
    texts = [value] if isinstance(value, str) else value
    return all(plain(text) in shown for text in texts)


def pairs_of_lists(attribute: AttributeType, versions: Iterable[Versions]) -> Pairs:
    """Yield the values of records that are still in their list, matched by key."""
    for version in versions:
        new_record_by_key = {line.key: line.values for line in version.new}
        for line in version.old:
            golden = line.values.get(attribute.name)
            new_record = new_record_by_key.get(line.key)
            if golden is not None and new_record:
                yield golden, new_record.get(attribute.name)


@dataclass(slots=True)
class _ListPage:
    """The new version of a list page with what of its golden records was found on it."""

    url: str
    tree: _Element
    records: list[list[_Element]]
    golden: list[Line]  # the line of each record that was found again
    indices: list[int]  # of these records among all
    # A copy of each of them, with the original of every node mapped to its copy.
    copies: list[tuple[_Element, dict[_Element, _Element]]]
    proposals: list[ProposedPage] = field(default_factory=list)  # in each of the first copies
    page_values: Mapping[str, Sequence[FoundValue]] = field(default_factory=dict)  # beside records


def relearn_list(
    rule: Rule, old: Sequence[OldPage], fresh: Mapping[str, FreshPage], urls: Iterable[str]
) -> RelearntRule | None:
    """Return the rule of a changed list; None where its records are found on no page."""
    attributes = rule.attributes
    in_page = {
        line["attribute"]
        for line in rule.definition.get("attributes", [])
        if line.get("scope") == OF_PAGE
    }
    in_record = [attribute for attribute in attributes if attribute.name not in in_page]
    pages = []
    for old_page in old:
        if old_page.url not in fresh:
            continue
        list_page = _find_list(old_page, fresh[old_page.url], in_record)
        if list_page is not None:
            pages.append(list_page)
    pages = sorted(pages, key=lambda page: -len(page.indices))[:MAX_LIST_PAGES]
    if not pages:
        return None

    _find_record_values(pages, in_record)
    _find_page_values(pages, [attribute for attribute in attributes if attribute.name in in_page])
    listed_urls = {page.url for page in pages}
    other_urls = [url for url in sorted(urls) if url in fresh and url not in listed_urls]
    other_urls = other_urls[:MAX_UNANNOTATED_LIST_PAGES]
    samples = read_samples(
        [
            AnnotatedPage(
                page.url, page.tree, _marked_nodes(page.page_values), records=page.records
            )
            for page in pages
        ],
        _trees(other_urls, fresh),
    )
    definition = learn_records(samples, [_record_samples(page) for page in pages], rule.attributes)
    trial = _TrialRun(rule, definition, old, fresh)
    proposed = [_proposed_page(page) for page in pages]
    return RelearntRule(
        definition=definition,
        stylesheet=trial.stylesheet,
        annotated=proposed,  # all that is proposed was learnt from
        proposed=proposed,
        unannotated=other_urls,
        verdict=_fail_where_records_are_lost(trial.verdict, trial.versions, pages),
        measures={
            attribute.name: measure(attribute, pairs_of_lists(attribute, trial.versions))
            for attribute in trial.attributes
        },
    )


def _find_list(
    page: OldPage, fresh: FreshPage, attributes: Sequence[AttributeType]
) -> _ListPage | None:
    """Return the list of a page in which its golden records stand now; None if there is none."""
    tree, _ = read_tree(fresh)
    golden = [line for line in page.golden if line.values]
    if tree is None or not golden:
        return None
    lists = [record_list.records for record_list in find_records(tree, MAX_LISTS_TO_MATCH)]
    matched = match_list(lists, [line.values for line in golden], attributes)
    if matched is None:
        return None
    records = [list(record) for record in matched.records]
    indices = sorted(matched.known)
    has_text = _have_text(records)
    return _ListPage(
        page.url,
        tree,
        records,
        golden=[golden[matched.known[index]] for index in indices],
        indices=indices,
        copies=[copy_of_record(records[index], has_text=has_text) for index in indices],
    )


def _have_text(records: Iterable[Sequence[_Element]]) -> bool:
    """Return whether the text between the elements of a record belongs to it."""
    return any(len(record) > 1 for record in records)


def _find_record_values(pages: Sequence[_ListPage], attributes: Sequence[AttributeType]) -> None:
    """Find the golden values within their records, each record as if it were a page."""
    known = []
    for page in pages:
        records = list(zip(page.copies, page.golden, strict=True))
        for (copy, _), line in records[:MAX_RECORDS_OF_PAGE]:
            known.append(KnownPage(page.url, ValueIndex(copy), _values_of(line.values, attributes)))
    proposed = iter(propose_annotations(known, attributes))
    for page in pages:
        page.proposals = [next(proposed) for _ in page.copies[:MAX_RECORDS_OF_PAGE]]


def _find_page_values(pages: Sequence[_ListPage], attributes: Sequence[AttributeType]) -> None:
    """Find the golden values that stand beside the records, once a page."""
    if not attributes:
        return
    known = [
        KnownPage(page.url, ValueIndex(page.tree), _values_of(page.golden[0].values, attributes))
        for page in pages
    ]
    for page, proposed in zip(pages, propose_annotations(known, attributes), strict=True):
        page.page_values = proposed.values


def _values_of(
    record: Mapping[str, Any], attributes: Iterable[AttributeType]
) -> dict[str, str | Sequence[str]]:
    return {
        attribute.name: record[attribute.name]
        for attribute in attributes
        if attribute.name in record
    }


def _record_samples(page: _ListPage) -> RecordSamples:
    """Return a page's records to learn from; those with values found again count as annotated."""
    annotated = [
        AnnotatedPage(page.url, copy, _marked_nodes(proposed.values), proposed.absent)
        for (copy, _), proposed in zip(page.copies, page.proposals, strict=False)
        if proposed.values
    ]
    has_text = _have_text(page.records)
    matched = set(page.indices)
    other_records = [record for index, record in enumerate(page.records) if index not in matched]
    unannotated = [copy_of_record(record, has_text=has_text)[0] for record in other_records]
    return RecordSamples(
        annotated, unannotated[:MAX_RECORDS_OF_PAGE], _marked_nodes(page.page_values), has_text
    )


def _proposed_page(page: _ListPage) -> ProposedPage:
    """Return what was found on a page, at the XPaths of the page instead of those of its copies.

    Nothing was looked for in the copies behind the first ones.
    """
    values = {name: list(found_values) for name, found_values in page.page_values.items()}
    for (copy, copy_by_original), proposed in zip(page.copies, page.proposals, strict=False):
        original_by_copy = {copied: original for original, copied in copy_by_original.items()}
        for name, found_values in proposed.values.items():
            for value in found_values:
                nodes: Any = copy.xpath(value.place.xpath)
                xpath = path_of_counterpart(nodes[0], original_by_copy)
                # `_replace` is the public way of a named tuple.
                place = value.place._replace(xpath=xpath)  # noqa: SLF001
                values.setdefault(name, []).append(FoundValue(place, value.score, value.why))
    paths = iter(element_paths([element for record in page.records for element in record]))
    records = [[next(paths) for _ in record] for record in page.records]
    return ProposedPage(page.url, values, frozenset(), records)


def _fail_where_records_are_lost(
    verdict: FieldVerdict, versions: Iterable[Versions], pages: Iterable[_ListPage]
) -> FieldVerdict:
    """Return the verdict; a rule that does not give the records found again has not passed."""
    if not verdict.has_passed:
        return verdict
    given_by_url = {
        page_versions.url: {str(line.key) for line in page_versions.new}
        for page_versions in versions
    }
    n_found = 0
    lost = []
    for page in pages:
        for line in page.golden:
            key = str(line.key)
            n_found += 1
            if key not in given_by_url.get(page.url, set()):
                lost.append((page.url, key))
    if len(lost) <= MAX_LOST_RECORDS * n_found:
        return verdict
    url, key = lost[0]
    why = f"{len(lost)} of {n_found} records are lost, such as {key!r} on {url}."
    return replace(verdict, has_passed=False, why=why)
