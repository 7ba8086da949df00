"""Say what a rule makes of the samples nobody annotated, whether to stop, and which page to annotate next.

Notation:   A cell is an attribute on a sample: what the rule finds there, how doubtful that is, and why. A
            rival is a beaten candidate that tests something else than the winner; a hint is a suggestion.
            What is new on a page is a kind of text node, or a label, that several samples have and no
            annotated one.
Readings:   A value is doubted where the rule selects several nodes for a single value, where a near rival
            selects another value, or a hint shows another one. A miss is doubted where the attribute is
            mandatory, where a hint or a near rival finds something, or where something new could be the
            value: on a page that has nothing new, a value would stand where annotated pages show it. What
            rules of other attributes select is no value of this one. Hints of an attribute whose hints were
            wrong on an annotated page count no more; one that agrees with the rule outweighs a rival. To
            stop is right when no cell is doubted. The next page is the one with most doubt.
Cost:       A few ANDs for each candidate and sample; one look at each text node for what is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from annotation.algorithms.suggestions.names import implied_type
from clustering.values.recognising import find_typed, has_pattern
from rules.algorithms.learning.columns import Columns, numbers_of
from rules.algorithms.learning.evaluating import selected_nodes, serving_alternative, values_on
from rules.algorithms.learning.feature_prices import ANCHORS
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.novelty import New, find_news, find_placeholders, is_named
from rules.algorithms.rule.rule import Alternative, AttributeRule, ClusterRule

State = Literal["annotated", "wrong", "found", "absent", "missing", "several", "differs"]
DOUBTED: Final = 0.3  # from which a cell speaks against stopping
SURE_HINT: Final = 0.5  # confidence of a hint that counts
MARGIN: Final = 0.4  # of the rank by which a rival may be worse than the winner
MOST_RIVALS: Final = 2
IMAGE: Final = "image"
SURE_TO_DIFFER: Final = 0.7  # confidence of a hint that may contradict the rule
WEAK_HINT: Final = 0.3  # confidence of a hint that counts where there is no rule
LONGEST_NEW: Final = 200  # characters of a text that could be a value


class SuggestedValues(NamedTuple):
    """A suggestion for an attribute on a page; no values say that the page has none."""

    values: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A sample, with what its editor said and what is suggested."""

    url: str
    bits: NodeSet
    said: Mapping[str, tuple[str, ...]] | None = (
        None  # None: nobody annotated it; no values: absent
    )
    hints: Mapping[str, SuggestedValues] = field(default_factory=dict)
    is_list: bool = False  # then its editor may have shown one record of several


Verdict: TypeAlias = "tuple[State, float, str]"  # with how doubtful it is, and why


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
        return self.doubt >= DOUBTED


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
        """Say whether no further page is needed."""
        return self.n_annotated > 0 and not self.doubted

    @property
    def next_page(self) -> int | None:
        """Return the sample to annotate next, None where no further one is needed."""
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
        if not n_left:
            return "All samples are annotated."
        if self.is_enough:
            what = "finds every attribute or the page lacks it, and the candidates agree"
            return f"On all {n_left} other samples the rule {what}."
        names = dict.fromkeys(cell.attribute for cell in self.doubted)
        n_pages = len({cell.page for cell in self.doubted})
        verb = "is" if len(names) == 1 else "are"
        return f"{', '.join(names)} {verb} doubtful on {n_pages} of {n_left} other samples."

    def of_attribute(self, name: str) -> list[SampleCell]:
        return [cell for cell in self.cells if cell.attribute == name]

    def added_by(self, page: int) -> list[str]:
        """Return what annotating a sample would settle."""
        return [f"{cell.attribute}: {cell.why}" for cell in self.doubted if cell.page == page]


def look_at(rule: ClusterRule, columns: Columns, pages: Sequence[SamplePage]) -> Outlook:
    """Return what a rule makes of the samples, attribute by attribute."""
    claimed = {one.attribute: _claims(columns, one, pages) for one in rule.attributes}
    news = find_news(
        columns.index, [page.bits for page in pages], [page.said is not None for page in pages]
    )
    cells: list[SampleCell] = []
    for one in rule.attributes:
        others = 0
        for name, bits in claimed.items():
            if name != one.attribute:
                others |= bits
        cells += _look_at_attribute(one, columns, pages, others, news)
    return Outlook(tuple(cells), len(pages), sum(page.said is not None for page in pages))


def _claims(columns: Columns, rule: AttributeRule, pages: Sequence[SamplePage]) -> NodeSet:
    """Return the nodes that a rule's values stand in, on all samples."""
    bits = 0
    for page in pages:
        for node in serving_alternative(columns, rule, page.bits)[1]:
            bits |= 1 << node
            if rule.alternatives and not rule.alternatives[0].target.startswith("@"):
                bits |= ((1 << columns.index.nodes[node].end) - 1) & ~((1 << node) - 1)
    return bits


