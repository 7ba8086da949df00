"""Group pages by where the first link to them stands, then merge groups that look alike.

Paper:      Grigalis and Čenys, "Using XPaths of Inbound Links to Cluster Template-Generated Web
            Pages" (Computer Science and Information Systems, 2014), section 3.3.
Notation:   (URL, XPath, DocID) -> `SiteLink`; unrefined cluster -> `GroupOfXPath`; CUT-OFF ->
            `cut_off_for`; fingerprint -> `fingerprint_of`.
Readings:   Links come in the order of a breadth-first crawl; the first that leads to a page
            decides, as in `/html/body/ul/li[2]/a`. The page where the crawl begins is known before
            any link, so no link counts for it, nor does a link of a page to itself. A path is the
            tags from the root to an element without child elements. Fingerprints are merged where
            their Jaccard similarity is greater than 0.8, by transitive closure (equation 3 divides
            by the larger set; the text says Jaccard). Samples are those of least hash of the URL,
            so that two runs agree. Pages reached by a redirect stay in their group, but are neither
            counted nor sampled.
Departures: The paper drops groups of fewer than 100 pages, on sites of 76,503 pages on average. The
            cut-off is that share of a site here: at most 100, and 1 (nothing is dropped) below
            1,530 pages. Variant: XPaths without their positions.
Cost:       Linear in links; five pages of each group are parsed. Merging is quadratic in the groups
            only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import xxhash

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    EvidenceMissing,
    Grouping,
    Model,
    RawPage,
    SiteLink,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import (
    Hashes,
    jaccard,
    join_similar_fast,
    leaf_paths,
    similarity_of,
)
from clustering.dom.paths import without_positions

CUT_OFF = 100
PAGES_PER_SITE = 76_503  # on average in Table 1, where the cut-off is that of the paper
N_SAMPLES = 5
OCCURRENCE_THRESHOLD = 0.3
SIMILARITY_THRESHOLD = 0.8
MAX_FINGERPRINTS = 5


@dataclass(frozen=True, slots=True)
class GroupOfXPath:
    """An unrefined cluster: the pages to which links at one XPath lead."""

    xpath: str
    members: Sequence[int]  # indices of the pages
    not_redirected: Sequence[int]  # those that were not reached by a redirect


def cluster_pages(
    urls: Sequence[str],
    _observations: Sequence[None],
    evidence: ClusteringInputs,
    *,
    has_positions: bool = True,
    cut_off: int | None = None,
    n_samples: int = N_SAMPLES,
    occurrence_threshold: float = OCCURRENCE_THRESHOLD,
    similarity_threshold: float = SIMILARITY_THRESHOLD,
) -> Grouping:
    """Group pages by first inbound links, except for small groups. Raises EvidenceMissing."""
    if not evidence.links:
        raise EvidenceMissing(
            "uxclust needs the links between the pages; crawl the site, or import more of it"
        )
    if evidence.read is None:
        raise EvidenceMissing("uxclust needs to read sample pages")
    limit = cut_off_for(len(urls)) if cut_off is None else cut_off
    groups = group_by_xpath(urls, evidence, has_positions=has_positions)
    large_groups = [group for group in groups if len(group.not_redirected) >= limit]
    digests = digests_of(urls)
    fingerprints = []
    for group in large_groups:
        samples = samples_of(group, digests, n_samples)
        paths = [leaf_paths(evidence.read(urls[page])) for page in samples]
        fingerprints.append(fingerprint_of(paths, occurrence_threshold))
    merged = merge_groups(large_groups, fingerprints, similarity_threshold)
    grouping = _grouping(
        urls, large_groups, fingerprints, merged, has_positions=has_positions, limit=limit
    )
    grouping.model["similarity_threshold"] = similarity_threshold
    return grouping


def group_by_xpath(
    urls: Sequence[str], evidence: ClusteringInputs, *, has_positions: bool = True
) -> list[GroupOfXPath]:
    """Group pages by the XPath of their first inbound link, in the order of the XPaths."""
    xpath_by_url = first_inbound(evidence.links)
    written_by_xpath = {
        xpath: xpath if has_positions else without_positions(xpath)
        for xpath in set(xpath_by_url.values())
    }
    members: dict[str, list[int]] = {}
    for page, url in enumerate(urls):
        if url in xpath_by_url:
            members.setdefault(written_by_xpath[xpath_by_url[url]], []).append(page)
    return [
        GroupOfXPath(xpath, pages, not_redirected=_voters(pages, urls, evidence))
        for xpath, pages in sorted(members.items())
    ]


def first_inbound(links: Sequence[SiteLink]) -> dict[str, str]:
    """Return the XPath of the first link to each page but the one where the crawl began."""
    if not links:
        return {}
    # From the last link to the first, so that the first one stays.
    xpath_by_url = {
        link.target: link.xpath for link in reversed(links) if link.target != link.source
    }
    xpath_by_url.pop(links[0].source, None)
    return xpath_by_url


def _voters(pages: Sequence[int], urls: Sequence[str], evidence: ClusteringInputs) -> Sequence[int]:
    """Return the pages that were not reached by a redirect."""
    redirected = evidence.redirected
    if not redirected:
        return pages
    return [page for page in pages if urls[page] not in redirected]


def cut_off_for(n_pages: int) -> int:
    """Return how many pages a group must have on a site of so many."""
    return min(CUT_OFF, max(1, CUT_OFF * n_pages // PAGES_PER_SITE))


def digests_of(urls: Sequence[str]) -> Hashes:
    """Return the hashes of all URLs at once, which is much faster than group by group."""
    hashes = (xxhash.xxh64_intdigest(url.encode()) for url in urls)
    return np.fromiter(hashes, dtype=np.uint64, count=len(urls))


def samples_of(group: GroupOfXPath, digests: Hashes, n_samples: int = N_SAMPLES) -> list[int]:
    """Return the pages of a group whose URLs have the least hashes."""
    pages = np.asarray(group.not_redirected, dtype=np.intp)
    of_group = digests[pages]
    if n_samples < len(pages):
        pages = pages[np.argpartition(of_group, n_samples)[:n_samples]]
    return sorted(pages.tolist(), key=digests.__getitem__)


def fingerprint_of(samples: Sequence[Hashes], threshold: float = OCCURRENCE_THRESHOLD) -> Hashes:
    """Return the paths that occur in more than a share of the samples."""
    if not samples:
        return np.empty(0, dtype=np.uint64)
    paths, n_samples = np.unique(np.concatenate(samples), return_counts=True)
    return paths[n_samples > threshold * len(samples)]


def merge_groups(
    groups: Sequence[GroupOfXPath],
    fingerprints: Sequence[Hashes],
    threshold: float = SIMILARITY_THRESHOLD,
) -> list[int]:
    """Return for each group the first one that it is merged with, by its fingerprint."""
    if len(groups) != len(fingerprints):
        raise ValueError(f"{len(groups)} groups, but {len(fingerprints)} fingerprints")
    return join_similar_fast(fingerprints, jaccard, threshold)


def _grouping(
    urls: Sequence[str],
    groups: Sequence[GroupOfXPath],
    fingerprints: Sequence[Hashes],
    merged: Sequence[int],
    *,
    has_positions: bool,
    limit: int,
) -> Grouping:
    """Return the merged groups, each named by the XPath of its first one."""
    labels: list[str | None] = [None] * len(urls)
    xpaths_by_name: dict[str, list[str]] = {}
    for group, first in zip(groups, merged, strict=True):
        name = groups[first].xpath
        xpaths_by_name.setdefault(name, []).append(group.xpath)
        for page in group.members:
            labels[page] = name
    prints = _distinct_prints(groups, fingerprints, merged)
    return grouping_of(
        labels,
        why=(
            f"Links at {len(groups):,} places lead to {len(xpaths_by_name):,} kinds of page; "
            f"at least {limit} {'page' if limit == 1 else 'pages'} a place."
        ),
        whys={name: _why(xpaths) for name, xpaths in xpaths_by_name.items()},
        model={
            "has_positions": has_positions,
            "groups": [
                {"name": name, "xpaths": xpaths, "fingerprints": prints[name]}
                for name, xpaths in xpaths_by_name.items()
            ],
        },
    )


def _distinct_prints(
    groups: Sequence[GroupOfXPath], fingerprints: Sequence[Hashes], merged: Sequence[int]
) -> Model:
    """Return the fingerprints of each merged group, at most five of them."""
    prints: dict[str, list[list[int]]] = {}
    for fingerprint, first in zip(fingerprints, merged, strict=True):
        known = prints.setdefault(groups[first].xpath, [])
        paths = fingerprint.tolist()
        if len(known) < MAX_FINGERPRINTS and paths not in known:
            known.append(paths)
    return prints


def _why(xpaths: Sequence[str]) -> str:
    more = f" and {len(xpaths) - 1:,} more places" if len(xpaths) > 1 else ""
    return f"first linked from {xpaths[0]}{more}"


def assign(model: Model, xpath: str | None, _url: str) -> str | None:
    """Return the group by the XPath of the first link to a later page, None for a new one."""
    if xpath is None:
        return None
    written = xpath if model["has_positions"] else without_positions(xpath)
    for group in model["groups"]:
        if written in group["xpaths"]:
            name: str = group["name"]
            return name
    return None


def assign_page(model: Model, page: RawPage) -> str | None:
    """Return the group whose fingerprint is most like a page to which no link is known."""
    threshold = model.get("similarity_threshold", SIMILARITY_THRESHOLD)  # older models have none
    paths = leaf_paths(page.tree)
    alike = [
        (similarity_of(np.array(fingerprint, dtype=np.uint64), paths, jaccard), group["name"])
        for group in model["groups"]
        for fingerprint in group["fingerprints"]
    ]
    similarity, name = max(alike, default=(0.0, ""))
    return name if similarity > threshold else None


PARAMETERS = [
    Parameter(
        name="cut_off",
        title="Cut-off",
        kind="whole number",
        default=None,
        least=1,
        most=1_000_000,
        sentence=(
            "Links at one place must lead to so many pages, or these are in no group. Blank: 100 "
            "as in the paper on sites of 76,503 pages, on smaller ones in proportion."
        ),
    ),
    Parameter(
        name="n_samples",
        title="Samples of a group",
        kind="whole number",
        default=N_SAMPLES,
        least=1,
        most=100,
        sentence="How many pages of each place of links are read.",
    ),
    Parameter(
        name="occurrence_threshold",
        title="Occurrence of a path",
        kind="number",
        default=OCCURRENCE_THRESHOLD,
        least=0,
        most=1,
        sentence="A path belongs to a fingerprint where a larger share of the samples "
        "than that has it.",
    ),
    Parameter(
        name="similarity_threshold",
        title="Similarity of fingerprints",
        kind="number",
        default=SIMILARITY_THRESHOLD,
        least=0,
        most=1,
        sentence="Groups are merged where the Jaccard similarity of their fingerprints is "
        "greater than that.",
    ),
]
CLUSTERER = Clusterer(
    "uxclust",
    "UXClust",
    None,
    cluster_pages,
    assign,
    needs=frozenset({"links"}),
    assign_page=assign_page,
    parameters=PARAMETERS,
)
WITHOUT_POSITIONS = Clusterer(
    "uxclust_without_positions",
    "UXClust without positions",
    None,
    partial(cluster_pages, has_positions=False),
    assign,
    needs=frozenset({"links"}),
    sentence="Group pages as UXClust does, with all rows of a list and of a menu as one place.",
    assign_page=assign_page,
    parameters=PARAMETERS,
)
