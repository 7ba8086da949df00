"""Decide which cluster's rule serves a page: one function for every kind of run.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE
            2011), section IV-A.
Notation:   A cluster's profile holds what IV-A knows of it: its URL pattern, its shingle signature
            v' and its importance, the count of v'.
Readings:   Where the page's address matches the pattern of one cluster only and no signature covers
            the page, the paper has no rule for it; neither have we under BY_SIGNATURE. A pattern
            that matches every address filters nothing.
Departures: By default (BY_MODEL) the model of the site's clustering decides, as it did for the
            stored pages, so that a run and the clustering agree; the order of IV-A is a setting of
            the site. IV-A is asked where the model answers with a group that belongs to several
            clusters. A cluster that a person split carries a model of its own.
Cost:       One observation of the page by the clustering's algorithm, one comparison with the
            model; BY_SIGNATURE reads the tags of the bytes and needs no tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from clustering.algorithms.assigning import (
    PageAssigner,
    assigner_for,
    check_signatures_installed,
    signature_of,
)
from clustering.algorithms.grouping import Model, RawPage, group_key
from clustering.algorithms.published.signatures import read_signature
from clustering.algorithms.url_patterns import matches

BY_MODEL: Final = "model"
BY_SIGNATURE: Final = "signature"  # the order of IV-A
VARIANTS = (BY_MODEL, BY_SIGNATURE)

# Why a page has no cluster; words to count by.
NO_CLUSTERS = "no_clusters"
NO_TAGS = "no_tags"
NO_URL_PATTERN = "no_url_pattern"
NO_SIGNATURE = "no_signature"
NO_PROFILE = "no_profile"
UNKNOWN_GROUP = "unknown_group"

_ANY_ADDRESS = {"", "(.*)"}


@dataclass(frozen=True, slots=True)
class ClusterProfile:
    """What tells the pages of a cluster by their addresses and tags; a cluster may have several."""

    name: str
    url_pattern: str = ""  # blank: any address
    # Sixteen hexadecimal digits, `**` for a byte that varies; blank: none is known.
    signature: str = ""
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class GroupModel:
    """What an algorithm needs to assign a page to a group, and the clusters of its groups."""

    algorithm: str
    model: Model
    clusters_by_group: Mapping[str, Sequence[str]]  # by `group_key`; most often one cluster
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the algorithm


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of a site, as `match_page` needs them; JSON values throughout."""

    profiles: Sequence[ClusterProfile] = ()
    grouping: GroupModel | None = None
    # By the cluster that a person split.
    splits: Mapping[str, GroupModel] = field(default_factory=dict)
    variant: str = BY_MODEL

    @property
    def goes_by_links(self) -> bool:
        """Return whether links to a page decide, so that it should bring its inbound XPath."""
        if self.variant == BY_SIGNATURE or self.grouping is None:
            return False
        return _assigner_of(self.grouping).goes_by_links


@dataclass(frozen=True, slots=True)
class Match:
    """The cluster of a page, None with a reason where there is none."""

    cluster: str | None
    variant: str
    why: str  # one sentence
    reason: str = ""  # one of the words above


def match_page(page: RawPage, clusters: Clusters) -> Match:
    """Return which cluster a page belongs to, and why."""
    if not clusters.profiles:
        return Match(None, clusters.variant, "The site has no clusters.", NO_CLUSTERS)
    if clusters.variant == BY_SIGNATURE or clusters.grouping is None:
        return match_by_signature(page, clusters.profiles)
    return _follow_splits(page, clusters, _match_by_model(page, clusters, clusters.grouping))


def match_by_signature(page: RawPage, profiles: Sequence[ClusterProfile]) -> Match:
    """Return the most important cluster whose URL pattern and signature match the page (IV-A)."""
    # First step: filter out rules whose URL regex does not match the page URL.
    by_url = [profile for profile in profiles if _fits_address(profile, page.url)]
    if not by_url:
        why = f"None of {len(profiles)} URL patterns matches the address."
        return Match(None, BY_SIGNATURE, why, NO_URL_PATTERN)
    # Second step: those whose shingle signatures match the page's shingle vector.
    vector = signature_of(page)
    if vector is None:
        return Match(None, BY_SIGNATURE, "The page has no tags.", NO_TAGS)
    by_both = [profile for profile in by_url if _covers(profile, vector)]
    if not by_both:
        names = ", ".join(profile.name for profile in by_url[:3])
        why = (
            f"The address fits {names}, but no signature of theirs covers the page's {vector:016x}."
        )
        return Match(None, BY_SIGNATURE, why, NO_SIGNATURE)
    best = max(by_both, key=_importance)
    why = f"URL pattern {best.url_pattern or '(.*)'} and signature {best.signature} match"
    if len(by_both) > 1:
        why += f"; more important than {len(by_both) - 1} other"
    return Match(best.name, BY_SIGNATURE, f"{why}.")