def _look_at_attribute(
    rule: AttributeRule,
    columns: Columns,
    pages: Sequence[SamplePage],
    claimed: NodeSet,
    news: Sequence[Sequence[New]],
) -> list[SampleCell]:
    trusted = _trusts_hints(rule, pages)
    rivals = _rivals_of(rule)
    found = [tuple(values_on(columns, rule, page.bits)) for page in pages]
    confirmed = {
        v for page in pages if page.said is not None for v in page.said.get(rule.attribute, ())
    }
    is_text = rule.type == "text" and not rule.is_multi
    repeated = find_placeholders(found, confirmed) if is_text else frozenset()
    shares = any(
        page.said is not None
        and any(claimed >> n & 1 for n in serving_alternative(columns, rule, page.bits)[1])
        for page in pages
    )
    finds_on = frozenset(n for n, values in enumerate(found) if values)
    misses_on = frozenset(n for n, page in enumerate(pages) if page.said is None) - finds_on
    cells = []
    for number, (page, values) in enumerate(zip(pages, found, strict=True)):
        fresh = [new for new in news[number] if not claimed >> new.node & 1]
        cells.append(
            _Look(
                rule,
                columns,
                page,
                number,
                values,
                trusted,
                claimed,
                fresh,
                repeated,
                finds_on,
                misses_on,
                shares,
            ).cell(rivals)
        )
    return cells


def compared(values: Sequence[str]) -> frozenset[str]:
    """Return values without their blanks, which nobody sees alike."""
    return frozenset("".join(value.split()) for value in values)


def _trusts_hints(rule: AttributeRule, pages: Sequence[SamplePage]) -> bool:
    """Say whether the hints of an attribute were right on all annotated pages."""
    for page in pages:
        hint = page.hints.get(rule.attribute)
        said = page.said.get(rule.attribute) if page.said is not None else None
        if hint is None or said is None or hint.confidence < SURE_HINT:
            continue
        if compared(hint.values) != compared(said):
            return False
    return True


def _rivals_of(rule: AttributeRule) -> list[AttributeRule]:
    """Return the best beaten candidates that test something else, each as a rule of its own."""
    if len(rule.alternatives) != 1:
        return []
    winner = rule.alternatives[0]
    known = {_family(winner)}
    rivals: list[AttributeRule] = []
    for loser in rule.losers:
        is_near = loser.numbers.rank <= winner.numbers.rank + MARGIN
        if is_near and _family(loser) not in known and len(rivals) < MOST_RIVALS:
            known.add(_family(loser))
            rivals.append(_as_rule(rule, loser))
    return rivals


def _as_rule(rule: AttributeRule, alternative: Alternative) -> AttributeRule:
    return AttributeRule(
        rule.attribute, rule.type, rule.is_multi, alternatives=(alternative,), regex=rule.regex
    )


