"""Assess a rule on samples nobody annotated: whether to stop, and which page to annotate next.

Notation:   A cell is an attribute on a sample: what the rule finds there, how doubtful that is,
            and why. A rival is a beaten candidate that tests something else than the winner. What
            is new on a page is a kind of text node, or a label, that several samples have and no
            annotated one.
Readings:   A value is doubted where the rule selects several nodes for a single value, where a
            near rival selects another value, a suggestion shows another one, a single value holds
            several of its type, or its place is of a kind that no annotated page has: a page of
            another layout shows something else there. A part of an element that is a value as a
            whole is no other value. A miss is doubted where the attribute is mandatory, where a
            suggestion or a near rival finds something, or where something new could be the value:
            on a page that has nothing new, a value would stand where annotated pages show it.
            What rules of other attributes select is no value of this one. Suggestions of an
            attribute whose suggestions were wrong on an annotated page count no more; one that
            agrees with the rule outweighs a rival. To stop is right when no cell is doubted. The
            next page is the one with most doubt.
Cost:       A few ANDs for each candidate and sample; one look at each text node for what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from annotation.algorithms.suggestions.names import implied_type
from clustering.values.recognising import find_typed, has_pattern
from rules.algorithms.learning.columns import Columns, numbers_of, union
from rules.algorithms.learning.evaluating import compared, nodes_on, selected_nodes, values_on
from rules.algorithms.learning.feature_prices import ANCHORS
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.novelty import (
    New,
    find_news,
    find_placeholders,
    is_named,
    kind_of_node,
)
from rules.algorithms.learning.same_value import ShownTexts
from rules.algorithms.rule.rule import ELEMENT_TARGET, Alternative, AttributeRule, ClusterRule

State = Literal["annotated", "wrong", "found", "absent", "missing", "several", "differs"]
IMAGE: Final = "image"
MIN_DOUBT: Final = 0.3  # from which a cell is a reason against stopping
MAX_RANK_BEHIND: Final = 0.4  # by which a rival may be worse than the winner
MAX_RIVALS: Final = 2
MAX_NEW_CHARS: Final = 200  # of a new text that could be a value
# The confidence of a suggestion that counts; that may contradict the rule; that counts where there
# is none.
MIN_CONFIDENCE: Final = 0.5
MIN_CONFIDENCE_TO_DIFFER: Final = 0.7
MIN_CONFIDENCE_WITHOUT_RULE: Final = 0.3


class SuggestedValues(NamedTuple):
    """A suggestion for an attribute on a page; no values mean that the page has none."""

    values: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A sample with its annotations and suggestions."""

    url: str
    bits: NodeSet
    # The values by attribute, none where it is absent; None where nobody annotated the page.
    annotated: Mapping[str, tuple[str, ...]] | None = None
    suggestions: Mapping[str, SuggestedValues] = field(default_factory=dict)
    is_list: bool = False  # then its editor may have shown one record of several


class Verdict(NamedTuple):
    """What is thought of a value or a miss, how doubtful it is, and why."""

    state: State
    doubt: float = 0.0
    why: str = ""


