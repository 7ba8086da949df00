"""Group pages whose tag sequences are alike, by masked 8-byte signatures.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-A, Algorithm 1.
Notation:   P, the sampled pages; l, the shingle's length -> `shingle_length`; S, a page's shingles;
            v, its shingle vector -> `vector`, eight bytes packed in a 64-bit number, the first in
            the highest byte; v', a masked vector -> `Masked(value, wild)`; H, the table of counts;
            C_v, the cluster of a masked vector.
Readings:   The minimum is taken over 64-bit hashes and its low byte is kept (b-bit minwise
            hashing): over 8-bit hashes nearly every page of a thousand shingles has the minimum 0.
            In the second pass the size of the 8/8 cluster is subtracted, as the text and Example
            3.1 have it, and the sizes are counted before any subtraction. Vectors go in the order
            of (count, vector); between masks of equal count the one with the fewest wild cards
            wins, then the one whose wild cards stand at the highest bytes. Tags are start tags in
            the order of the bytes; a page of fewer tags than l is one shingle.
Departures: Groups are pruned below 20 pages, as in the paper, for samples of 2,000 pages and more;
            below, at 1 % of the sample, but never under 2 pages: the paper's value would leave
            small sites without clusters.
Cost:       `cluster_vectors` is the paper's procedure on a dictionary, 37 masks a page;
            `cluster_vectors_fast` does the same on distinct vectors in arrays. Both are linear in
            pages, but for the sort.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import xxhash
from numpy.typing import NDArray

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    Observation,
    RawPage,
    grouping_of,
)
from clustering.algorithms.hashing import mix
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.published.signatures import N_BYTES, Masked
from clustering.dom.page import decide_encoding

LENGTH = 10  # tags of a shingle
MAX_WILD = 2
PRUNED_BELOW = 20  # pages
MIN_PAGES = 2  # of a group, however small the sample

NAME_LENGTH = 8  # of a tag; a longer one is cut, and no two tags of HTML become the same
# Their content is no markup.
RAW_ELEMENTS = [b"script", b"style", b"textarea", b"title", b"xmp", b"iframe"]

# A comment; an element of raw content; any other start tag. Each takes all it scans: linear.
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<("
    + b"|".join(RAW_ELEMENTS)
    + rb")(?=[\x00-\x20/><]|\Z)[^>]*(?:>|\Z).*?(?:</\1|\Z)"
    rb"|<([a-zA-Z][^\x00-\x20/><]{0,7})",
    re.IGNORECASE | re.DOTALL,
)


def _wild_masks() -> list[int]:
    """Return the 37 choices of wild bytes in the order in which ties are decided."""
    from_highest = range(N_BYTES - 1, -1, -1)
    masks: list[int] = []
    for n_wild in range(MAX_WILD + 1):
        masks += [
            sum(0xFF << 8 * byte for byte in wild_bytes)
            for wild_bytes in combinations(from_highest, n_wild)
        ]
    return masks


WILD = _wild_masks()


def cluster_vectors(
    vectors: Sequence[int], pruned_below: int
) -> tuple[list[Masked | None], dict[Masked, int]]:
    """Run Algorithm 1, Cluster_Pages: return each page's masked vector, and the counts."""
    # First pass: count the pages that each masked vector covers.
    H: Counter[Masked] = Counter(v_ for v in vectors for v_ in masked_vectors(v))
    # Second pass: let each vector count for one masked vector only.
    sizes = Counter(vectors)
    for v, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        best = max(masked_vectors(v), key=H.__getitem__)
        for v_ in masked_vectors(v):
            if v_ != best:
                H[v_] -= size
    # Delete masked vectors with counts less than the threshold.
    H = Counter({v_: count for v_, count in H.items() if count >= pruned_below})
    # Third pass: assign each page to the largest masked vector that covers it.
    return [covering(v, H) for v in vectors], dict(H)


def masked_vectors(v: int) -> list[Masked]:
    """Return the masked vectors that cover a vector, in the order in which ties are decided."""
    return [Masked(v & ~wild, wild) for wild in WILD]


def covering(v: int, H: dict[Masked, int]) -> Masked | None:
    """Return the masked vector of largest count that covers a vector, None where none does."""
    best = max(masked_vectors(v), key=lambda v_: H.get(v_, 0))
    return best if best in H else None


def cluster_vectors_fast(
    vectors: NDArray[np.uint64], pruned_below: int
) -> tuple[list[Masked | None], dict[Masked, int]]:
    """Return what `cluster_vectors` returns, counting distinct vectors in arrays."""
    distinct, row_by_page, sizes = np.unique(vectors, return_inverse=True, return_counts=True)
    counts, index = _first_pass(distinct, sizes)
    for row in np.lexsort((distinct, sizes)):
        masked, size = index[row], sizes[row]
        before = counts[masked]
        counts[masked] = before - size
        best = int(before.argmax())
        counts[masked[best]] = before[best]
    counts[counts < pruned_below] = 0
    counts_by_row = counts[index]
    best_mask = counts_by_row.argmax(axis=1).tolist()
    is_covered = (counts_by_row.max(axis=1) > 0).tolist()
    covering_by_row = [
        Masked(v & ~WILD[mask], WILD[mask]) if covered else None
        for v, mask, covered in zip(distinct.tolist(), best_mask, is_covered, strict=True)
    ]
    masked_by_page = [covering_by_row[row] for row in row_by_page.tolist()]
    return masked_by_page, _surviving(distinct, counts_by_row)