def _family(alternative: Alternative) -> frozenset[str]:
    """Return what kinds of things a candidate tests."""
    return frozenset(
        "text" if feature.kind in ANCHORS else feature.kind for feature in alternative.features
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at one cell."""

    rule: AttributeRule
    columns: Columns
    page: SamplePage
    number: int
    values: tuple[str, ...]
    trusts_hints: bool
    claimed: NodeSet  # nodes of other attributes' values
    news: Sequence[New]  # on the page, not claimed
    repeated: frozenset[str]  # texts that may stand for no value
    finds_on: frozenset[int]  # samples
    misses_on: frozenset[int]  # samples nobody annotated
    shares: bool  # whether it shares nodes with another attribute where it is annotated

    def cell(self, rivals: Sequence[AttributeRule]) -> SampleCell:
        name = self.rule.attribute
        if self.page.said is not None and name in self.page.said:
            return self._annotated(self.page.said[name])
        differing = tuple(one for rival in rivals if (one := self._rival(rival)) is not None)
        state, doubt, why = next(self._found(differing) if self.values else self._missed(differing))
        return SampleCell(name, self.number, state, self.values, doubt, why, differing)

    def _rival(self, rival: AttributeRule) -> Rival | None:
        """Return what a rival finds, where that is something else and no other attribute's value."""
        values = tuple(values_on(self.columns, rival, self.page.bits))
        _, nodes = serving_alternative(self.columns, rival, self.page.bits)
        if not values or compared(values) == compared(self.values):
            return None
        if all(self.claimed >> node & 1 for node in nodes):
            return None
        if self.rule.is_multi and compared(values) < compared(self.values):
            return None  # a rival that finds fewer says nothing of the others
        return Rival(rival.alternatives[0].xpath, values)

    def _annotated(self, said: tuple[str, ...]) -> SampleCell:
        wanted, found = compared(said), compared(self.values)
        is_right = wanted == found or (self.page.is_list and bool(wanted) and wanted <= found)
        if is_right:
            return SampleCell(self.rule.attribute, self.number, "annotated", self.values)
        why = f"annotated is {_listed(said)}, the rule finds {_listed(self.values)}"
        return SampleCell(self.rule.attribute, self.number, "wrong", self.values, 0.0, why)

    @property
    def hint(self) -> SuggestedValues | None:
        hint = self.page.hints.get(self.rule.attribute)
        return hint if hint and hint.confidence >= SURE_HINT and self.trusts_hints else None

    def _found(self, differing: Sequence[Rival]) -> Iterator[Verdict]:
        """Yield what speaks for or against a value; the first counts."""
        hint = self.hint
        if hint and hint.values and compared(hint.values) == compared(self.values):
            yield "found", 0.0, ""
        if hint and hint.values and not self.rule.is_multi and hint.confidence >= SURE_TO_DIFFER:
            yield "differs", 0.5, f"a suggestion says {_listed(hint.values)}"
        if self._n_selected() > 1 and not self.rule.is_multi:
            yield "several", 0.4, f"the rule selects {self._n_selected()} nodes; the first counts"
        if self.values[0] in self.repeated:
            yield (
                "differs",
                0.4,
                f"several samples show {_listed(self.values)}; does it stand for no value?",
            )
        if self._is_claimed():
            yield "differs", 0.4, "it is the value of another attribute on this page"
        if differing:
            yield "differs", 0.4, f"another candidate finds {_listed(differing[0].values)}"
        yield "found", 0.0, ""

    def _missed(self, differing: Sequence[Rival]) -> Iterator[Verdict]:
        """Yield what a miss may mean; the first counts."""
        hint = self.hint
        if hint and hint.values:
            yield "missing", 0.7, f"nothing is found; a suggestion says {_listed(hint.values)}"
        if self.rule.is_mandatory and self.rule.alternatives:
            yield "missing", 0.9, "it is mandatory, and nothing is found"
        if differing:
            yield (
                "missing",
                0.4,
                f"nothing is found; another candidate finds {_listed(differing[0].values)}",
            )
        weak = self.page.hints.get(self.rule.attribute)
        if weak and weak.values and weak.confidence >= WEAK_HINT and self._is_free(weak):
            yield "missing", 0.35, f"nothing is found; a suggestion says {_listed(weak.values)}"
        if hint:
            yield "absent", 0.0, "the page lacks it"
        labels = [new for new in self.news if new.what == "label"]
        named = next((new for new in labels if is_named(self.rule.attribute, new.text)), None)
        if named is not None:
            yield (
                "missing",
                0.6,
                f"nothing is found; only unannotated pages say {_listed([named.text])}",
            )
        new = next((new for new in self.news if self._fits(new)), None)
        if new is not None and not self._is_labelled():
            yield (
                "missing",
                0.3,
                f"nothing is found; {_listed([new.text])} is unlike anything annotated",
            )
        yield "absent", 0.0, "the page shows nothing that annotated pages do not"

    def _is_free(self, hint: SuggestedValues) -> bool:
        """Say whether a weak hint shows no value of another attribute, where there is no rule."""
        nodes = self.columns.index.nodes
        wanted = compared(hint.values)
        taken = {"".join(nodes[n].shown.split()) for n in numbers_of(self.claimed & self.page.bits)}
        return not self.rule.alternatives and self.trusts_hints and not wanted & taken

    def _fits(self, new: New) -> bool:
        """Say whether something new could be a value that the rule misses."""
        if new.what == "label" or len(new.text) > LONGEST_NEW or not self._is_where_missed(new):
            return False
        kind = implied_type(self.rule.attribute, self.rule.type)
        if kind == IMAGE or new.what == "image":
            return kind == IMAGE and new.what == "image"
        if not has_pattern(kind):
            return kind == "text" and bool(self.rule.alternatives)
        return any(end - start > len(new.text) / 2 for start, end in find_typed(kind, new.text))

    def _is_where_missed(self, new: New) -> bool:
        """Say whether something new stands on pages where the rule misses, and on no page where it finds."""
        is_usual = not self.rule.alternatives or 2 * len(new.pages) >= len(self.misses_on)
        return is_usual and not new.pages & self.finds_on

    def _is_labelled(self) -> bool:
        """Say whether the rule holds on to a label, without which a miss is no surprise."""
        ways = self.rule.alternatives
        return bool(ways) and all(any(f.kind in ANCHORS for f in one.features) for one in ways)

    def _is_claimed(self) -> bool:
        """Say whether the values' nodes belong to other attributes here, though they did not elsewhere."""
        nodes = serving_alternative(self.columns, self.rule, self.page.bits)[1]
        return not self.shares and all(self.claimed >> node & 1 for node in nodes)

    def _n_selected(self) -> int:
        alternative, _ = serving_alternative(self.columns, self.rule, self.page.bits)
        if alternative is None or self.rule.is_multi:
            return 0
        return selected_nodes(self.columns, alternative, self.page.bits).bit_count()


def _listed(values: Sequence[str]) -> str:
    shown = [f"“{value if len(value) <= 40 else value[:39] + '…'}”" for value in values[:3]]
    return ", ".join(shown) if shown else "nothing"
