"""Find an old rule that still serves a new cluster, so that nobody annotates what did not change.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section IV-C.
Notation:   C, a new cluster -> `NewCluster`; C_1 … C_k, the old clusters with which it shares URLs ->
            `OldCluster`; U, the URLs that C shares with any of them -> `shared_urls`; R_m, the rule of the
            matching cluster C_m, applied to the old and the new version of each page of U -> `Versions`.
Readings:   Cluster match: equal masked signatures. Page match: the signature of C_i covers the vector of
            every page of C. The stricter variant that any old cluster passes decides; ties go to the largest
            importance, then to the name. A mandatory attribute that R_m did not extract from the old version
            is not asked of the new one.
Departures: Where neither variant finds a cluster, because an advertisement changed every signature, the field
            test may find it alone: the old cluster with the most shared URLs whose rule passes it on every
            page, with optional attributes that come out as often as before. A page of U whose constant
            value its new version shows nowhere is no evidence against the rule, while such pages are few.
Cost:       Linear in the pages of U and of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.site_change import NULL_EXTRACTION, FailedField, field_test
from rules.algorithms.running.matching import read_signature
from rules.algorithms.running.record_lines import Line

CLUSTER_MATCH: Final = "cluster_match"
PAGE_MATCH: Final = "page_match"
FIELD_MATCH: Final = "field_match"
MOST_EXCUSED: Final = 0.1  # share of the pages of U whose golden values are shown nowhere any more
FEWEST_LEFT: Final = 0.5  # of the share of pages that had an optional attribute
FEWEST_PAGES: Final = 3  # that must have an attribute before its share says something


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
    """What a rule extracts from the old and from the new version of a page, and what the new one shows."""

    url: str
    old: Sequence[Line]
    new: Sequence[Line]
    shown: str = ""


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """What the field test says of a rule on the pages of U."""

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
    variant: str
    url_share: float  # of the new cluster's URLs that the old one had
    why: Sequence[str]  # the decision, step by step
    verdict: FieldVerdict | None = None


def find_reuse(
    new: NewCluster,
    old: Sequence[OldCluster],
    versions_of: Callable[[OldCluster], tuple[Sequence[Versions], Sequence[AttributeType]]],
) -> Reuse:
    """Return the old cluster whose rule serves a new one.

    `versions_of` applies the rule of an old cluster to both versions of the pages that it shares with C.
    """
    candidates = sorted(
        (one for one in old if one.has_rule and one.urls & new.urls),
        key=lambda one: (-len(one.urls & new.urls), -one.importance, one.name),
    )
    if not candidates:
        return Reuse(None, "", 0.0, ("It shares no address with a cluster that has a rule.",))
    why = [f"It shares addresses with {', '.join(_told(one, new) for one in candidates)}."]
    variant, matching = match_clusters(new, candidates)
    why.append(_told_match(variant, matching))
    ordered = matching or candidates
    for one in ordered if variant else ordered[:1]:
        versions, attributes = versions_of(one)
        verdict = field_test_of_rule(versions, attributes, is_strict=not variant)
        why.append(f"Field test of the rule of {one.name}: {verdict.why}")
        if verdict.has_passed:
            return Reuse(one.name, variant or FIELD_MATCH, share_of(one, new), tuple(why), verdict)
        if variant:  # C_m is selected before its rule is tested
            break
    best = candidates[0]
    return Reuse(None, "", share_of(best, new), tuple(why), verdict)


def match_clusters(new: NewCluster, old: Iterable[OldCluster]) -> tuple[str, list[OldCluster]]:
    """Return the old clusters that match a new one, most important first, and by which variant."""
    known = [one for one in old if one.signature]
    by_cluster = [one for one in known if one.signature == new.signature]
    by_page = [one for one in known if _covers_all(one.signature, new.vector_by_url.values())]
    for variant, found in ((CLUSTER_MATCH, by_cluster), (PAGE_MATCH, by_page)):
        if found:
            return variant, sorted(found, key=lambda one: (-one.importance, one.name))
    return "", []


def shared_urls(new: NewCluster, old: Iterable[OldCluster]) -> frozenset[str]:
    """Return U: the URLs of a new cluster that any old one had."""
    return frozenset(url for one in old for url in one.urls & new.urls)


def share_of(old: OldCluster, new: NewCluster) -> float:
    """Return which share of a new cluster's URLs an old one had."""
    return len(old.urls & new.urls) / len(new.urls) if new.urls else 0.0


def field_test_of_rule(
    versions: Sequence[Versions], attributes: Sequence[AttributeType], *, is_strict: bool = False
) -> FieldVerdict:
    """Say whether a rule gives the constant values of the old pages and all mandatory values on the new ones.

    Where it is strict, optional attributes must not have become rare either.
    """
    failed, n_excused = {}, 0
    for one in versions:
        found = field_test(one.old, one.new, attributes)
        if found and is_excused(found, one):
            n_excused += 1
        elif found:
            failed[one.url] = found
    n_judged = len(versions)
    n_passed = n_judged - len(failed) - n_excused
    rare = rare_attributes(versions, attributes) if is_strict else []
    has_passed = n_passed > 0 and not failed and n_excused <= MOST_EXCUSED * n_judged and not rare
    return FieldVerdict(
        has_passed,
        n_judged,
        n_passed,
        n_excused,
        _told_test(n_passed, n_judged, failed, rare),
        failed,
    )


def is_excused(failed: Iterable[FailedField], versions: Versions) -> bool:
    """Say whether the page itself no longer shows any of the values that a rule lost on it."""
    whole = plain(versions.shown)
    values = [one.was for one in failed if one.kind != NULL_EXTRACTION or one.was is not None]
    texts = [text for value in values for text in ([value] if isinstance(value, str) else value)]
    return bool(whole) and all(plain(text) not in whole for text in texts)


def rare_attributes(versions: Sequence[Versions], attributes: Iterable[AttributeType]) -> list[str]:
    """Return the attributes that come out on far fewer of the new versions than of the old ones."""
    rare = []
    for attribute in attributes:
        had = [one for one in versions if _has(one.old, attribute.name)]
        n_new = sum(_has(one.new, attribute.name) for one in versions)
        if len(had) >= FEWEST_PAGES and n_new < FEWEST_LEFT * len(had):
            rare.append(attribute.name)
    return rare


def _has(lines: Sequence[Line], name: str) -> bool:
    return any(name in line.values for line in lines)


def _covers_all(signature: str, vectors: Iterable[int | None]) -> bool:
    masked = read_signature(signature)
    return all(vector is not None and masked.covers(vector) for vector in vectors)


def _told(one: OldCluster, new: NewCluster) -> str:
    return f"{one.name} ({len(one.urls & new.urls)} of {len(new.urls)})"


def _told_match(variant: str, matching: Sequence[OldCluster]) -> str:
    if not variant:
        return (
            "No old signature equals its own or covers all its pages; the field test decides alone."
        )
    names = ", ".join(one.name for one in matching)
    if variant == CLUSTER_MATCH:
        return f"Cluster match: its signature is that of {names}."
    return f"Page match: the signature of {names} covers all its pages."


def _told_test(n_passed: int, n: int, failed: Mapping[str, Any], rare: Sequence[str]) -> str:
    told = f"passed on {n_passed} of {n} pages"
    if failed:
        url, fields = next(iter(failed.items()))
        told += f"; first failure: {fields[0].attribute} ({fields[0].kind}) on {url}"
    if rare:
        told += f"; {', '.join(rare)} came out on few pages only"
    return f"{told}."
