"""Play redesigns in an own installation: `playing DIR DATA [SITE …]` prints a line a site."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import django
from django.core.management.base import CommandError

from benchmarks.redesigns.cases import Case, Edition

N_ANNOTATED = 5  # pages of each type
KEPT = 250  # characters of a value found again that are compared


def main(arguments: list[str]) -> int:
    """Print a line for each site, or for those whose names begin as told."""
    folder, data = Path(arguments[0]), Path(arguments[1]) if arguments[1] else None
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    from benchmarks.histories.playing import call
    from benchmarks.redesigns.cases import cases

    call("migrate", "--no-input", "-v0")
    for case in cases(data):
        if not arguments[2:] or case.site.startswith(tuple(arguments[2:])):
            print(json.dumps(play(case, folder / case.site)), flush=True)
    return 0


def play(case: Case, folder: Path, n_annotated: int = N_ANNOTATED) -> dict[str, Any]:
    """Return what checks say of each edition of a site and what the last one's repair gives."""
    folder.mkdir()
    cluster_by_url, type_by_cluster = begin(case, folder, n_annotated)
    told: dict[str, Any] = {"site": case.site, "group": case.group, "editions": []}
    for number, (name, edition) in enumerate(case.later.items(), 1):
        is_last = number == len(case.later)
        redesigned = case.redesigned if is_last else frozenset[str]()
        manifest = write_pages(folder, case, edition)
        *tests, line = call("run_checks", case.site, "--source", manifest)
        lost = Counter(test["cluster"] for test in tests if test["failed"])
        clusters = [
            {
                "cluster": cluster,
                "type": kind,
                "is_redesigned": kind in redesigned,
                "is_broken": cluster in line["broken"],
                "n_lost": lost[cluster],
            }
            for cluster, kind in sorted(type_by_cluster.items())
        ]
        fields: dict[str, Any] = {
            "name": name,
            "clusters": clusters,
            "reason": line["reason"],
            "n_failing_by_cluster": lost,
            "n_tested": len(tests),
        }
        if is_last:
            for row in clusters:
                row["urls"] = {
                    url for url, cluster in cluster_by_url.items() if cluster == row["cluster"]
                }
            fields["values"] = repair(case, edition, clusters, manifest)
        told["editions"].append(fields)
    return told


def call(*arguments: str) -> list[dict[str, Any]]:
    from benchmarks.histories.playing import call as run

    return run(*arguments)


