"""Tell a change of template from one of content and an outage, by the values that rules give.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B.
Notation:   Bellwether URLs, 10 to 20 pages of a cluster -> `PageTest`, one each; golden extractions
            -> `golden`, the records of the page at the time of learning; the three ways in which a
            rule fails: shingle changes -> `shingle_test` False, null and incorrect extractions ->
            `FailedField`. A page is seen unless something else stands in its place (`lost_pages`).
Readings:   The tests of the paper fail by majority of the pages: more than half of those that are
            seen. Mandatory attributes must be extracted where the golden record has them: what
            a rule never found on a page is not lost there. Where the cluster's signature did not
            cover the page as it was, the page is compared with itself: 6 of 8 bytes, as two pages
            that are structurally similar.
Departures: The paper's verdict, either test, stays beside ours (`is_changed_for_the_paper`). For us
            a field is lost on a page where its value still stands and the rule gives another one or
            none, or where a value is none of its type; what the page itself no longer shows is
            content. Only seen pages count, and a cluster whose pages are mostly not seen is never
            broken. A page fails where it loses more than half of its fields, or some in another
            form. Where nearly all pages fail the cluster is redesigned; where some do, one thing in
            the old pages must tell which, else it is chance (two designs on trial) and undecided.
            A field that is lost on most of its pages is broken even where the rest is well. A
            structure test looks for the paths of the golden nodes on the new page; it explains, it
            does not decide.
Cost:       Linear in the pages and values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.published.shingles import masked_vectors
from clustering.algorithms.published.signatures import read_signature
from monitoring.algorithms.known_values import TYPED, same_value, typed_form
from monitoring.algorithms.lost_pages import OTHER_CONTENT
from monitoring.algorithms.verdicts import (
    AS_IT_WAS,
    BROKEN,
    CONTENT_CHANGED,
    PARTLY_REDESIGNED,
    REDESIGNED,
    UNDECIDED,
    UNREACHABLE,
    USUAL_THRESHOLDS,
    Thresholds,
)
from rules.algorithms.running.record_lines import Line

Kind = Literal["null_extraction", "incorrect_extraction"]
# Return the names of the layouts whose pages fail, among some; none where who fails is chance.
Divide = Callable[[frozenset[str], frozenset[str]], Sequence[str]]

NULL_EXTRACTION: Final = "null_extraction"
INCORRECT_EXTRACTION: Final = "incorrect_extraction"
OK: Final = "ok"
CHANGED: Final = "changed"
MIN_TELLING_CHARS: Final = 4  # of a value that a page does not show by chance
MAX_VALUE_CHARS: Final = 500  # of a value in a failure
# Bellwethers that must answer before anybody is alarmed, where there are as many.
MIN_REACHABLE: Final = 3
MIN_PAGES_OF_ATTRIBUTE: Final = 3  # that had an attribute before it counts as lost
MIN_SEEN_OF_ANSWERED: Final = 0.6  # fewer: another language, or other content
MIN_SEEN_BESIDE_OTHERS: Final = 1 / 3  # of the answered, where nearly all of those fail
MIN_SHARE_REDESIGNED: Final = 0.9  # of the seen pages, that fail; with fewer it is a part of them
MAX_FORM_OF_REDESIGN: Final = 0.6  # likeness of a page's form to that of before


@dataclass(frozen=True, slots=True)
class FailedField:
    """A golden value that the rule no longer gives."""

    attribute: str
    golden: Any
    extracted: Any
    kind: Kind

    def as_json(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "was": _shorten(self.golden),
            "now": _shorten(self.extracted),
            "kind": self.kind,
        }

    @classmethod
    def from_json(cls, failure: Mapping[str, Any]) -> FailedField:
        return cls(failure["attribute"], failure["was"], failure["now"], failure["kind"])


@dataclass(frozen=True, slots=True)
class PageTest:
    """The results of the tests of a bellwether."""

    url: str
    outcome: Literal["ok", "changed", "unreachable"]
    shingle_test: bool | None = None  # None: not done
    field_test: bool | None = None
    structure_test: bool | None = None
    failed: tuple[FailedField, ...] = ()
    vanished: frozenset[str] = frozenset()  # optional attributes that the golden record has
    displaced: frozenset[str] = frozenset()  # attributes whose golden value stands elsewhere now
    had: frozenset[str] = frozenset()  # attributes of the golden record
    lost: frozenset[str] = frozenset()  # those that the rule no longer gives though it should
    form_likeness: float = 1.0  # of the page's form to that of before
    has_other_values: bool = False
    n_own: int = 0  # texts that tell the page from others, as it was
    n_standing: int = 0  # of them, those that stand anywhere on it
    gone: tuple[str, ...] = ()  # some of the others
    why: str = ""  # unreachable: a word of soft_errors or lost_pages

    @property
    def shows_other_content(self) -> bool:
        """Whether the page answers and shows nothing of what it showed."""
        return self.outcome == UNREACHABLE and self.why == OTHER_CONTENT

    def fails(self, but: Collection[str] = ()) -> bool:
        """Return whether most fields outside `but` are lost, or some on a page of another form."""
        lost = self.lost.difference(but)
        if len(lost) * 2 > len(self.had):
            return True
        return bool(lost) and self.form_likeness < MAX_FORM_OF_REDESIGN


@dataclass(frozen=True, slots=True)
class ClusterVerdict:
    """How a cluster is, and by which shares."""

    cluster: str
    state: str
    is_broken: bool
    is_changed_for_the_paper: bool
    reason: str  # one sentence
    n_reachable: int
    shingle_share: float  # of the reachable bellwethers that fail the shingle test
    field_share: float
    warnings: tuple[str, ...] = ()
    n_pages: int = 0
    structure_share: float = 0.0
    coverage: tuple[float, float] | None = None
    n_failing: int = 0  # seen pages that fail
    lost_fields: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()  # whose pages fail
    is_mixed: bool = False  # some pages fail, and nothing tells which
    form_likeness: float = 1.0  # of its seen pages to those of before: the median

    @property
    def reachable_share(self) -> float:
        return self.n_reachable / self.n_pages if self.n_pages else 0.0

    @property
    def has_quorum(self) -> bool:
        """Return whether enough pages are seen for anything to be said of the cluster."""
        return self.state not in {UNREACHABLE, UNDECIDED}


def shingle_test(vector: int | None, signature: str, old_vector: int | None = None) -> bool | None:
    """Return whether a page still has its cluster's structure; None if nothing can be compared.

    A cluster's signature serves where it covered the page as it was, or nothing is known of that.
    """
    masked = read_signature(signature) if signature else None
    if masked is not None and (old_vector is None or masked.covers(old_vector)):
        return vector is not None and masked.covers(vector)
    if old_vector is None:
        return None
    return vector is not None and are_similar(vector, old_vector)


def are_similar(signature: int, other_signature: int) -> bool:
    """Return whether two signatures agree in 6 of 8 bytes."""
    return any(masked.covers(other_signature) for masked in masked_vectors(signature))


def field_test(
    golden: Sequence[Line], extracted: Sequence[Line], attributes: Iterable[AttributeType]
) -> list[FailedField]:
    """Return the golden values of a page that are no longer extracted; none: the test succeeds."""
    if _is_list(golden):
        return _test_list(golden, extracted, list(attributes))
    golden_values = golden[0].values if golden else {}
    new_values = extracted[0].values if extracted else {}
    return _test_record(golden_values, new_values, attributes)


def _test_record(
    golden: Mapping[str, Any], extracted: Mapping[str, Any], attributes: Iterable[AttributeType]
) -> list[FailedField]:
    failed = []
    for attribute in attributes:
        old, new = golden.get(attribute.name), extracted.get(attribute.name)
        if old is None:
            continue
        if new is None:
            if attribute.is_constant or attribute.is_mandatory:
                failed.append(FailedField(attribute.name, old, None, NULL_EXTRACTION))
        elif _is_incorrect(attribute, old, new):
            failed.append(FailedField(attribute.name, old, new, INCORRECT_EXTRACTION))
    return failed


def _is_incorrect(attribute: AttributeType, old: Any, new: Any) -> bool:
    if attribute.is_constant:
        return not same_value(attribute.type, old, new)
    return _is_no_value_of_type(attribute, old, new)


def _is_no_value_of_type(attribute: AttributeType, old: Any, new: Any) -> bool:
    """Return whether a value is none of its type, though the one before was."""
    if attribute.type not in TYPED or not isinstance(old, str) or not isinstance(new, str):
        return False
    has_form = typed_form(attribute.type, old) is not None
    return has_form and typed_form(attribute.type, new) is None


def _is_list(lines: Sequence[Line]) -> bool:
    return any(line.index is not None for line in lines)


def _test_list(
    golden: Sequence[Line], extracted: Sequence[Line], attributes: Sequence[AttributeType]
) -> list[FailedField]:
    """Compare the records that a list page still has; which ones it has is content.

    An attribute also fails where the share of the records that have it fell to less than half.
    """
    new_by_key = {line.key: line for line in extracted if line.values}
    failed = []
    for line in golden:
        if line.key in new_by_key and not _is_key_an_index(line):
            failed += _test_record(line.values, new_by_key[line.key].values, attributes)
    failed_names = {failure.attribute for failure in failed}
    for attribute in attributes:
        name = attribute.name
        if name in failed_names or not (attribute.is_mandatory or attribute.is_constant):
            continue
        golden_values = [line.values[name] for line in golden if name in line.values]
        n_new = sum(name in line.values for line in new_by_key.values())
        golden_share = len(golden_values) / max(len(golden), 1)
        new_share = n_new / max(len(new_by_key), 1)
        if golden_values and new_share < golden_share / 2:
            failed.append(FailedField(name, golden_values[0], None, NULL_EXTRACTION))
    return failed


def _is_key_an_index(line: Line) -> bool:
    """Return whether a record has no key of its own but its place in the list."""
    return str(line.key) == str(line.index)


def vanished_attributes(
    golden: Sequence[Line], extracted: Sequence[Line], attributes: Iterable[AttributeType]
) -> frozenset[str]:
    """Return the attributes that the golden record has and the new one has not, of any kind."""
    golden_names = {name for line in golden for name in line.values}
    new_names = {name for line in extracted for name in line.values}
    return frozenset(attribute.name for attribute in attributes) & (golden_names - new_names)


def displaced_attributes(
    golden: Sequence[Line],
    extracted: Sequence[Line],
    attributes: Iterable[AttributeType],
    text: str,
) -> frozenset[str]:
    """Return the attributes with another value while the page's text still shows the golden one."""
    if _is_list(golden) or not golden or not extracted:
        return frozenset()
    displaced = set()
    for attribute in attributes:
        old = golden[0].values.get(attribute.name)
        new = extracted[0].values.get(attribute.name)
        if not isinstance(old, str) or len(old) < MIN_TELLING_CHARS or new is None:
            continue
        if not same_value(attribute.type, old, new) and f" {old} " in f" {text} ":
            displaced.add(attribute.name)
    return frozenset(displaced)