class Rival(NamedTuple):
    """What another candidate finds on a page."""

    xpath: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleCell:
    """An attribute on a sample."""

    attribute: str
    page: int
    state: State
    values: tuple[str, ...] = ()
    doubt: float = 0.0
    why: str = ""
    rivals: tuple[Rival, ...] = ()

    @property
    def is_doubted(self) -> bool:
        return self.doubt >= MIN_DOUBT


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a rule makes of all samples."""

    cells: tuple[SampleCell, ...]
    n_pages: int
    n_annotated: int

    @property
    def doubted(self) -> list[SampleCell]:
        return [cell for cell in self.cells if cell.is_doubted]

    @property
    def is_enough(self) -> bool:
        """Whether no further page is needed."""
        return self.n_annotated > 0 and self.has_values and not self.doubted

    @property
    def has_values(self) -> bool:
        """Whether an attribute was found on any page: a rule that finds nothing is no rule yet."""
        return any(cell.values for cell in self.cells)

    @property
    def next_page(self) -> int | None:
        """The sample to annotate next, None where no further one is needed."""
        doubt: dict[int, float] = {}
        for cell in self.doubted:
            if cell.state != "wrong":
                doubt[cell.page] = doubt.get(cell.page, 0.0) + cell.doubt
        return max(doubt, key=lambda page: (doubt[page], -page)) if doubt else None

    @property
    def reason(self) -> str:
        n_left = self.n_pages - self.n_annotated
        if not self.n_annotated:
            return "No page is annotated yet."
        if not self.has_values and not self.doubted:
            return "No attribute has a value yet: point at one on this page."
        if not n_left:
            return "All samples are annotated."
        if self.is_enough:
            return (
                f"On all {n_left} other samples the rule finds every attribute or the "
                "page lacks it, "
                "and the candidates agree."
            )
        names = dict.fromkeys(cell.attribute for cell in self.doubted)
        n_pages = len({cell.page for cell in self.doubted})
        verb = "is" if len(names) == 1 else "are"
        return f"{', '.join(names)} {verb} doubtful on {n_pages} of {self.n_pages} samples."

    def of_attribute(self, name: str) -> list[SampleCell]:
        return [cell for cell in self.cells if cell.attribute == name]

    def added_by(self, page: int) -> list[str]:
        """Return what annotating a sample would decide."""
        return [f"{cell.attribute}: {cell.why}" for cell in self.doubted if cell.page == page]


def assess(rule: ClusterRule, columns: Columns, pages: Sequence[SamplePage]) -> Outlook:
    """Return what a rule makes of the samples, attribute by attribute."""
    claims = {
        attribute_rule.attribute: _claimed_nodes(columns, attribute_rule, pages)
        for attribute_rule in rule.attributes
    }
    is_annotated = [page.annotated is not None for page in pages]
    news_by_page = find_news(columns.index, [page.bits for page in pages], is_annotated)
    cells: list[SampleCell] = []
    for attribute_rule in rule.attributes:
        claimed_by_others = union(
            nodes for name, nodes in claims.items() if name != attribute_rule.attribute
        )
        pages_of_attribute = [
            FoundOnPage(
                number=number,
                page=page,
                values=tuple(values_on(columns, attribute_rule, page.bits)),
                news=[new for new in news if not claimed_by_others >> new.node & 1],
            )
            for number, (page, news) in enumerate(zip(pages, news_by_page, strict=True))
        ]
        assessment = _assessment_of(attribute_rule, columns, claimed_by_others, pages_of_attribute)
        cells += [assessment.cell(on_page) for on_page in pages_of_attribute]
    return Outlook(tuple(cells), n_pages=len(pages), n_annotated=sum(is_annotated))


def _claimed_nodes(columns: Columns, rule: AttributeRule, pages: Sequence[SamplePage]) -> NodeSet:
    """Return the nodes that a rule's values stand in, on all samples."""
    bits = 0
    for page in pages:
        for node, alternative in nodes_on(columns, rule, page.bits):
            bits |= 1 << node
            if not alternative.target.startswith("@"):
                bits |= ((1 << columns.index.nodes[node].end) - 1) & ~((1 << node) - 1)
    return bits


@dataclass(frozen=True, slots=True)
class FoundOnPage:
    """What an attribute's rule finds on a sample."""

    number: int
    page: SamplePage
    values: tuple[str, ...]
    news: Sequence[New]  # on the page, in no node of another attribute's value


