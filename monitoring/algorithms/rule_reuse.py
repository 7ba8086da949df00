"""Find an old rule that still serves a new cluster, so that nobody annotates what did not change.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-C.
Notation:   C, a new cluster -> `NewCluster`; C_1 … C_k, the old clusters with which it shares URLs
            -> `OldCluster`; U, the URLs that C shares with any of them -> `shared_urls`; R_m, the
            rule of the matching cluster C_m, applied to the old and the new version of each page of
            U -> `Versions`.
Readings:   Cluster match: equal masked signatures. Page match: the signature of C_i covers the
            vector of every page of C. The stricter variant that any old cluster passes decides;
            ties go to the largest importance, then to the name. A mandatory attribute that R_m did
            not extract from the old version is not asked of the new one.
Departures: Where neither variant finds a cluster, because an advertisement changed every signature,
            the field test may find it alone: the old cluster with the most shared URLs whose rule
            passes it on every page, with optional attributes that come out as often as before. A
            page of U whose constant value its new version shows nowhere is no evidence against the
            rule, while such pages are few.
Cost:       Linear in the pages of U and of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.published.signatures import read_signature
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.site_change import FailedField, field_test
from rules.algorithms.running.record_lines import Line

CLUSTER_MATCH: Final = "cluster_match"
PAGE_MATCH: Final = "page_match"
FIELD_MATCH: Final = "field_match"
MAX_EXCUSED_SHARE: Final = 0.1  # of the pages of U, whose golden values are shown nowhere any more
MIN_SHARE_OF_U: Final = 0.2  # of the pages of U that were of the matching cluster
MIN_SHARE_LEFT: Final = 0.5  # of the pages that had an optional attribute
MIN_PAGES_OF_ATTRIBUTE: Final = 3  # that had an attribute before its share counts


@dataclass(frozen=True, slots=True)
class OldCluster:
    """A cluster of before, with what its rule inherited from it."""

    name: str
    urls: frozenset[str]
    signature: str
    importance: float
    has_rule: bool = True


@dataclass(frozen=True, slots=True)
class NewCluster:
    """A cluster of the pages as they are now."""

    name: str
    vector_by_url: Mapping[str, int | None]
    signature: str

    @property
    def urls(self) -> frozenset[str]:
        return frozenset(self.vector_by_url)


@dataclass(frozen=True, slots=True)
class Versions:
    """What a rule extracts from a page's old and new version, and what the new version shows."""

    url: str
    old: Sequence[Line]
    new: Sequence[Line]
    shown: str = ""


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """The result of the field test of a rule on the pages of U."""

    has_passed: bool
    n_pages: int
    n_passed: int
    n_excused: int
    why: str
    failed: Mapping[str, Sequence[FailedField]] = field(default_factory=dict)  # by URL


@dataclass(frozen=True, slots=True)
class Reuse:
    """Whether an old cluster's rule serves a new cluster, and why."""

    from_cluster: str | None  # None: no rule can be reused
    variant: str  # how the matching cluster was found, also where its rule is not reused
    url_share: float  # of the new cluster's URLs that the old one had
    why: Sequence[str]  # the decision, step by step
    verdict: FieldVerdict | None = None


def find_reuse(
    new: NewCluster,
    old: Sequence[OldCluster],
    versions_of: Callable[
        [OldCluster, frozenset[str]], tuple[Sequence[Versions], Sequence[AttributeType]]
    ],
) -> Reuse:
    """Return the old cluster whose rule serves a new one.

    `versions_of` applies the rule of an old cluster to both versions of the pages of U, or of some
    of them where they are many.
    """
    candidates = sorted(
        (cluster for cluster in old if cluster.has_rule and cluster.urls & new.urls),
        key=lambda cluster: (-len(cluster.urls & new.urls), -cluster.importance, cluster.name),
    )
    if not candidates:
        return Reuse(None, "", 0.0, ("It shares no address with a cluster that has a rule.",))
    overlaps = ", ".join(_describe_overlap(cluster, new) for cluster in candidates)
    variant, matching = match_clusters(new, candidates)
    # C_m is selected before its rule is tested; without a match the test decides alone.
    selected = (matching or candidates)[0]
    why = [f"It shares addresses with {overlaps}.", _describe_match(variant, matching)]
    shared = shared_urls(new, old)
    n_tested = len(selected.urls & shared)
    if n_tested < MIN_SHARE_OF_U * len(shared):
        too_few = f"Only {n_tested} of {len(shared)} known pages were of {selected.name}."
        return Reuse(None, variant, share_of(selected, new), [*why, too_few])
    versions, attributes = versions_of(selected, shared)
    verdict = field_test_of_rule(versions, attributes, is_strict=not variant)
    why.append(f"Field test of the rule of {selected.name}: {verdict.why}")
    if verdict.has_passed:
        return Reuse(selected.name, variant or FIELD_MATCH, share_of(selected, new), why, verdict)
    return Reuse(None, variant, share_of(candidates[0], new), why, verdict)