def _first_pass(
    distinct: NDArray[np.uint64], sizes: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the counts of all masked vectors, and the indices of those of each distinct vector."""
    counts: list[NDArray[np.int64]] = []
    index = np.empty((len(distinct), len(WILD)), dtype=np.intp)
    n_before = 0
    for column, wild in enumerate(WILD):
        values, inverse = np.unique(
            distinct & np.uint64(~wild & (1 << 64) - 1), return_inverse=True
        )
        index[:, column] = inverse + n_before
        counts.append(np.bincount(inverse, weights=sizes, minlength=len(values)).astype(np.int64))
        n_before += len(values)
    return np.concatenate(counts), index


def _surviving(distinct: NDArray[np.uint64], counts_by_row: NDArray[np.int64]) -> dict[Masked, int]:
    """Return the masked vectors that survived the pruning, with a count above 0, and the counts.

    A row of counts is of one distinct vector, under each mask of WILD. Vectors that become the same
    under a mask have the same count there: it is taken once.
    """
    rows, columns = np.nonzero(counts_by_row > 0)
    survivors: dict[Masked, int] = {}
    for v, column, count in zip(
        distinct[rows].tolist(),
        columns.tolist(),
        counts_by_row[rows, columns].tolist(),
        strict=True,
    ):
        wild = WILD[column]
        survivors[Masked(v & ~wild, wild)] = count
    return survivors


def shingle_vector(body: bytes, content_type: str = "", length: int = LENGTH) -> int | None:
    """Return the signature of a page's bytes, None for a page without tags."""
    codes = scan_codes(_readable(body, content_type))
    return vector_of_codes(codes, length) if len(codes) else None


def _readable(body: bytes, content_type: str) -> bytes:
    """Return bytes in which markup is ASCII, which it is in all encodings of the web but UTF-16."""
    if b"\0" in body[:4]:
        return body.decode(decide_encoding(body, content_type), "replace").encode()
    return body


def scan_tags(body: bytes) -> list[bytes]:
    """Return the start tags in their order, in lower case, but for comments and scripts.

    It defines the signatures, in learning and in running: a parser finds other tags on broken
    pages.
    """
    return [(raw or tag).lower() for raw, tag in _TAG.findall(body) if raw or tag]


def scan_codes(body: bytes) -> NDArray[np.uint64]:
    """Return the codes of what `scan_tags` finds, by array operations."""
    padded = np.frombuffer(body + b" " * (NAME_LENGTH + 1), dtype=np.uint8)
    at = np.flatnonzero(padded == ord("<"))
    first = padded[at + 1]
    is_tag = ((first | 0x20) >= ord("a")) & ((first | 0x20) <= ord("z"))
    tags, comments = at[is_tag], at[first == ord("!")]
    # The eight bytes that begin at each offset.
    eight_bytes = np.ndarray((len(body) + 2,), dtype="<u8", buffer=padded, strides=(1,))
    names = _plain_names(eight_bytes[tags + 1])
    ends = at[first == ord("/")]
    ending = eight_bytes[np.minimum(ends + 2, len(body))] | _EACH * np.uint64(0x20)
    raw_ends_by_start: dict[int, list[int]] = {}
    for name, mask in zip(_RAW_NAMES, _RAW_MASKS, strict=True):
        starts = tags[names == name].tolist()
        if starts:
            raw_ends = ends[(ending & mask) == name].tolist()
            raw_ends_by_start.update(dict.fromkeys(starts, raw_ends))
    return mix(names[~_is_skipped(body, tags, comments.tolist(), raw_ends_by_start)])


def _plain_names(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Cut each word of eight bytes where a tag name ends, and bring its letters to lower case.

    In a byte without a mark, `(byte - 1) & ~byte` has no highest bit; above the lowest mark it may
    lie.
    """
    marks = (words - _EACH * np.uint64(0x21)) & ~words  # white space and control characters
    for character in b"/><":
        different = words ^ _EACH * np.uint64(character)
        marks |= (different - _EACH) & ~different
    marks &= _EACH * np.uint64(0x80)
    lowest = marks & (~marks + np.uint64(1))
    mask = np.where(marks == 0, ~np.uint64(0), (lowest - np.uint64(1)) >> np.uint64(7))
    return (words | _EACH * np.uint64(0x20)) & mask


def _is_skipped(
    body: bytes,
    tags: NDArray[np.intp],
    comments: list[int],
    raw_ends_by_start: dict[int, list[int]],
) -> NDArray[np.bool_]:
    """Return which tags stand in a comment, a script or another element whose content is no markup.

    `raw_ends_by_start` has, by where such an element starts, where elements of its name end.
    """
    starts, ends = [-1], [-1]  # of the stretches to skip
    for start in sorted([*comments, *raw_ends_by_start]):
        if start < ends[-1]:
            continue
        if start in raw_ends_by_start:
            end = _end_of_raw(body, start, raw_ends_by_start[start])
        else:
            end = _end_of_comment(body, start)
        if end:
            starts.append(start)
            ends.append(end)
    last = np.searchsorted(np.array(starts), tags, side="left") - 1
    return tags < np.array(ends)[last]


def _end_of_comment(body: bytes, start: int) -> int:
    """Return where a comment ends, 0 where there is none."""
    if body[start : start + 4] != b"<!--":
        return 0
    end = body.find(b"-->", start + 4)
    return end if end >= 0 else len(body)


def _end_of_raw(body: bytes, start: int, ends: list[int]) -> int:
    """Return where a script's content ends: the first of `ends` after its own tag."""
    tag_end = body.find(b">", start)
    if tag_end < 0:
        return len(body)
    index = bisect_left(ends, tag_end)
    return ends[index] if index < len(ends) else len(body)


def vector_of_tags(tags: Sequence[bytes]) -> int:
    """Return the signature of a sequence of tags."""
    names = b"".join((tag + b" ")[:NAME_LENGTH].ljust(NAME_LENGTH) for tag in tags)
    return vector_of_codes(mix(_plain_names(np.frombuffer(names, dtype="<u8"))))


def vector_of_codes(codes: NDArray[np.uint64], length: int = LENGTH) -> int:
    """Return v[i] = the low byte of the minimum of h_i over all windows of so many tags."""
    n_windows = max(len(codes) - length + 1, 1)
    shingles = np.zeros(n_windows, dtype=np.uint64)
    for offset in range(min(length, len(codes))):
        shingles = shingles * _BASE + codes[offset : offset + n_windows]
    minima = (mix(shingles)[np.newaxis, :] * _ODD[:, np.newaxis]).min(axis=1)
    return int.from_bytes(mix(minima).astype(np.uint8).tobytes(), "big")


_BASE = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.array(
    [xxhash.xxh64_intdigest(b"", seed=seed) | 1 for seed in range(N_BYTES)], dtype=np.uint64
)
_EACH = np.uint64(0x0101010101010101)
_RAW_NAMES = np.frombuffer(
    b"".join(name.ljust(NAME_LENGTH, b"\0") for name in RAW_ELEMENTS), dtype="<u8"
)
_RAW_MASKS = [np.uint64((1 << 8 * len(name)) - 1) for name in RAW_ELEMENTS]


def threshold_for(n_pages: int) -> int:
    """Return the number of pages below which groups of a sample are pruned."""
    return min(PRUNED_BELOW, max(MIN_PAGES, n_pages // 100))


def observe(page: RawPage, *, shingle_length: int = LENGTH) -> Observation:
    """Reduce a page to its signature."""
    return shingle_vector(page.body, page.content_type, shingle_length)


def cluster_pages(
    _urls: Sequence[str], vectors: Sequence[int | None], _evidence: ClusteringInputs
) -> Grouping:
    """Group pages by Algorithm 1."""
    threshold = threshold_for(len(vectors))
    with_tags = [index for index, vector in enumerate(vectors) if vector is not None]
    packed = np.array([vectors[index] for index in with_tags], dtype=np.uint64)
    masked, H = cluster_vectors_fast(packed, threshold)
    labels: list[str | None] = [None] * len(vectors)
    for index, v_ in zip(with_tags, masked, strict=True):
        labels[index] = str(v_) if v_ else None
    importance = {str(v_): float(count) for v_, count in H.items()}
    names = set(labels)
    return grouping_of(
        labels,
        why=(
            "Pages whose tag sequences agree in 6 of 8 signature bytes; "
            f"at least {threshold} pages a group."
        ),
        whys={
            name: f"signature {name}, counted {count:.0f} times"
            for name, count in importance.items()
        },
        importance=importance,
        model={"signatures": {name: n for name, n in importance.items() if name in names}},
    )


def assign(model: Model, vector: int | None, _url: str) -> str | None:
    """Return the most important signature that covers a later page's vector."""
    if vector is None:
        return None
    counts = model["signatures"]
    covering_names = [name for name in map(str, masked_vectors(vector)) if name in counts]
    return max(covering_names, key=counts.__getitem__, default=None)


SHINGLE_LENGTH = Parameter(
    name="shingle_length",
    title="Shingle length l",
    kind="whole number",
    default=LENGTH,
    least=1,
    most=100,
    sentence=(
        "How many tags in a row are one shingle. Shorter shingles put more pages into one group, "
        "and a page stays like itself when its template changes a little."
    ),
    is_observed=True,
)
CLUSTERER = Clusterer(
    "shingles",
    "Vertex shingles",
    observe,
    cluster_pages,
    assign,
    names_are_signatures=True,
    parameters=[SHINGLE_LENGTH],
)