def _fits_address(profile: ClusterProfile, url: str) -> bool:
    return profile.url_pattern in _ANY_ADDRESS or matches(profile.url_pattern, url)


def _covers(profile: ClusterProfile, vector: int) -> bool:
    return bool(profile.signature) and read_signature(profile.signature).covers(vector)


def _importance(profile: ClusterProfile) -> tuple[float, str]:
    return profile.importance, profile.name  # the name breaks ties


def _match_by_model(page: RawPage, clusters: Clusters, grouping: GroupModel) -> Match:
    assigner = _assigner_of(grouping)
    group = assigner.find_group(grouping.model, page)
    if group is None:
        why = f"The page is like no group that {assigner.title} found."
        return Match(None, BY_MODEL, why, NO_PROFILE)
    of_group = grouping.clusters_by_group.get(group_key(group), ())
    profiles = [profile for profile in clusters.profiles if profile.name in of_group]
    names = {profile.name for profile in profiles}
    if not names:
        why = f"Nearest is group {group}, which belongs to no cluster any more."
        return Match(None, BY_MODEL, why, UNKNOWN_GROUP)
    why = f"Nearest is group {group} of {assigner.title}"
    if len(names) == 1:
        return Match(names.pop(), BY_MODEL, f"{why}.")
    return _break_tie(page, profiles, why)


def _break_tie(page: RawPage, profiles: Sequence[ClusterProfile], why: str) -> Match:
    """Choose by IV-A among several clusters; by importance alone where IV-A knows none of them."""
    by_signature = match_by_signature(page, profiles)
    if by_signature.cluster is not None:
        return Match(by_signature.cluster, BY_MODEL, f"{why}; {by_signature.why}")
    best = max(profiles, key=_importance)
    n_clusters = len({profile.name for profile in profiles})
    why = f"{why}, of whose {n_clusters} clusters it is the most important."
    return Match(best.name, BY_MODEL, why)


def _follow_splits(page: RawPage, clusters: Clusters, match: Match) -> Match:
    """Go on into the parts of a cluster that a person split, as deep as splits go."""
    seen: set[str] = set()
    while match.cluster is not None and match.cluster not in seen:
        split = clusters.splits.get(match.cluster)
        if split is None:
            return match
        seen.add(match.cluster)
        part = _match_by_model(page, clusters, split)
        if part.cluster is None:
            return match
        match = Match(part.cluster, BY_MODEL, f"{match.why} Split: {part.why}")
    return match


def clusters_to_json(clusters: Clusters) -> dict[str, Any]:
    """Return the clusters as JSON values."""
    return asdict(clusters)


def clusters_from_json(value: Mapping[str, Any]) -> Clusters:
    """Return the clusters from the JSON values that `clusters_to_json` returned.

    Raises ValueError where a variant or an algorithm is unknown, and AlgorithmNotInstalled.
    """
    clusters = Clusters(
        profiles=tuple(ClusterProfile(**profile) for profile in value["profiles"]),
        grouping=_group_model(value["grouping"]) if value["grouping"] else None,
        splits={name: _group_model(group_model) for name, group_model in value["splits"].items()},
        variant=value["variant"],
    )
    if clusters.variant not in VARIANTS:
        raise ValueError(f"unknown variant {clusters.variant!r}; there are: {', '.join(VARIANTS)}")
    if clusters.variant == BY_SIGNATURE:
        check_signatures_installed()
    return clusters


def _group_model(value: Mapping[str, Any]) -> GroupModel:
    """Return a model whose algorithm can run here, with all that decides between its clusters."""
    grouping = GroupModel(**value)
    _assigner_of(grouping)
    if any(len(names) > 1 for names in grouping.clusters_by_group.values()):
        check_signatures_installed()
    return grouping


def _assigner_of(grouping: GroupModel) -> PageAssigner:
    return assigner_for(grouping.algorithm, grouping.parameters)