def structure_test(golden_paths: Iterable[str], paths: frozenset[str]) -> bool | None:
    """Return whether most paths of golden values exist on the page; None if there are no paths."""
    wanted = {without_positions(path) for path in golden_paths}
    return len(wanted & paths) * 2 > len(wanted) if wanted else None


def without_positions(path: str) -> str:
    """Return the path of an element without positions, of a text or attribute that of its element.

    >>> without_positions("/html/body/div[2]/p[1]/text()[1]")
    '/html/body/div/p'
    """
    steps = [step.partition("[")[0] for step in path.split("/")]
    return "/".join(step for step in steps if step != "text()" and not step.startswith("@"))


def lost_fields(
    failed: Iterable[FailedField],
    vanished: Iterable[str],
    attributes: Iterable[AttributeType],
    *,
    is_shown: Callable[[FailedField], bool],
    has_other_form: bool,
) -> frozenset[str]:
    """Return the attributes of a page that its rule lost; what the page no longer shows is content.

    An attribute that the page may lack is lost where nothing comes out of a page of another form.
    """
    by_name = {attribute.name: attribute for attribute in attributes}
    lost = set(vanished) & by_name.keys() if has_other_form else set()
    for failure in failed:
        attribute = by_name[failure.attribute]
        is_gone = failure.kind == NULL_EXTRACTION and attribute.is_mandatory
        is_none_of_type = failure.kind == INCORRECT_EXTRACTION and not attribute.is_constant
        if is_gone or is_none_of_type or is_shown(failure):
            lost.add(failure.attribute)
    return frozenset(lost)


