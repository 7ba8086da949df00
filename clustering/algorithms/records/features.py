"""Measure how much a candidate looks like the records of its page.

Paper:      Shen and Karger, "U-REST" (WWW 2007), section 2: contiguity, content coverage and variation, the
            three classes of features of psi; all else here is added.
Notation:   Features stand in a fixed order, QUICK_NAMES and FULL_NAMES; a weight file names those it was
            made for. A quick feature costs a look at each region, a full one a walk through some of them.
Departures: Most features are ratios, so that a page of ten records and one of a hundred look alike.
Cost:       Linear in the regions; the walks look at 12 regions spread over the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log1p

from clustering.algorithms.records.candidates import RecordList
from clustering.algorithms.records.linkage import path_set
from clustering.algorithms.records.page_model import PageModel, Region

_QUICK = (
    "log_regions is_few coverage link_coverage contiguity longest_gap length_spread log_length link_share"
    " log_elements element_spread depth with_link parents is_run span starts_at ends_at one_link bold_share"
    " digit_share is_over is_filtered short_share long_share"
)
QUICK_NAMES = _QUICK.split()
_TAGS = "tr td li dt dd dl div table p a span font b section article ul ol h2 h3 h4 blockquote form center"
TAGS = _TAGS.split()
_DEEP = (
    "alike_neighbours alike_all same_structure same_shape same_class distinct_tags variation chunks"
    " chunk_spread chunk_length repeated_children nested_alike steady_columns varied_columns constant_columns"
    " distinct_texts distinct_starts distinct_links enumerated starts_bold starts_linked starts_heading"
    " starts_image starts_digit ends_blank mark_is_unique with_image with_heading with_field with_money"
    " with_digit first_length last_length first_alike last_alike has_header_cells navigation content"
    " within_navigation within_content own_class n_elements_of_run similar_before similar_after"
    " text_between links_between breaks_between tail_share max_length_share average_words"
)
DEEP_NAMES = _DEEP.split()
RANK_NAMES = [
    f"{way}_{name}"
    for name in (
        "coverage",
        "log_regions",
        "contiguity",
        "variation",
        "varied_columns",
        "alike_all",
    )
    for way in ("place_by", "part_of_best")
] + ["holds_one_of", "held_by_one", "holds_many_of", "held_by_many"]
FULL_NAMES = [*QUICK_NAMES, *[f"tag_{tag}" for tag in TAGS], *DEEP_NAMES, *RANK_NAMES]

N_WALKED = 12
SOME = 2  # children, below which nothing repeats
NAVIGATION = re.compile(
    r"nav|menu|foot|head(?!line)|side|pag(?:er|inat)|crumb|sponsor|\bads?\b|banner|related|tabs?\b|filter"
    r"|facet|login|share|social|cookie|suggest|also|similar|recommend",
    re.IGNORECASE,
)
CONTENT = re.compile(
    r"result|item|product|list|entry|post|article|record|row|hit|card|main|content|match|serp|algo|organic|body",
    re.IGNORECASE,
)
NAVIGATION_TAGS = frozenset({"nav", "footer", "header", "aside"})
CONTENT_TAGS = frozenset({"main", "article", "section"})
_FIRST_NUMBER = re.compile(r"\D{0,2}(\d{1,4})\D")


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation as a share of the mean."""
    middle = mean(values)
    if middle <= 0:
        return 0.0
    return float(mean([(value - middle) ** 2 for value in values]) ** 0.5 / middle)