def _assessment_of(
    rule: AttributeRule, columns: Columns, claimed: NodeSet, pages: Sequence[FoundOnPage]
) -> _Assessment:
    """Return what is known of an attribute from all samples."""
    confirmed: set[str] = set()
    shares_nodes = False
    for on_page in pages:
        page = on_page.page
        if page.annotated is None:
            continue
        confirmed.update(page.annotated.get(rule.attribute, ()))
        nodes = nodes_on(columns, rule, page.bits)
        shares_nodes |= any(claimed >> selected.node & 1 for selected in nodes)

    value_type = implied_type(rule.attribute, rule.type)
    placeholders: frozenset[str] = frozenset()
    if rule.type == "text" and not rule.is_multi:
        placeholders = find_placeholders([on_page.values for on_page in pages], confirmed)
    finds_on = frozenset(on_page.number for on_page in pages if on_page.values)
    unannotated = frozenset(on_page.number for on_page in pages if on_page.page.annotated is None)
    return _Assessment(
        rule=rule,
        columns=columns,
        rivals=_rivals_of(rule),
        trusts_suggestions=_trusts_suggestions(rule, [on_page.page for on_page in pages]),
        claimed=claimed,
        shares_nodes=shares_nodes,
        placeholders=placeholders,
        confirms_several=any(len(find_typed(value_type, value)) > 1 for value in confirmed),
        finds_on=finds_on,
        misses_on=unannotated - finds_on,
    )


def _trusts_suggestions(rule: AttributeRule, pages: Sequence[SamplePage]) -> bool:
    """Return whether the suggestions of an attribute were right on all annotated pages."""
    for page in pages:
        suggestion = page.suggestions.get(rule.attribute)
        annotated = page.annotated.get(rule.attribute) if page.annotated is not None else None
        if suggestion is None or annotated is None or suggestion.confidence < MIN_CONFIDENCE:
            continue
        if compared(suggestion.values) != compared(annotated):
            return False
    return True


def _rivals_of(rule: AttributeRule) -> list[AttributeRule]:
    """Return the best beaten candidates that test something else, each as a rule of its own."""
    if len(rule.alternatives) != 1:
        return []
    winner = rule.alternatives[0]
    known_kinds = {_kinds_of(winner)}
    rivals: list[AttributeRule] = []
    for loser in rule.losers:
        is_near = loser.numbers.rank <= winner.numbers.rank + MAX_RANK_BEHIND
        if is_near and _kinds_of(loser) not in known_kinds and len(rivals) < MAX_RIVALS:
            known_kinds.add(_kinds_of(loser))
            rivals.append(_as_rule(rule, loser))
    return rivals


def _as_rule(rule: AttributeRule, alternative: Alternative) -> AttributeRule:
    return AttributeRule(
        rule.attribute, rule.type, rule.is_multi, alternatives=(alternative,), regex=rule.regex
    )


