"""Measure how much a candidate looks like the records of its page.

Paper:      Shen and Karger, "U-REST" (WWW 2007), section 2: contiguity, content coverage and
            variation, the three classes of features of psi; all else here is added.
Notation:   Features stand in a fixed order, QUICK_NAMES and FULL_NAMES; a weight file names those
            it was made for. A quick feature costs a look at each region, a full one a walk through
            some of them.
Departures: Most features are ratios, so that a page of ten records and one of a hundred look alike.
Cost:       Linear in the regions; the walks look at 12 regions spread over the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log1p
from typing import NamedTuple

from clustering.algorithms.records.candidates import RecordList
from clustering.algorithms.records.linkage import path_set
from clustering.algorithms.records.page_model import BOLD, PageModel, Region
from clustering.dom.visible import HEADINGS

_TAGS = (
    "tr td li dt dd dl div table p a span font b section article ul ol h2 h3 h4 blockquote form "
    "center"
)
TAGS = _TAGS.split()

MAX_FEW_REGIONS = 3
MAX_LENGTH_RATIO = 3  # times longer or shorter than the usual record: long or short
MAX_LONGEST_GAP = 9.0
MAX_END_LENGTH = 5.0
MAX_ELEMENTS_BETWEEN = 10.0
N_WALKED = 12
MIN_STEADY = 0.7  # share of the regions in which a column stands
MIN_REPEATING_CHILDREN = 3  # with fewer children nothing repeats
MAX_TEXTS = 60  # regions whose texts are read
MAX_SHARES = 100  # regions in which images, prices and so on are looked for
MAX_TEXT_CHARACTERS = 300
NAVIGATION = re.compile(
    r"nav|menu|foot|head(?!line)|side|pag(?:er|inat)|crumb|sponsor|\bads?\b|banner|related|tabs?\b"
    r"|filter|facet|login|share|social|cookie|suggest|also|similar|recommend",
    re.IGNORECASE,
)
CONTENT = re.compile(
    r"result|item|product|list|entry|post|article|record|row|hit|card|main|content|match|serp|algo"
    r"|organic|body",
    re.IGNORECASE,
)
NAVIGATION_TAGS = frozenset({"nav", "footer", "header", "aside"})
CONTENT_TAGS = frozenset({"main", "article", "section"})
BOLD_STARTS = BOLD - HEADINGS
_FIRST_NUMBER = re.compile(r"\D{0,2}(\d{1,4})\D")


# The features, in the order of the weight files.


class QuickFeatures(NamedTuple):
    """What costs one look at each region."""

    log_regions: float
    is_few: float
    coverage: float
    link_coverage: float
    contiguity: float
    longest_gap: float
    length_spread: float
    log_length: float
    link_share: float
    log_elements: float
    element_spread: float
    depth: float
    with_link: float
    parents: float
    is_run: float
    span: float
    starts_at: float
    ends_at: float
    one_link: float
    bold_share: float
    digit_share: float
    is_over: float
    is_filtered: float
    short_share: float
    long_share: float


class Likeness(NamedTuple):
    """How much the regions are built like each other."""

    alike_neighbours: float
    alike_all: float
    same_structure: float
    same_shape: float
    same_class: float


class Insides(NamedTuple):
    """How rich a region is, and how much within it repeats."""

    distinct_tags: float
    variation: float
    chunks: float
    chunk_spread: float
    chunk_length: float
    repeated_children: float
    nested_alike: float


class RegionColumns(NamedTuple):
    """How many places inside are there in most regions, and how many of them differ or not."""

    steady_columns: float
    varied_columns: float
    constant_columns: float


class RegionTexts(NamedTuple):
    """How much the texts and links of the regions differ, and whether they are numbered."""

    distinct_texts: float
    distinct_starts: float
    distinct_links: float
    enumerated: float


class Starts(NamedTuple):
    """With what regions begin and end, which tells the phase of a run."""

    starts_bold: float
    starts_linked: float
    starts_heading: float
    starts_image: float
    starts_digit: float
    ends_blank: float
    mark_is_unique: float


class Shares(NamedTuple):
    """In which share of the regions something stands that records often have."""

    with_image: float
    with_heading: float
    with_field: float
    with_money: float
    with_digit: float


class Ends(NamedTuple):
    """How the first and the last region compare with the others, as heads and feet of tables do."""

    first_length: float
    last_length: float
    first_alike: float
    last_alike: float
    has_header_cells: float


class Names(NamedTuple):
    """Whether class and id speak of navigation or of content, here and above."""

    navigation: float
    content: float
    within_navigation: float
    within_content: float
    own_class: float
    n_elements_of_run: float


class Surroundings(NamedTuple):
    """What stands before, between and behind the regions."""

    similar_before: float
    similar_after: float
    text_between: float
    links_between: float
    breaks_between: float
    tail_share: float
    max_length_share: float
    average_words: float


QUICK_NAMES = list(QuickFeatures._fields)
DEEP_NAMES: list[str] = [
    *Likeness._fields,
    *Insides._fields,
    *RegionColumns._fields,
    *RegionTexts._fields,
    *Starts._fields,
    *Shares._fields,
    *Ends._fields,
    *Names._fields,
    *Surroundings._fields,
]
# Of these features, a candidate's rank and its part of the best value count, too.
RANKED_NAMES = ["coverage", "log_regions", "contiguity", "variation", "varied_columns", "alike_all"]
# And the shares of the candidates that it holds or is held by, with one or many regions in each
# region.
RELATION_NAMES = ["holds_one_of", "held_by_one", "holds_many_of", "held_by_many"]
RANK_NAMES = [
    *[f"{kind}_{name}" for name in RANKED_NAMES for kind in ("place_by", "part_of_best")],
    *RELATION_NAMES,
]
FULL_NAMES = [*QUICK_NAMES, *[f"tag_{tag}" for tag in TAGS], *DEEP_NAMES, *RANK_NAMES]


# Measures.


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation as a share of the mean."""
    average = mean(values)
    if average <= 0:
        return 0.0
    return float(mean([(value - average) ** 2 for value in values]) ** 0.5 / average)