def judge_cluster(
    cluster: str,
    tests: Sequence[PageTest],
    *,
    coverage: tuple[float, float] | None = None,
    thresholds: Thresholds = USUAL_THRESHOLDS,
    divide: Divide | None = None,
    failed_before: frozenset[str] = frozenset(),
) -> ClusterVerdict:
    """Return the verdict of a cluster.

    `coverage` is the share of its pages with all mandatory values, as it was and as it is; `divide`
    names the layouts of some pages among others; `failed_before` are the pages that failed
    when it was left undecided.
    """
    seen = [test for test in tests if test.outcome != UNREACHABLE]
    n = len(seen)
    n_shingle = sum(test.shingle_test is False for test in seen)
    n_field = sum(test.field_test is False for test in seen)
    evidence = _Evidence(tests, seen, coverage, divide, failed_before)
    judged = _judge(evidence, thresholds)
    is_broken = judged.state in BROKEN
    is_other = n_shingle > thresholds.pages * n
    return ClusterVerdict(
        cluster=cluster,
        state=judged.state,
        is_broken=is_broken,
        is_changed_for_the_paper=is_other or n_field > thresholds.pages * n,
        reason=f"{cluster}: {judged.reason}",
        n_reachable=n,
        shingle_share=n_shingle / n if n else 0.0,
        field_share=n_field / n if n else 0.0,
        warnings=() if is_broken else tuple(_warnings(cluster, seen, is_other=is_other)),
        n_pages=len(tests),
        structure_share=sum(test.structure_test is False for test in seen) / n if n else 0.0,
        coverage=coverage,
        n_failing=sum(test.fails() for test in seen),
        lost_fields=judged.lost_fields,
        layouts=judged.layouts,
        is_mixed=judged.is_mixed,
        form_likeness=_median_likeness(seen),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    state: str
    reason: str
    lost_fields: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    is_mixed: bool = False


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a cluster is judged by."""

    tests: Sequence[PageTest]
    seen: Sequence[PageTest]
    coverage: tuple[float, float] | None
    divide: Divide | None
    failed_before: frozenset[str]


def _judge(evidence: _Evidence, thresholds: Thresholds) -> _Judged:
    """Return the state of a cluster, by the first of these that says one.

    1. Too little of it is seen.
    2. Nearly all pages lost most of their fields.
    3. Some pages lost most of their fields, beside those that are lost everywhere.
    4. Fields are lost on most of the other pages, or on those of one layout.
    5. Nothing is lost; its coverage may have fallen.
    """
    seen, divide = evidence.seen, evidence.divide
    n = len(seen)
    silent = _judge_silence(evidence, thresholds)
    if silent is not None:
        return silent
    failing = [test for test in seen if test.fails()]
    if len(failing) >= MIN_SHARE_REDESIGNED * n and len(failing) > thresholds.pages * n:
        has_other_form = _median_likeness(seen) < MAX_FORM_OF_REDESIGN
        state = REDESIGNED if has_other_form else PARTLY_REDESIGNED
        return _Judged(
            state, _failing_of(failing, n), _fields_lost_on_share(seen, thresholds.pages)
        )
    # What is lost everywhere tells no pages from others.
    lost_everywhere = _fields_lost_on_share(seen, MIN_SHARE_REDESIGNED)
    failing = [test for test in seen if test.fails(but=lost_everywhere)]
    if len(failing) > thresholds.quorum * n:
        return _judge_some_failing(failing, evidence, thresholds)
    others = [test for test in seen if test not in failing]
    fields = _fields_lost_on_share(others, thresholds.pages)
    if fields:
        reason = f"{', '.join(fields)} lost on most of {n} pages, though the rest is well"
        return _Judged(PARTLY_REDESIGNED, reason, fields)
    by_layout = _judge_fields_by_layout(others, divide)
    if by_layout is not None:
        return by_layout
    return _judge_calm(seen, evidence.coverage, thresholds)


def _judge_some_failing(
    failing: Sequence[PageTest], evidence: _Evidence, thresholds: Thresholds
) -> _Judged:
    """Return the state where some pages fail: partly redesigned, else undecided.

    It is partly redesigned if layouts tell the failing pages, or if the same pages failed before.
    """
    seen, divide = evidence.seen, evidence.divide
    n_failing = _failing_of(failing, len(seen))
    urls = frozenset(test.url for test in failing)
    layouts = tuple(divide(urls, frozenset(test.url for test in seen))) if divide else ()
    fields = _fields_lost_on_share(failing, thresholds.pages)
    if layouts:
        reason = f"{n_failing}: {', '.join(layouts)}"
        return _Judged(PARTLY_REDESIGNED, reason, fields, layouts)
    if _are_same(urls, evidence.failed_before):
        reason = f"{n_failing}, the same as when they were looked at before"
        return _Judged(PARTLY_REDESIGNED, reason, fields)
    reason = f"{n_failing}, and nothing tells which; it is looked at again"
    return _Judged(UNDECIDED, reason, is_mixed=True)


def _median_likeness(tests: Sequence[PageTest]) -> float:
    likeness = sorted(test.form_likeness for test in tests)
    return likeness[len(likeness) // 2] if likeness else 1.0


def _judge_silence(evidence: _Evidence, thresholds: Thresholds) -> _Judged | None:
    """Return the state of a cluster of which too little is seen to say more; None where enough is.

    Pages that show other content are evidence where the pages beside them fail, or where they
    do so again.
    """
    seen, n_seen, n_pages = evidence.seen, len(evidence.seen), len(evidence.tests)
    others = [test for test in evidence.tests if test.shows_other_content]
    n_answered = n_seen + len(others)
    is_enough = n_seen >= max(thresholds.reachable * n_pages, min(MIN_REACHABLE, n_pages))
    if is_enough and n_seen >= MIN_SEEN_OF_ANSWERED * n_answered:
        return None
    if not n_answered:
        return _Judged(
            UNREACHABLE, f"none of {n_pages} bellwethers can be reached; nothing is known"
        )
    if (n_pages - n_answered) * 2 >= n_pages:
        return _Judged(UNREACHABLE, f"only {n_seen} of {n_pages} bellwethers are there")

    has_other_form = _median_likeness([*seen, *others]) < MAX_FORM_OF_REDESIGN
    n_failing = sum(test.fails() for test in seen)
    are_some_seen = n_seen >= max(MIN_REACHABLE, MIN_SEEN_BESIDE_OTHERS * n_answered)
    if has_other_form and are_some_seen and n_failing >= MIN_SHARE_REDESIGNED * n_seen:
        return None
    what = f"{len(others)} of {n_answered} pages that answered show nothing of what they showed"
    if has_other_form and _are_same(frozenset(test.url for test in others), evidence.failed_before):
        return _Judged(
            REDESIGNED, f"{what}, in another form, the same as when they were looked at before"
        )
    return _Judged(UNDECIDED, f"{what}; it is looked at again")


def _are_same(urls: frozenset[str], earlier: frozenset[str]) -> bool:
    return len(urls & earlier) >= MIN_SHARE_REDESIGNED * len(urls | earlier)


def _failing_of(failing: Sequence[PageTest], n: int) -> str:
    return f"{len(failing)} of {n} pages lost most of their fields"


def _fields_lost_on_share(tests: Sequence[PageTest], share: float) -> tuple[str, ...]:
    """Return the fields that are lost on more than a share of the pages that had them."""
    fields = []
    for name in sorted({name for test in tests for name in test.lost}):
        n_had = sum(name in test.had for test in tests)
        n_lost = sum(name in test.lost for test in tests)
        if n_lost > share * n_had and n_lost >= min(MIN_PAGES_OF_ATTRIBUTE, len(tests)):
            fields.append(name)
    return tuple(fields)


def _judge_fields_by_layout(tests: Sequence[PageTest], divide: Divide | None) -> _Judged | None:
    """Return the state where fields are lost on the pages of one layout; None where there is none.

    A field counts where it is lost on enough pages, and `divide` finds layouts that tell these from
    the pages that had it.
    """
    if divide is None:
        return None
    layouts_by_field: dict[str, Sequence[str]] = {}
    for name in sorted({name for test in tests for name in test.lost}):
        lost_on = frozenset(test.url for test in tests if name in test.lost)
        if len(lost_on) < MIN_PAGES_OF_ATTRIBUTE:
            continue
        had_on = frozenset(test.url for test in tests if name in test.had)
        layouts = divide(lost_on, had_on)
        if layouts:
            layouts_by_field[name] = layouts
    if not layouts_by_field:
        return None
    fields = tuple(layouts_by_field)
    all_layouts = tuple(dict.fromkeys(chain.from_iterable(layouts_by_field.values())))
    reason = f"{', '.join(fields)} lost on {', '.join(all_layouts)}"
    return _Judged(PARTLY_REDESIGNED, reason, fields, all_layouts)


def _judge_calm(
    seen: Sequence[PageTest], coverage: tuple[float, float] | None, thresholds: Thresholds
) -> _Judged:
    """Return the state of a cluster whose rule gives what it gave; its shingles may be others."""
    n = len(seen)
    n_shingle = sum(test.shingle_test is False for test in seen)
    shingle = f"the shingle test fails on {n_shingle} of {n} bellwethers"
    if n_shingle > thresholds.pages * n:
        gone = tuple(lost_attributes(seen))
        if gone:
            reason = f"{shingle} and {', '.join(gone)} came out on none of the pages that had it"
            return _Judged(PARTLY_REDESIGNED, reason, gone)
        if coverage is not None and coverage[0] - coverage[1] > thresholds.coverage_drop:
            old, new = coverage
            reason = (
                f"{shingle} and the pages with all mandatory values fell from "
                f"{old:.0%} to {new:.0%}"
            )
            return _Judged(PARTLY_REDESIGNED, reason)
        return _Judged(CONTENT_CHANGED, f"{shingle}, but the values are the same")
    n_field = sum(test.field_test is False for test in seen)
    if n_field or n_shingle:
        return _Judged(
            CONTENT_CHANGED,
            f"of {n} bellwethers {n_shingle} fail the shingle test and {n_field} the field test; "
            "the rule still gives what they show",
        )
    if any(test.has_other_values for test in seen):
        return _Judged(CONTENT_CHANGED, f"values changed on some of {n} bellwethers")
    return _Judged(AS_IT_WAS, f"all {n} bellwethers are as they were")


def site_state(verdicts: Sequence[ClusterVerdict]) -> str:
    """Return the state of a site by those of its clusters.

    A cluster in another form whose rule still serves is a part of a redesign that broke others.
    Pages that are merely not seen leave the site undecided only where they are most of its pages.
    """
    judged = [verdict for verdict in verdicts if verdict.state not in {UNREACHABLE, UNDECIDED}]
    silent = [verdict for verdict in verdicts if verdict.state in {UNREACHABLE, UNDECIDED}]
    if any(verdict.is_broken for verdict in judged):
        n_redesigned = sum(
            verdict.n_reachable
            for verdict in judged
            if verdict.state == REDESIGNED
            or (not verdict.is_broken and verdict.form_likeness < MAX_FORM_OF_REDESIGN)
        )
        n_seen = sum(verdict.n_reachable for verdict in judged)
        return REDESIGNED if n_redesigned >= MIN_SHARE_REDESIGNED * n_seen else PARTLY_REDESIGNED
    if any(verdict.is_mixed for verdict in silent):
        return UNDECIDED
    n_silent = sum(verdict.n_pages for verdict in silent)
    if silent and n_silent * 2 >= sum(verdict.n_pages for verdict in verdicts):
        n_down = sum(verdict.n_pages for verdict in silent if verdict.state == UNREACHABLE)
        return UNREACHABLE if n_down * 2 >= n_silent else UNDECIDED
    is_calm = all(verdict.state == AS_IT_WAS for verdict in judged)
    return AS_IT_WAS if is_calm else CONTENT_CHANGED


def lost_attributes(tests: Sequence[PageTest]) -> list[str]:
    """Return the attributes of some golden records that came out on none of those pages."""
    names = sorted({name for test in tests for name in test.had})
    lost = []
    for name in names:
        had = [test for test in tests if name in test.had]
        if len(had) >= MIN_PAGES_OF_ATTRIBUTE and all(name in test.vanished for test in had):
            lost.append(name)
    return lost


def _warnings(cluster: str, reachable: Sequence[PageTest], *, is_other: bool) -> list[str]:
    """Return what does not break a cluster and should be inspected."""
    warnings = [
        f"{cluster}: {name} comes out nowhere any more" for name in lost_attributes(reachable)
    ]
    if is_other:
        warnings.append(
            f"{cluster}: the structure of its pages is another one, their values are the same"
        )
    names = sorted({name for test in reachable for name in test.displaced})
    for name in names:
        n_displaced = sum(name in test.displaced for test in reachable)
        n_had = sum(name in test.had for test in reachable)
        if n_displaced > 1 and n_displaced * 2 > n_had:
            warnings.append(
                f"{cluster}: {name} is another value on {n_displaced} of {n_had} pages, "
                "though the golden "
                "one is still shown there; is it the right one?"
            )
    return warnings


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_VALUE_CHARS]
    return [_shorten(part) for part in value] if isinstance(value, list) else value