def _kinds_of(alternative: Alternative) -> frozenset[str]:
    """Return what kinds of things a candidate tests; all anchors are of one kind."""
    return frozenset(
        "text" if feature.kind in ANCHORS else feature.kind for feature in alternative.features
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assessment:
    """What is known of an attribute from all samples; it decides on each of them."""

    rule: AttributeRule
    columns: Columns
    rivals: Sequence[AttributeRule]
    trusts_suggestions: bool
    claimed: NodeSet  # nodes of other attributes' values
    shares_nodes: bool  # with another attribute where it is annotated
    placeholders: frozenset[str]  # texts that may stand for no value
    confirms_several: bool  # an annotated value holds several of its type
    finds_on: frozenset[int]  # samples
    misses_on: frozenset[int]  # samples nobody annotated

    @property
    def value_type(self) -> str:
        return implied_type(self.rule.attribute, self.rule.type)

    def cell(self, on_page: FoundOnPage) -> SampleCell:
        name = self.rule.attribute
        annotated = on_page.page.annotated
        if annotated is not None and name in annotated:
            verdict = _verdict_on_annotated(on_page, annotated[name])
            return SampleCell(name, on_page.number, verdict.state, on_page.values, why=verdict.why)
        rivals = self._differing_rivals(on_page)
        verdict = (
            self._verdict_on_values(on_page, rivals)
            if on_page.values
            else self._verdict_on_miss(on_page, rivals)
        )
        return SampleCell(
            attribute=name,
            page=on_page.number,
            state=verdict.state,
            values=on_page.values,
            doubt=verdict.doubt,
            why=verdict.why,
            rivals=tuple(rivals),
        )

    def _differing_rivals(self, on_page: FoundOnPage) -> list[Rival]:
        """Return the rivals that find something else, which is no other attribute's value."""
        differing = []
        for rival in self.rivals:
            values = tuple(values_on(self.columns, rival, on_page.page.bits))
            if not values or compared(values) == compared(on_page.values):
                continue
            nodes = nodes_on(self.columns, rival, on_page.page.bits)
            if all(self.claimed >> selected.node & 1 for selected in nodes):
                continue
            if self.rule.is_multi and compared(values) < compared(on_page.values):
                continue  # a rival that finds fewer is no evidence against the others
            differing.append(Rival(rival.alternatives[0].xpath, values))
        return differing

    def _suggestion(self, page: SamplePage) -> SuggestedValues | None:
        """Return the suggestion for the page where it counts."""
        suggestion = page.suggestions.get(self.rule.attribute)
        if suggestion is None or suggestion.confidence < MIN_CONFIDENCE:
            return None
        return suggestion if self.trusts_suggestions else None

    def _verdict_on_values(self, on_page: FoundOnPage, rivals: Sequence[Rival]) -> Verdict:
        is_multi = self.rule.is_multi
        if self._holds_several(on_page.values):
            why = f"{_listed(on_page.values)} holds more than one {self.value_type}"
            return Verdict("several", 0.4, why)
        suggestion = self._suggestion(on_page.page)
        if suggestion is not None and suggestion.values:
            if compared(suggestion.values) == compared(on_page.values):
                return Verdict("found")
            differs = not self._is_part_of_element(suggestion.values, on_page)
            if not is_multi and differs and suggestion.confidence >= MIN_CONFIDENCE_TO_DIFFER:
                why = f"a suggestion says {_listed(suggestion.values)}"
                return Verdict("differs", 0.5, why)
        n_selected = self._n_selected(on_page.page)
        if n_selected > 1 and not is_multi:
            why = f"the rule selects {n_selected} nodes; the first counts"
            return Verdict("several", 0.4, why)
        if on_page.values[0] in self.placeholders:
            why = f"several samples show {_listed(on_page.values)}; does it stand for no value?"
            return Verdict("differs", 0.4, why)
        if self._is_claimed(on_page.page):
            why = "it is the value of another attribute on this page"
            return Verdict("differs", 0.4, why)
        if self._is_in_new_place(on_page):
            why = f"{_listed(on_page.values)} stands where no annotated page has a text"
            return Verdict("differs", 0.4, why)
        if rivals:
            why = f"another candidate finds {_listed(rivals[0].values)}"
            return Verdict("differs", 0.4, why)
        return Verdict("found")

    def _verdict_on_miss(self, on_page: FoundOnPage, rivals: Sequence[Rival]) -> Verdict:
        suggestion = self._suggestion(on_page.page)
        if suggestion is not None and suggestion.values:
            why = f"nothing is found; a suggestion says {_listed(suggestion.values)}"
            return Verdict("missing", 0.7, why)
        if self.rule.is_mandatory and self.rule.alternatives:
            return Verdict("missing", 0.9, "it is mandatory, and nothing is found")
        if rivals:
            why = f"nothing is found; another candidate finds {_listed(rivals[0].values)}"
            return Verdict("missing", 0.4, why)
        weak_suggestion = on_page.page.suggestions.get(self.rule.attribute)
        if weak_suggestion is not None and self._counts_without_rule(weak_suggestion, on_page.page):
            why = f"nothing is found; a suggestion says {_listed(weak_suggestion.values)}"
            return Verdict("missing", 0.35, why)
        if suggestion is not None:
            return Verdict("absent", why="the page lacks it")
        for new in on_page.news:
            if new.what == "label" and is_named(self.rule.attribute, new.text):
                why = f"nothing is found; only unannotated pages say {_listed([new.text])}"
                return Verdict("missing", 0.6, why)
        if not self._is_labelled():
            for new in on_page.news:
                if self._could_be_value(new):
                    why = f"nothing is found; {_listed([new.text])} is unlike anything annotated"
                    return Verdict("missing", 0.3, why)
        return Verdict("absent", why="the page shows nothing that annotated pages do not")

    def _holds_several(self, values: Sequence[str]) -> bool:
        """Return whether a single value holds several of its type, as no annotated one does."""
        if self.rule.is_multi or self.confirms_several:
            return False
        return len(find_typed(self.value_type, values[0])) > 1

    def _is_part_of_element(self, suggested: Sequence[str], on_page: FoundOnPage) -> bool:
        """Return whether a suggestion is part of an element whose whole text is the value."""
        nodes = nodes_on(self.columns, self.rule, on_page.page.bits)
        is_whole = all(
            node.alternative.target == ELEMENT_TARGET and node.alternative.selection.is_whole
            for node in nodes
        )
        return (
            is_whole
            and compared(suggested) != compared(on_page.values)
            and all(text in on_page.values[0] for text in suggested)
        )

    def _is_in_new_place(self, on_page: FoundOnPage) -> bool:
        """Return whether a value stands in a node of a kind that no annotated page has."""
        new_kinds = {new.kind for new in on_page.news}
        nodes = nodes_on(self.columns, self.rule, on_page.page.bits)
        return any(kind_of_node(self.columns.index, node.node) in new_kinds for node in nodes)

    def _counts_without_rule(self, suggestion: SuggestedValues, page: SamplePage) -> bool:
        """Return whether a weak suggestion counts: no rule, and no other attribute's value."""
        if not suggestion.values or suggestion.confidence < MIN_CONFIDENCE_WITHOUT_RULE:
            return False
        if self.rule.alternatives or not self.trusts_suggestions:
            return False
        nodes = self.columns.index.nodes
        claimed = compared([nodes[node].shown for node in numbers_of(self.claimed & page.bits)])
        return not compared(suggestion.values) & claimed

    def _could_be_value(self, new: New) -> bool:
        """Return whether something new could be a value that the rule misses."""
        if new.what == "label" or len(new.text) > MAX_NEW_CHARS or not self._is_where_missed(new):
            return False
        value_type = self.value_type
        if value_type == IMAGE or new.what == "image":
            return value_type == IMAGE and new.what == "image"
        if not has_pattern(value_type):
            return value_type == "text" and bool(self.rule.alternatives)
        spans = find_typed(value_type, new.text)
        return any(end - start > len(new.text) / 2 for start, end in spans)

    def _is_where_missed(self, new: New) -> bool:
        """Return whether something new is on most pages where the rule misses, and no other."""
        if new.pages & self.finds_on:
            return False
        return not self.rule.alternatives or 2 * len(new.pages) >= len(self.misses_on)

    def _is_labelled(self) -> bool:
        """Return whether the rule relies on a label, without which a miss is no surprise."""
        alternatives = self.rule.alternatives
        return bool(alternatives) and all(
            any(feature.kind in ANCHORS for feature in alternative.features)
            for alternative in alternatives
        )

    def _is_claimed(self, page: SamplePage) -> bool:
        """Return whether the nodes belong to other attributes here, but did not elsewhere."""
        nodes = nodes_on(self.columns, self.rule, page.bits)
        return not self.shares_nodes and all(
            self.claimed >> selected.node & 1 for selected in nodes
        )

    def _n_selected(self, page: SamplePage) -> int:
        """Return how many nodes of different texts the rule selects for a single value."""
        nodes = nodes_on(self.columns, self.rule, page.bits)
        if not nodes or self.rule.is_multi:
            return 0
        alternative = nodes[0].alternative
        selected = selected_nodes(self.columns, alternative, page.bits)
        if ShownTexts(self.columns.index, alternative.target).is_one_text(selected):
            return 1
        return selected.bit_count()


def _verdict_on_annotated(on_page: FoundOnPage, annotated: Sequence[str]) -> Verdict:
    expected, extracted = compared(annotated), compared(on_page.values)
    if expected == extracted:
        return Verdict("annotated")
    if on_page.page.is_list and expected and expected <= extracted:
        return Verdict("annotated")
    why = f"annotated is {_listed(annotated)}, the rule finds {_listed(on_page.values)}"
    return Verdict("wrong", why=why)


def _listed(values: Sequence[str]) -> str:
    quoted = [f"“{value if len(value) <= 40 else value[:39] + '…'}”" for value in values[:3]]
    return ", ".join(quoted) if quoted else "nothing"
