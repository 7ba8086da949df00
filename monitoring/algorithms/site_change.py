"""Tell a change of template from a change of content: the shingle test and the field test.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B.
Notation:   Bellwether URLs, 10 to 20 pages of a cluster -> `PageTest`, one each; golden extractions
            -> `golden`, the records of the page at the time of learning; the three ways in which a
            rule fails: shingle changes -> `shingle_test` False, null and incorrect extractions ->
            `FailedField`.
Readings:   The tests of the paper fail by majority of the pages: more than half of those that are
            reachable. Mandatory attributes must be extracted where the golden record has them: what
            a rule never found on a page is not lost there. Where the cluster's signature did not
            cover the page as it was, the page is compared with itself: 6 of 8 bytes, as two pages
            that are structurally similar.
Departures: The paper's verdict, either test, stays beside ours (`is_changed_for_the_paper`). For us
            a failed shingle test needs the values to confirm it: golden values lost on a quorum of
            the pages, or fewer pages of the cluster from which the rule gets its mandatory values.
            A page that answers with an error, a wall or nothing is no evidence. A structure test
            looks for the paths of the golden nodes on the new page; it explains, it does not
            decide. A golden value that still stands on the page while the rule gives another one is
            `displaced`: wrong but plausible, a warning.
Cost:       Linear in the pages and values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.published.shingles import masked_vectors
from monitoring.algorithms.known_values import same_value
from rules.algorithms.running.matching import read_signature
from rules.algorithms.running.record_lines import Line

Kind = Literal["null_extraction", "incorrect_extraction"]

NULL_EXTRACTION: Final = "null_extraction"
INCORRECT_EXTRACTION: Final = "incorrect_extraction"
OK: Final = "ok"
CHANGED: Final = "changed"
UNREACHABLE: Final = "unreachable"
MIN_TELLING_CHARS: Final = 4  # of a value that a page does not show by chance
MAX_VALUE_CHARS: Final = 500  # of a value in a failure
# Bellwethers that must answer before anybody is alarmed, where there are as many.
MIN_REACHABLE: Final = 3
MIN_PAGES_OF_ATTRIBUTE: Final = 3  # that had an attribute before it counts as lost


@dataclass(frozen=True)
class Thresholds:
    """When a cluster counts as broken; the paper's are 0.5 for both majorities."""

    pages: float = 0.5  # share of the reachable bellwethers above which a test fails
    quorum: float = 0.1  # share of them whose lost values confirm a failed shingle test
    coverage_drop: float = 0.1  # of the pages with all mandatory values, that confirms it as well
    reachable: float = 0.5  # share of the bellwethers that must answer; fewer are fetched again
    # Share of a site's rules; when no more break, the paper takes it for a false alarm.
    rules: float = 0.1
    # Of the pages, or of the records with an attribute, among all that come in.
    crawl_drop: float = 0.2


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
    why: str = ""  # unreachable: a word of soft_errors


@dataclass(frozen=True, slots=True)
class ClusterVerdict:
    """Whether a cluster is broken, by which shares."""

    cluster: str
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

    @property
    def reachable_share(self) -> float:
        return self.n_reachable / self.n_pages if self.n_pages else 0.0

    @property
    def has_quorum(self) -> bool:
        """Return whether enough pages answered for anybody to be alarmed."""
        return self.n_reachable >= min(MIN_REACHABLE, self.n_pages)


def shingle_test(vector: int | None, signature: str, old_vector: int | None = None) -> bool | None:
    """Return whether a page still has the structure of its cluster; None without anything to compare with.

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
        if old is None or not (attribute.is_constant or attribute.is_mandatory):
            continue
        if new is None:
            failed.append(FailedField(attribute.name, old, None, NULL_EXTRACTION))
        elif attribute.is_constant and not same_value(attribute.type, old, new):
            failed.append(FailedField(attribute.name, old, new, INCORRECT_EXTRACTION))
    return failed


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
    """Return the attributes that have another value now, while the page's text still shows the golden one."""
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
    """Return whether most of the paths of golden values exist on the page; None without any path."""
    wanted = {without_positions(path) for path in golden_paths}
    return len(wanted & paths) * 2 > len(wanted) if wanted else None