def match_clusters(new: NewCluster, old: Iterable[OldCluster]) -> tuple[str, list[OldCluster]]:
    """Return the old clusters that match a new one, most important first, and by which variant."""
    known = sorted(
        (cluster for cluster in old if cluster.signature),
        key=lambda cluster: (-cluster.importance, cluster.name),
    )
    by_cluster = [cluster for cluster in known if cluster.signature == new.signature]
    if by_cluster:
        return CLUSTER_MATCH, by_cluster
    vectors = new.vector_by_url.values()
    by_page = [cluster for cluster in known if _covers_all(cluster.signature, vectors)]
    if by_page:
        return PAGE_MATCH, by_page
    return "", []


def shared_urls(new: NewCluster, old: Iterable[OldCluster]) -> frozenset[str]:
    """Return U: the URLs of a new cluster that any old one had."""
    return frozenset(url for cluster in old for url in cluster.urls & new.urls)


def share_of(old: OldCluster, new: NewCluster) -> float:
    """Return which share of a new cluster's URLs an old one had."""
    return len(old.urls & new.urls) / len(new.urls) if new.urls else 0.0


def field_test_of_rule(
    versions: Sequence[Versions], attributes: Sequence[AttributeType], *, is_strict: bool = False
) -> FieldVerdict:
    """Test whether a rule gives the new pages' mandatory values and the old pages' constant ones.

    Where it is strict, optional attributes must not have become rare either.
    """
    failed = {}
    n_excused = 0
    for version in versions:
        failures = field_test(version.old, version.new, attributes)
        if failures and is_excused(failures, version):
            n_excused += 1
        elif failures:
            failed[version.url] = failures
    n_pages = len(versions)
    n_passed = n_pages - len(failed) - n_excused
    rare = rare_attributes(versions, attributes) if is_strict else []
    are_few_excused = n_excused <= MAX_EXCUSED_SHARE * n_pages
    return FieldVerdict(
        has_passed=n_passed > 0 and not failed and are_few_excused and not rare,
        n_pages=n_pages,
        n_passed=n_passed,
        n_excused=n_excused,
        why=_describe_test(n_passed, n_pages, failed, rare),
        failed=failed,
    )


def is_excused(failed: Iterable[FailedField], versions: Versions) -> bool:
    """Return whether the page itself no longer shows any of the values that a rule lost on it."""
    shown = plain(versions.shown)
    if not shown:
        return False
    for failure in failed:
        golden = failure.golden
        if any(plain(text) in shown for text in ([golden] if isinstance(golden, str) else golden)):
            return False
    return True


def rare_attributes(versions: Sequence[Versions], attributes: Iterable[AttributeType]) -> list[str]:
    """Return the attributes that come out on far fewer of the new versions than of the old ones."""
    rare = []
    for attribute in attributes:
        n_old = sum(_has(version.old, attribute.name) for version in versions)
        n_new = sum(_has(version.new, attribute.name) for version in versions)
        if n_old >= MIN_PAGES_OF_ATTRIBUTE and n_new < MIN_SHARE_LEFT * n_old:
            rare.append(attribute.name)
    return rare


def _has(lines: Sequence[Line], name: str) -> bool:
    return any(name in line.values for line in lines)


def _covers_all(signature: str, vectors: Iterable[int | None]) -> bool:
    masked = read_signature(signature)
    return all(vector is not None and masked.covers(vector) for vector in vectors)


def _describe_overlap(old: OldCluster, new: NewCluster) -> str:
    return f"{old.name} ({len(old.urls & new.urls)} of {len(new.urls)})"


def _describe_match(variant: str, matching: Sequence[OldCluster]) -> str:
    if not variant:
        return (
            "No old signature equals its own or covers all its pages; the field test decides alone."
        )
    names = ", ".join(cluster.name for cluster in matching)
    if variant == CLUSTER_MATCH:
        return f"Cluster match: its signature is that of {names}."
    return f"Page match: the signature of {names} covers all its pages."


def _describe_test(
    n_passed: int, n: int, failed: Mapping[str, Sequence[FailedField]], rare: Sequence[str]
) -> str:
    results = [f"passed on {n_passed} of {n} pages"]
    if failed:
        url, failures = next(iter(failed.items()))
        first = failures[0]
        results.append(f"first failure: {first.attribute} ({first.kind}) on {url}")
    if rare:
        results.append(f"{', '.join(rare)} came out on few pages only")
    return f"{'; '.join(results)}."