def begin(
    case: Case, folder: Path, n_annotated: int = N_ANNOTATED
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Import the first edition and learn rules; return clusters, and types of those with a rule."""
    (folder / "vertical.json").write_text(json.dumps(case.vertical))
    call("load_vertical", f"{folder}/vertical.json")
    call("add_site", case.site, "--url", f"{home(case)}/", "--vertical", case.vertical["name"])
    call("import_pages", case.site, write_pages(folder, case, case.first))
    cluster_by_url = {line["url"]: line["cluster"] for line in call("cluster_site", case.site)}
    lines = [json.dumps(line) for line in said_of_samples(case, cluster_by_url, n_annotated)]
    (folder / "annotations.jsonl").write_text("\n".join(lines) + "\n")
    with suppress(CommandError):  # a line that cannot be taken is one page less to learn from
        call("import_annotations", case.site, f"{folder}/annotations.jsonl")
    ruled = {line["cluster"] for line in call("learn_rules", case.site)}
    call("extract_records", case.site)
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path, page in case.first.items():
        types[cluster_by_url.get(home(case) + path) or ""][page.type] += 1
    return cluster_by_url, {cluster: types[cluster].most_common(1)[0][0] for cluster in ruled}


def said_of_samples(
    case: Case, cluster_by_url: Mapping[str, str | None], n_annotated: int
) -> Iterator[dict[str, Any]]:
    """Yield what an editor says of the first samples of each cluster that are described."""
    n_by_cluster: Counter[str] = Counter()
    samples = [line["url"].removeprefix(home(case)) for line in call("draw_samples", case.site)]
    for path in dict.fromkeys([*samples, *case.first]):
        page, cluster = case.first.get(path), cluster_by_url.get(home(case) + path)
        if page is None or not cluster or not page.lines or n_by_cluster[cluster] >= n_annotated:
            continue
        n_by_cluster[cluster] += 1
        yield from ({"url": home(case) + path, **line} for line in page.lines)


def repair(
    case: Case, edition: Edition, clusters: list[dict[str, Any]], manifest: str
) -> list[dict[str, Any]]:
    """Accept the proposed repair, note it at the clusters, return what it gives by attribute."""
    from monitoring.models import Proposal

    healed = call("heal_site", case.site, "--source", manifest, "--accept")
    for row in clusters:
        # Two clusters may have become one: what counts is how the most of its pages are served now.
        best = max(
            healed, key=lambda line: len(row["urls"].intersection(line["urls"])), default=None
        )
        del row["urls"]
        row["decision"] = best["decision"] if best else "needs_annotation"
        row["accepted"] = bool(best and best.get("accepted"))
        row["why"] = best["reason"] if best else ""
    records: dict[str, dict[str, Any]] = {}
    for line in call("extract_records", case.site):
        records.setdefault(line["url"], line.get("record") or {})
    evidence: dict[str, dict[str, Any]] = {}
    for proposal in Proposal.objects.filter(site__name=case.site):
        evidence.update(proposal.evidence)
    return list(count(case, edition, records, evidence))


def count(
    case: Case, edition: Edition, records: Mapping[str, Any], evidence: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield for each attribute how many values there are, are given and are right."""
    from monitoring.algorithms.known_values import same_value

    learnt = {
        line["attribute"] for page in case.first.values() for line in page.lines if "xpath" in line
    }
    for attribute in case.vertical["attributes"]:
        name, kind = attribute["name"], attribute.get("type", "text")
        n: Counter[str] = Counter()
        wrong: list[Any] = []
        for path, page in edition.items():
            was_known = case.former_paths.get(path, path) in case.first
            if page.type not in case.redesigned or not was_known or name not in learnt:
                continue
            url, truth = home(case) + path, list(page.values.get(name, ()))
            given = as_list(records.get(url, {}).get(name))
            results = [each["text"] for each in evidence.get(url, {}).get(name, [])]
            n["there"] += bool(truth)
            n["given"] += bool(given)
            n["right"] += (is_right := bool(given) and is_same(kind, truth, given, same_value))
            n["proposed"] += bool(results)
            n["proposed right"] += bool(results) and is_same(
                kind, shortened(truth), shortened(results), same_value
            )
            if not is_right and (given or truth):
                wrong.append([url, truth, given])
        if n["there"] or n["given"]:
            counted = {
                key: n[key] for key in ("there", "given", "right", "proposed", "proposed right")
            }
            told = {
                "kind": case.kind,
                "attribute": name,
                "is_constant": bool(attribute.get("constant")),
            }
            yield told | counted | {"wrong": wrong[:4]}


def is_same(kind: str, truth: list[str], found: list[str], same_value: Any) -> bool:
    """Say whether two lists hold the same values, whatever their order."""
    if len(truth) == 1 and len(found) == 1:
        return bool(same_value(kind, truth[0], found[0]))
    return bool(same_value(kind, sorted(truth), sorted(found)))


def shortened(texts: list[str]) -> list[str]:
    """Return texts as evidence keeps them."""
    return [" ".join(text.split())[:KEPT].strip() for text in texts]


def as_list(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def home(case: Case) -> str:
    return f"http://{case.site}.example"


def write_pages(folder: Path, case: Case, edition: Edition) -> str:
    """Write an edition as an archive, and return its manifest."""
    place = folder / "pages"
    place.mkdir(exist_ok=True)
    with (folder / "manifest.jsonl").open("w") as lines:
        for number, (path, page) in enumerate(edition.items()):
            (place / f"{number}.html").write_bytes(page.body)
            entry = {
                "url": home(case) + path,
                "file": f"pages/{number}.html",
                "status": page.status,
            }
            lines.write(json.dumps(entry | {"content_type": page.content_type}) + "\n")
    return f"{folder}/manifest.jsonl"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