def without_positions(path: str) -> str:
    """Return the path of an element without positions, of a text or attribute that of its element.

    >>> without_positions("/html/body/div[2]/p[1]/text()[1]")
    '/html/body/div/p'
    """
    steps = [step.partition("[")[0] for step in path.split("/")]
    return "/".join(step for step in steps if step != "text()" and not step.startswith("@"))


def judge_cluster(
    cluster: str,
    tests: Sequence[PageTest],
    *,
    coverage: tuple[float, float] | None = None,
    thresholds: Thresholds = Thresholds(),
) -> ClusterVerdict:
    """Return the verdict of a cluster.

    `coverage` is the share of its pages with all mandatory values, as it was and as it is.
    """
    reachable = [test for test in tests if test.outcome != UNREACHABLE]
    n = len(reachable)
    n_shingle = sum(test.shingle_test is False for test in reachable)
    n_field = sum(test.field_test is False for test in reachable)
    shingle_fails = n_shingle > thresholds.pages * n
    field_fails = n_field > thresholds.pages * n
    confirmation = _confirmation(reachable, n_field, coverage, thresholds) if shingle_fails else ""
    is_broken = field_fails or bool(confirmation)
    return ClusterVerdict(
        cluster=cluster,
        is_broken=is_broken,
        is_changed_for_the_paper=shingle_fails or field_fails,
        reason=_reason(
            cluster,
            n_pages=len(tests),
            n_reachable=n,
            n_shingle=n_shingle,
            n_field=n_field,
            confirmation=confirmation,
            is_broken=is_broken,
        ),
        n_reachable=n,
        shingle_share=n_shingle / n if n else 0.0,
        field_share=n_field / n if n else 0.0,
        warnings=() if is_broken else tuple(_warnings(cluster, reachable, is_other=shingle_fails)),
        n_pages=len(tests),
        structure_share=sum(test.structure_test is False for test in reachable) / n if n else 0.0,
        coverage=coverage,
    )


def _confirmation(
    reachable: Sequence[PageTest],
    n_field: int,
    coverage: tuple[float, float] | None,
    thresholds: Thresholds,
) -> str:
    """Return by what the values confirm a failed shingle test; blank where they do not."""
    if n_field and n_field >= thresholds.quorum * len(reachable):
        return f"golden values are lost on {n_field} of them"
    gone = lost_attributes(reachable)
    if gone:
        return f"{', '.join(gone)} came out on none of the pages that had it"
    if coverage is not None and coverage[0] - coverage[1] > thresholds.coverage_drop:
        return (
            f"the pages with all mandatory values fell from {coverage[0]:.0%} to {coverage[1]:.0%}"
        )
    return ""


def lost_attributes(tests: Sequence[PageTest]) -> list[str]:
    """Return the attributes that some golden records have and that came out on none of those pages."""
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
                f"{cluster}: {name} is another value on {n_displaced} of {n_had} pages, though the golden "
                "one is still shown there; is it the right one?"
            )
    return warnings


def _reason(
    cluster: str,
    *,
    n_pages: int,
    n_reachable: int,
    n_shingle: int,
    n_field: int,
    confirmation: str,
    is_broken: bool,
) -> str:
    """Return the verdict in one sentence."""
    if not n_reachable:
        return f"{cluster}: none of {n_pages} bellwethers can be reached; nothing is known"
    if is_broken and not confirmation:
        return f"{cluster}: the field test fails on {n_field} of {n_reachable} bellwethers"
    shingle = f"{cluster}: the shingle test fails on {n_shingle} of {n_reachable} bellwethers"
    if confirmation:
        return f"{shingle} and {confirmation}"
    if n_shingle * 2 > n_reachable:
        return f"{shingle}, but the values are the same"
    if n_field or n_shingle:
        return (
            f"{cluster}: of {n_reachable} bellwethers {n_shingle} fail the shingle test "
            f"and {n_field} the field test, no majority"
        )
    return f"{cluster}: all {n_reachable} bellwethers are as they were"


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_VALUE_CHARS]
    return [_shorten(part) for part in value] if isinstance(value, list) else value
