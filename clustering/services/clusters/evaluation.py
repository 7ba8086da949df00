"""Score clusters against the types that pages truly have, both from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clustering.algorithms.measures import compare
from clustering.dom.addresses import BadAddress, normalise_url
from vertex.core.services.files.files import BadLine, read_json_lines

Report = Callable[[str, str], None]  # takes the position and the reason of each bad line

FIGURES = (
    "adjusted_rand",
    "f_star",
    "purity",
    "entropy",
    "pair_precision",
    "pair_recall",
    "n_clusters",
    "n_types",
    "n_pages",
)


def evaluate(
    cluster_by_url: Mapping[str, str | None], type_by_url: Mapping[str, str]
) -> tuple[dict[str, Any], int, int]:
    """Return the figures, and how many addresses only the clusters and only the types have.

    An address that is written in another way in one of the two is the same page. Raises
    NothingInCommon.
    """
    spelling = _other_spellings(cluster_by_url, type_by_url)
    respelt = {spelling.get(url, url): cluster for url, cluster in cluster_by_url.items()}
    measures = compare(respelt, type_by_url)
    figures = {name: getattr(measures, name) for name in FIGURES}
    return figures, len(respelt) - measures.n_pages, len(type_by_url) - measures.n_pages


def read_assignments(path: str, report: Report) -> dict[str, str | None]:
    """Return the cluster of each address of a file, None for none. Raises UnreadableFile."""
    return _read(path, report, "cluster", may_be_null=True)


def read_truth(path: str, report: Report) -> dict[str, str]:
    """Return the type of each address of a file. Raises UnreadableFile."""
    types = _read(path, report, "type", may_be_null=False)
    return {url: type_ for url, type_ in types.items() if type_ is not None}


def _read(path: str, report: Report, name: str, *, may_be_null: bool) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    for number, line in read_json_lines(path):
        if isinstance(line, BadLine):
            report(f"{path}:{number}", line.reason)
            continue
        problem = _problem(line, values, name, may_be_null=may_be_null)
        if problem:
            report(f"{path}:{number}", problem)
        else:
            values[line["url"]] = line[name]
    return values


def _problem(
    line: Mapping[str, Any], values: Mapping[str, str | None], name: str, *, may_be_null: bool
) -> str:
    """Return why a line cannot be used; blank if it can."""
    if not isinstance(line.get("url"), str) or not line["url"]:
        return '"url" is missing or no text'
    is_null = name in line and line[name] is None
    if not isinstance(line.get(name), str) and not (may_be_null and is_null):
        return f'"{name}" is missing or no text' + (" and not null" if may_be_null else "")
    if line["url"] in values and values[line["url"]] != line[name]:
        return f"{line['url']} had another {name} in an earlier line, which counts"
    return ""


def _other_spellings(
    cluster_by_url: Mapping[str, str | None], type_by_url: Mapping[str, str]
) -> dict[str, str]:
    """Return how the truth spells the addresses that are in both but not letter by letter."""
    unmatched = {_normalised(url): url for url in type_by_url if url not in cluster_by_url}
    spelling: dict[str, str] = {}
    for url in cluster_by_url:
        if not unmatched:
            break
        if url not in type_by_url:
            match = unmatched.pop(_normalised(url), None)
            if match is not None:
                spelling[url] = match
    return spelling


def _normalised(url: str) -> str:
    try:
        return normalise_url(url)
    except BadAddress:
        return url