def upper_median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of the paths of both sets that each has."""
    return len(left & right) / max(len(left | right), 1)


def region_paths(page: PageModel, region: Region) -> frozenset[str]:
    """Return the relative tag paths of all that a region consists of."""
    first, last = region
    if first == last:
        return path_set(page, first)
    elements = page.siblings(region)[:20]
    return frozenset().union(*[path_set(page, element) for element in elements])


# Quick features.


def quick_features(page: PageModel, candidate: RecordList) -> QuickFeatures:
    """Measure what costs one look at each region."""
    regions = candidate.regions
    n_regions = len(regions)
    n_characters = max(page.n_characters, 1)
    first_region = regions[0]

    lengths = [page.length(region) for region in regions]
    n_shown = sum(lengths)
    usual_length = upper_median(lengths)
    starts = [page.starts[first] for first, _ in regions]
    stops = [page.stops[last] for _, last in regions]
    gaps = [start - stop for start, stop in zip(starts[1:], stops, strict=False)]
    n_between = sum(max(gap, 0) for gap in gaps)
    longest_gap = MAX_LONGEST_GAP
    if max(gaps) < MAX_LONGEST_GAP * usual_length:
        longest_gap = max(gaps) / max(usual_length, 1)

    n_linked = sum(page.n_text("linked", region) for region in regions)
    n_bold = sum(page.n_text("bold", region) for region in regions)
    n_digits = sum(page.n_text("digits", region) for region in regions)
    sizes = [page.n_elements(region) for region in regions]
    link_counts = [page.count("links", region) for region in regions]
    parents = {page.parents[first] for first, _ in regions}

    return QuickFeatures(
        log_regions=log1p(n_regions),
        is_few=float(n_regions <= MAX_FEW_REGIONS),
        coverage=n_shown / n_characters,
        link_coverage=n_linked / max(page.text_after["linked"][0], 1),
        contiguity=n_shown / max(n_shown + n_between, 1),
        longest_gap=longest_gap,
        length_spread=spread(lengths),
        log_length=log1p(usual_length),
        link_share=n_linked / max(n_shown, 1),
        log_elements=log1p(mean(sizes)),
        element_spread=spread(sizes),
        depth=float(page.depths[first_region[0]]),
        with_link=mean([float(n_links > 0) for n_links in link_counts]),
        parents=len(parents) / n_regions,
        is_run=mean([float(first != last) for first, last in regions]),
        span=(stops[-1] - starts[0]) / n_characters,
        starts_at=starts[0] / n_characters,
        ends_at=stops[-1] / n_characters,
        one_link=mean([float(n_links == 1) for n_links in link_counts]),
        bold_share=n_bold / max(n_shown, 1),
        digit_share=n_digits / max(n_shown, 1),
        is_over=float(candidate.kind == "over"),
        is_filtered=float(candidate.is_filtered),
        short_share=mean([float(length < usual_length / MAX_LENGTH_RATIO) for length in lengths]),
        long_share=mean([float(length > usual_length * MAX_LENGTH_RATIO) for length in lengths]),
    )


# Deep features.


def deep_features(page: PageModel, candidate: RecordList) -> list[float]:
    """Return the features of the tags and of DEEP_NAMES."""
    regions = candidate.regions
    usual_tag = Counter(page.tags[first] for first, _ in regions).most_common(1)[0][0]
    walked = _spread_out(regions)
    return [
        *[float(usual_tag == tag) for tag in TAGS],
        *_likeness(page, regions, walked),
        *_insides(page, walked),
        *_columns(page, walked),
        *_texts(page, regions),
        *_starts(page, regions),
        *_shares(page, regions),
        *_ends(page, regions),
        *_names(page, candidate),
        *_surroundings(page, regions),
    ]


def _spread_out(regions: Sequence[Region]) -> list[Region]:
    """Return at most N_WALKED regions, spread over the list."""
    step = max(len(regions) / N_WALKED, 1)
    return [regions[int(index * step)] for index in range(min(len(regions), N_WALKED))]


def _likeness(page: PageModel, regions: Sequence[Region], walked: list[Region]) -> Likeness:
    path_sets = [region_paths(page, region) for region in walked]
    n_regions_by_path = Counter(path for paths in path_sets for path in paths)
    usual_paths = frozenset(
        path for path, n_regions in n_regions_by_path.items() if n_regions * 2 >= len(path_sets)
    )

    def share_of_most_frequent(kinds: list[int] | list[str]) -> float:
        ends = [(kinds[first], kinds[last]) for first, last in regions]
        return Counter(ends).most_common(1)[0][1] / len(ends)

    return Likeness(
        alike_neighbours=mean([jaccard(left, right) for left, right in pairwise(path_sets)]),
        alike_all=mean([jaccard(paths, usual_paths) for paths in path_sets]),
        same_structure=share_of_most_frequent(page.structures),
        same_shape=share_of_most_frequent(page.shapes),
        same_class=share_of_most_frequent(page.classes),
    )


def _insides(page: PageModel, walked: list[Region]) -> Insides:
    n_tags, variations, n_chunks, repeated, nested = [], [], [], [], []
    for region in walked:
        first, last = region
        inside = range(first, min(page.ends[last], first + 300))
        n_tags.append(float(len({page.tags[element] for element in inside})))
        variations.append(len({page.classes[element] for element in inside}) / len(inside))
        n_chunks.append(float(page.n_text("chunks", region)))
        family = page.siblings(region) if first != last else page.children[first]
        repeated.append(_repetition(page, family))
        below = [
            _repetition(page, page.children[element])
            for element in inside
            if len(page.children[element]) >= MIN_REPEATING_CHILDREN
        ]
        nested.append(max(below, default=0.0))
    average_length = mean([float(page.length(region)) for region in walked])
    return Insides(
        distinct_tags=mean(n_tags),
        variation=mean(variations),
        chunks=log1p(mean(n_chunks)),
        chunk_spread=spread(n_chunks),
        chunk_length=log1p(average_length / max(mean(n_chunks), 1)),
        repeated_children=mean(repeated),
        nested_alike=mean(nested),
    )


def _repetition(page: PageModel, family: Sequence[int]) -> float:
    """Return how often the most frequent structure stands among siblings: 0 once, near 1 often."""
    structures = [
        page.structures[element]
        for element in family[:100]
        if page.has_text(element) and page.ends[element] - element > 1
    ]
    return 1 - 1 / max(Counter(structures).values()) if structures else 0.0


def _columns(page: PageModel, walked: list[Region]) -> RegionColumns:
    texts_by_column: dict[tuple[str, int], list[str]] = {}
    for first, last in walked:
        n_seen: Counter[str] = Counter()
        for element in range(first, min(page.ends[last], first + 150)):
            if page.children[element] or not page.has_text(element):
                continue
            column = f"{page.tags[page.parents[element]]}/{page.classes[element]}"
            n_seen[column] += 1
            texts = texts_by_column.setdefault((column, n_seen[column]), [])
            texts.append(_first_characters(page, (element, element), 40))
    steady = [texts for texts in texts_by_column.values() if len(texts) >= MIN_STEADY * len(walked)]
    return RegionColumns(
        steady_columns=log1p(len(steady)),
        varied_columns=log1p(sum(len(set(texts)) > len(texts) / 2 for texts in steady)),
        constant_columns=log1p(sum(len(set(texts)) == 1 for texts in steady)),
    )


def _first_characters(page: PageModel, region: Region, n_characters: int) -> str:
    start, stop = page.interval(region)
    return page.text_at(start, min(stop, start + n_characters))


def _texts(page: PageModel, regions: Sequence[Region]) -> RegionTexts:
    read = regions[:MAX_TEXTS]
    texts = [_first_characters(page, region, MAX_TEXT_CHARACTERS) for region in read]
    numbers = []
    for text in texts:
        match = _FIRST_NUMBER.match(text)
        numbers.append(int(match[1]) if match else -1)
    n_counted = sum(
        number >= 0 and following == number + 1 for number, following in pairwise(numbers)
    )
    hrefs = [_first_link(page, region) for region in read]
    return RegionTexts(
        distinct_texts=len(set(texts)) / len(texts),
        distinct_starts=len({text[:12] for text in texts}) / len(texts),
        distinct_links=len({href for href in hrefs if href}) / len(read),
        enumerated=n_counted / len(read),
    )


def _first_link(page: PageModel, region: Region) -> str:
    """Return the address of a region's first link as it is written, blank where it has none."""
    for element in range(region[0], min(page.ends[region[1]], region[0] + 100)):
        if page.tags[element] == "a":
            return str(page.nodes[element].get("href") or "")
    return ""