def middle_of(values: Sequence[float]) -> float:
    """Return the upper median."""
    return sorted(values)[len(values) // 2]


def quick_features(page: PageModel, candidate: RecordList) -> list[float]:
    """Return the features of QUICK_NAMES."""
    regions = candidate.regions
    n, total = len(regions), max(page.n_characters, 1)
    lengths = [page.length(region) for region in regions]
    starts = [page.starts[first] for first, _ in regions]
    stops = [page.stops[last] for _, last in regions]
    gaps = [start - stop for start, stop in zip(starts[1:], stops, strict=False)]
    linked = [page.n_text("linked", region) for region in regions]
    sizes = [page.n_elements(region) for region in regions]
    links = [page.count("links", region) for region in regions]
    shown, usual = sum(lengths), middle_of(lengths)
    all_linked = max(page.text_after["linked"][0], 1)
    return [
        log1p(n),
        float(n <= 3),
        shown / total,
        sum(linked) / all_linked,
        shown / max(shown + sum(max(gap, 0) for gap in gaps), 1),
        max(gaps) / max(usual, 1) if max(gaps) < 9 * usual else 9.0,
        spread(lengths),
        log1p(usual),
        sum(linked) / max(shown, 1),
        log1p(mean(sizes)),
        spread(sizes),
        float(page.depths[regions[0][0]]),
        mean([float(count > 0) for count in links]),
        len({page.parents[first] for first, _ in regions}) / n,
        mean([float(first != last) for first, last in regions]),
        (stops[-1] - starts[0]) / total,
        starts[0] / total,
        stops[-1] / total,
        mean([float(count == 1) for count in links]),
        sum(page.n_text("bold", region) for region in regions) / max(shown, 1),
        sum(page.n_text("digits", region) for region in regions) / max(shown, 1),
        float(candidate.kind == "over"),
        float(candidate.is_filtered),
        mean([float(length < usual / 3) for length in lengths]),
        mean([float(length > usual * 3) for length in lengths]),
    ]


def deep_features(page: PageModel, candidate: RecordList) -> list[float]:
    """Return the features of the tags and of DEEP_NAMES."""
    regions = candidate.regions
    root = Counter(page.tags[first] for first, _ in regions).most_common(1)[0][0]
    walked = _spread_out(regions)
    tags = [float(root == tag) for tag in TAGS]
    return [
        *tags,
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
    step = max(len(regions) / N_WALKED, 1)
    return [regions[int(place * step)] for place in range(min(len(regions), N_WALKED))]


def region_paths(page: PageModel, region: Region) -> frozenset[str]:
    """Return the relative tag paths of all that a region consists of."""
    first, last = region
    if first == last:
        return path_set(page, first)
    family = page.siblings(region)[:20]
    return frozenset().union(*[path_set(page, element) for element in family])


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the paths of both that each has."""
    return len(one & other) / max(len(one | other), 1)


def _likeness(page: PageModel, regions: Sequence[Region], walked: list[Region]) -> list[float]:
    sets = [region_paths(page, region) for region in walked]
    neighbours = [alike(one, other) for one, other in pairwise(sets)]
    in_most = Counter(path for one in sets for path in one)
    usual = frozenset(path for path, count in in_most.items() if count * 2 >= len(sets))
    everywhere = [alike(one, usual) for one in sets]

    def same(values: list[int] | list[str]) -> float:
        kinds = [(values[first], values[last]) for first, last in regions]
        return Counter(kinds).most_common(1)[0][1] / len(kinds)

    return [
        mean(neighbours),
        mean(everywhere),
        same(page.structures),
        same(page.shapes),
        same(page.classes),
    ]


def _insides(page: PageModel, walked: list[Region]) -> list[float]:
    tags, variation, chunks, repeated, nested = [], [], [], [], []
    for region in walked:
        inside = range(region[0], min(page.ends[region[1]], region[0] + 300))
        kinds = {page.tags[element] for element in inside}
        tags.append(float(len(kinds)))
        variation.append(len({page.classes[element] for element in inside}) / len(inside))
        chunks.append(float(page.n_text("chunks", region)))
        family = page.siblings(region) if region[0] != region[1] else page.children[region[0]]
        repeated.append(_repeated(page, family))
        nested.append(
            max(
                [
                    _repeated(page, page.children[one])
                    for one in inside
                    if len(page.children[one]) > SOME
                ]
                or [0.0]
            )
        )
    length = mean([float(page.length(region)) for region in walked])
    return [
        mean(tags),
        mean(variation),
        log1p(mean(chunks)),
        spread(chunks),
        log1p(length / max(mean(chunks), 1)),
        mean(repeated),
        mean(nested),
    ]


def _repeated(page: PageModel, family: Sequence[int]) -> float:
    """Return how many siblings with text have the most frequent structure, from 0 for one to 1 for many."""
    shown = [
        page.structures[one]
        for one in family[:100]
        if page.has_text(one) and page.ends[one] - one > 1
    ]
    return 1 - 1 / max(Counter(shown).values()) if shown else 0.0


def _columns(page: PageModel, walked: list[Region]) -> list[float]:
    """Return how many places inside are there in most regions, and how many of them differ or not."""
    texts_by_place: dict[tuple[str, int], list[str]] = {}
    for region in walked:
        seen: Counter[str] = Counter()
        for element in range(region[0], min(page.ends[region[1]], region[0] + 150)):
            if not page.children[element] and page.has_text(element):
                place = f"{page.tags[page.parents[element]]}/{page.classes[element]}"
                seen[place] += 1
                texts_by_place.setdefault((place, seen[place]), []).append(_start_of(page, element))
    steady = [texts for texts in texts_by_place.values() if len(texts) >= 0.7 * len(walked)]
    varied = [texts for texts in steady if len(set(texts)) > len(texts) / 2]
    constant = [texts for texts in steady if len(set(texts)) == 1]
    return [log1p(len(steady)), log1p(len(varied)), log1p(len(constant))]


def _start_of(page: PageModel, element: int, n_most: int = 40) -> str:
    """Return the first characters that an element shows."""
    return page.text_at(
        page.starts[element], min(page.stops[element], page.starts[element] + n_most)
    )


def _texts(page: PageModel, regions: Sequence[Region]) -> list[float]:
    some = regions[:60]
    whole = [
        page.text_at(page.starts[first], min(page.stops[last], page.starts[first] + 300))
        for first, last in some
    ]
    numbers = [int(found[1]) if (found := _FIRST_NUMBER.match(text)) else -1 for text in whole]
    counted = [other == one + 1 for one, other in pairwise(numbers) if one >= 0]
    hrefs = [_first_link(page, region) for region in some]
    known = [href for href in hrefs if href]
    return [
        len(set(whole)) / len(whole),
        len({text[:12] for text in whole}) / len(whole),
        len(set(known)) / len(some),
        sum(counted) / len(some),
    ]


def _first_link(page: PageModel, region: Region) -> str:
    for element in range(region[0], min(page.ends[region[1]], region[0] + 100)):
        if page.tags[element] == "a":
            return str(page.nodes[element].get("href") or "")
    return ""


def _starts(page: PageModel, regions: Sequence[Region]) -> list[float]:
    """Return with what regions begin and end, which tells the phase of a run."""
    some = regions[:60]
    bold, linked, heading, image, digit = [], [], [], [], []
    for first, _ in some:
        at = page.starts[first]
        path = {page.tags[one] for one in _way_down(page, first)}
        bold.append(float(bool(path & {"b", "strong", "th"})))
        linked.append(float("a" in path))
        heading.append(float(bool(path & {"h1", "h2", "h3", "h4", "h5", "h6"})))
        image.append(float(page.count("images", (first, first)) > 0))
        digit.append(float(page.text_at(at, at + 1).isdigit()))
    blank = [float(not page.has_text(last)) for _, last in some]
    return [mean(values) for values in (bold, linked, heading, image, digit, blank)] + [
        _mark_is_unique(page, some)
    ]


def _way_down(page: PageModel, element: int) -> list[int]:
    """Return the elements from this one down to the one that shows the first text."""
    way = [element]
    start = page.starts[element]
    while True:
        family = page.children[way[-1]]
        below = next((one for one in family[:50] if page.has_text(one)), None)
        if below is None or page.starts[below] != start:
            return way
        way.append(below)


def _mark_is_unique(page: PageModel, regions: Sequence[Region]) -> float:
    """Return the share of the runs in which nothing else looks like their first element."""
    alone = []
    for region in regions[:N_WALKED]:
        first, *others = page.siblings(region)[:50]
        alone.append(float(all(page.classes[other] != page.classes[first] for other in others)))
    return mean(alone)


def _shares(page: PageModel, regions: Sequence[Region]) -> list[float]:
    some = regions[:100]
    elements = [
        mean([float(page.count(name, region) > 0) for region in some])
        for name in ("images", "headings", "fields")
    ]
    texts = [
        mean([float(page.n_text(name, region) > 0) for region in some])
        for name in ("money", "digits")
    ]
    return elements + texts


def _ends(page: PageModel, regions: Sequence[Region]) -> list[float]:
    """Return how the first and the last region compare with the others, as heads and feet of tables do."""
    lengths = [float(page.length(region)) for region in regions]
    usual = max(middle_of(lengths), 1)
    middle = region_paths(page, regions[len(regions) // 2])
    cells = page.tags[regions[0][0] : page.ends[regions[0][1]]][:30]
    return [
        min(lengths[0] / usual, 5.0),
        min(lengths[-1] / usual, 5.0),
        alike(region_paths(page, regions[0]), middle),
        alike(region_paths(page, regions[-1]), middle),
        float("th" in cells),
    ]


def _names(page: PageModel, candidate: RecordList) -> list[float]:
    """Return whether class and id speak of navigation or of content, here and above."""
    first = candidate.regions[0][0]
    own = _name_of(page, first)
    above, tags = [], set()
    place = page.parents[first]
    while place >= 0:
        above.append(_name_of(page, place))
        tags.add(page.tags[place])
        place = page.parents[place]
    upper = " ".join(above[:-2])
    return [
        float(NAVIGATION.search(own) is not None),
        float(CONTENT.search(own) is not None),
        float(NAVIGATION.search(upper) is not None) + 2 * bool(tags & NAVIGATION_TAGS),
        float(CONTENT.search(upper) is not None) + 2 * bool(tags & CONTENT_TAGS),
        float("." in page.classes[first]),
        log1p(mean([float(len(page.siblings(region))) for region in candidate.regions[:N_WALKED]])),
    ]


def _name_of(page: PageModel, element: int) -> str:
    node = page.nodes[element]
    return f"{node.get('class') or ''} {node.get('id') or ''}"


def _surroundings(page: PageModel, regions: Sequence[Region]) -> list[float]:
    """Return what stands before, between and behind the regions."""
    first, last = regions[0], regions[-1]
    family = page.children[page.parents[first[0]]] if page.parents[first[0]] >= 0 else [0]
    mark, middle = page.classes[first[0]], region_paths(page, regions[len(regions) // 2])
    before = [one for one in family if one < first[0] and page.has_text(one)][-1:]
    after = [one for one in family if one > last[1] and page.has_text(one)][:1]
    lengths = [float(page.length(region)) for region in regions]
    between = list(pairwise(regions))[:60]

    def apart(name: str) -> float:
        sums = page.n_before[name]
        return mean(
            [float(sums[after[0]] - sums[page.ends[before[1]]]) for before, after in between]
        )

    words = page.n_text("chunks", first)
    return [
        *[_likeness_to(page, one, mark, middle) for one in (before, after)],
        mean([float(page.starts[after[0]] > page.stops[before[1]]) for before, after in between]),
        min(apart("links"), 10.0),
        min(apart("breaks"), 10.0),
        sum(page.stops[page.parents[region[0]]] - page.stops[region[1]] for region in regions[-1:])
        / max(page.n_characters, 1),
        max(lengths) / max(sum(lengths), 1),
        log1p(words),
    ]


def _likeness_to(page: PageModel, neighbour: list[int], mark: str, middle: frozenset[str]) -> float:
    if not neighbour:
        return 0.0
    return (
        alike(path_set(page, neighbour[0]), middle) / 2 + (page.classes[neighbour[0]] == mark) / 2
    )