def _starts(page: PageModel, regions: Sequence[Region]) -> Starts:
    read = regions[:MAX_TEXTS]
    bold, linked, heading, image, digit = [], [], [], [], []
    for first, _ in read:
        start = page.starts[first]
        tags = {page.tags[element] for element in _path_to_first_text(page, first)}
        bold.append(float(bool(tags & BOLD_STARTS)))
        linked.append(float("a" in tags))
        heading.append(float(bool(tags & HEADINGS)))
        image.append(float(page.count("images", (first, first)) > 0))
        digit.append(float(page.text_at(start, start + 1).isdigit()))
    return Starts(
        starts_bold=mean(bold),
        starts_linked=mean(linked),
        starts_heading=mean(heading),
        starts_image=mean(image),
        starts_digit=mean(digit),
        ends_blank=mean([float(not page.has_text(last)) for _, last in read]),
        mark_is_unique=_share_with_unique_mark(page, read),
    )


def _path_to_first_text(page: PageModel, element: int) -> list[int]:
    """Return the elements from this one down to the one that shows the first text."""
    path = [element]
    start = page.starts[element]
    while True:
        children = page.children[path[-1]][:50]
        child = next((child for child in children if page.has_text(child)), None)
        if child is None or page.starts[child] != start:
            return path
        path.append(child)


def _share_with_unique_mark(page: PageModel, regions: Sequence[Region]) -> float:
    """Return the share of the runs in which nothing else looks like their first element."""
    unique = []
    for region in regions[:N_WALKED]:
        first, *siblings = page.siblings(region)[:50]
        unique.append(float(all(page.classes[other] != page.classes[first] for other in siblings)))
    return mean(unique)


def _shares(page: PageModel, regions: Sequence[Region]) -> Shares:
    read = regions[:MAX_SHARES]

    def share_with_elements(kind: str) -> float:
        return mean([float(page.count(kind, region) > 0) for region in read])

    def share_with_text(kind: str) -> float:
        return mean([float(page.n_text(kind, region) > 0) for region in read])

    return Shares(
        with_image=share_with_elements("images"),
        with_heading=share_with_elements("headings"),
        with_field=share_with_elements("fields"),
        with_money=share_with_text("money"),
        with_digit=share_with_text("digits"),
    )


def _ends(page: PageModel, regions: Sequence[Region]) -> Ends:
    lengths = [float(page.length(region)) for region in regions]
    usual_length = max(upper_median(lengths), 1)
    usual_paths = region_paths(page, regions[len(regions) // 2])
    first, last = regions[0]
    return Ends(
        first_length=min(lengths[0] / usual_length, MAX_END_LENGTH),
        last_length=min(lengths[-1] / usual_length, MAX_END_LENGTH),
        first_alike=jaccard(region_paths(page, regions[0]), usual_paths),
        last_alike=jaccard(region_paths(page, regions[-1]), usual_paths),
        has_header_cells=float("th" in page.tags[first : page.ends[last]][:30]),
    )


def _names(page: PageModel, candidate: RecordList) -> Names:
    first = candidate.regions[0][0]
    own_name = _class_and_id(page, first)
    names_above, tags_above = [], set()
    parent = page.parents[first]
    while parent >= 0:
        names_above.append(_class_and_id(page, parent))
        tags_above.add(page.tags[parent])
        parent = page.parents[parent]
    above = " ".join(names_above[:-2])  # without body and html
    is_navigation_tag_above = bool(tags_above & NAVIGATION_TAGS)
    is_content_tag_above = bool(tags_above & CONTENT_TAGS)
    run_lengths = [float(len(page.siblings(region))) for region in candidate.regions[:N_WALKED]]
    return Names(
        navigation=float(NAVIGATION.search(own_name) is not None),
        content=float(CONTENT.search(own_name) is not None),
        within_navigation=float(NAVIGATION.search(above) is not None) + 2 * is_navigation_tag_above,
        within_content=float(CONTENT.search(above) is not None) + 2 * is_content_tag_above,
        own_class=float("." in page.classes[first]),
        n_elements_of_run=log1p(mean(run_lengths)),
    )


def _class_and_id(page: PageModel, element: int) -> str:
    node = page.nodes[element]
    return f"{node.get('class') or ''} {node.get('id') or ''}"


def _surroundings(page: PageModel, regions: Sequence[Region]) -> Surroundings:
    first, last = regions[0], regions[-1]
    parent = page.parents[first[0]]
    family = page.children[parent] if parent >= 0 else [0]
    shown = [element for element in family if page.has_text(element)]
    before = [element for element in shown if element < first[0]]
    after = [element for element in shown if element > last[1]]
    mark = page.classes[first[0]]
    usual_paths = region_paths(page, regions[len(regions) // 2])
    lengths = [float(page.length(region)) for region in regions]
    neighbours = list(pairwise(regions))[:MAX_TEXTS]
    n_behind = page.stops[page.parents[last[0]]] - page.stops[last[1]]

    def n_between(kind: str) -> float:
        sums = page.n_before[kind]
        return mean(
            [float(sums[right[0]] - sums[page.ends[left[1]]]) for left, right in neighbours]
        )

    def similarity(neighbour: int) -> float:
        is_marked = page.classes[neighbour] == mark
        return jaccard(path_set(page, neighbour), usual_paths) / 2 + is_marked / 2

    return Surroundings(
        similar_before=similarity(before[-1]) if before else 0.0,
        similar_after=similarity(after[0]) if after else 0.0,
        text_between=mean(
            [float(page.starts[right[0]] > page.stops[left[1]]) for left, right in neighbours]
        ),
        links_between=min(n_between("links"), MAX_ELEMENTS_BETWEEN),
        breaks_between=min(n_between("breaks"), MAX_ELEMENTS_BETWEEN),
        tail_share=n_behind / max(page.n_characters, 1),
        max_length_share=max(lengths) / max(sum(lengths), 1),
        average_words=log1p(page.n_text("chunks", first)),
    )
