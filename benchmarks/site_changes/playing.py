"""Play histories in an own installation: `playing DIR DATA [SITE …]` prints a line a version."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

import django

N_ANNOTATED: Final = 3  # pages of each cluster
# Tried beside the usual thresholds.
SHARES_OF_PAGES: Final = (0.3, 0.5, 0.7)
QUORUMS: Final = (0.05, 0.1, 0.2, 0.3)
SHARES_REACHABLE: Final = (0.3, 0.5, 0.7)


def main(arguments: list[str]) -> int:
    """Print a line for each version of the sites, or of those whose names begin as told."""
    folder, data = Path(arguments[0]), Path(arguments[1]) if arguments[1] else None
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    from benchmarks.redesigns.playing import call
    from benchmarks.site_changes.histories import histories

    call("migrate", "--no-input", "-v0")
    for history in histories(data):
        if not arguments[2:] or history.case.site.startswith(tuple(arguments[2:])):
            for line in play(history, folder / history.case.site):
                print(json.dumps(line), flush=True)
    return 0


def play(history: Any, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what a check says of each version of a site, all by the rules of the first one."""
    from benchmarks.redesigns.playing import begin

    folder.mkdir()
    begin(history.case, folder, n_annotated=N_ANNOTATED)
    yield from checked(history, folder)


def checked(history: Any, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what a check says of each version of a site that has its rules."""
    from benchmarks.redesigns.playing import call, write_pages

    case = history.case
    truth_was_given = _given(case, case.first)
    for name, edition in case.later.items():
        manifest = write_pages(folder, case, edition)
        *tests, line = call("run_checks", case.site, "--source", manifest)
        yield {
            "site": case.site,
            "family": history.family,
            "group": case.group,
            "version": name,
            "right_states": sorted(history.right_states[name]),
            "state": line["state"],
            "state_by_thresholds": states_by_thresholds(case.site) | {"usual": line["state"]},
            "layouts": line.get("layouts", []),
            "site_changed": line["site_changed"],
            "broken": line["broken"],
            "reason": line["reason"],
            "outcomes": Counter(test["outcome"] for test in tests),
            "why": Counter(test.get("why", "") for test in tests),
            "failed": Counter(
                f"{test['cluster']} {each['attribute']}"
                for test in tests
                for each in test["failed"]
            ),
            "lost": lost_fields(case, edition, truth_was_given),
        }


def states_by_thresholds(site: str) -> dict[str, str]:
    """Return the states that other thresholds would have given the last check of a site."""
    from monitoring.algorithms.site_change import site_state
    from monitoring.algorithms.verdicts import Thresholds
    from monitoring.models import Check
    from monitoring.services.checks.thresholds import past_check_of

    check = past_check_of(Check.objects.filter(site__name=site).latest("pk"))
    states = {}
    for pages, quorum, reachable in product(SHARES_OF_PAGES, QUORUMS, SHARES_REACHABLE):
        thresholds = Thresholds(pages=pages, quorum=quorum, reachable=reachable)
        verdicts = [verdict for _, verdict in check.verdicts(thresholds)]
        states[f"{pages} {quorum} {reachable}"] = site_state(verdicts)
    return states


def lost_fields(
    case: Any, edition: Any, truth_was_given: Mapping[tuple[str, str], bool]
) -> dict[str, list[int]]:
    """Return of how many pages the rules lose or alter each field that they gave rightly before."""
    given = _given(case, edition)
    n_had: Counter[str] = Counter()
    n_lost: Counter[str] = Counter()
    for (path, name), is_right in truth_was_given.items():
        if is_right and (path, name) in given:
            n_had[name] += 1
            n_lost[name] += not given[path, name]
    return {name: [n, n_had[name]] for name, n in n_lost.items() if n}


def _given(case: Any, edition: Any) -> dict[tuple[str, str], bool]:
    """Return whether published rules give each field's true value, on each page that has one."""
    from benchmarks.redesigns.playing import as_list, home, is_same
    from clustering.models import PageMembership
    from monitoring.algorithms.known_values import same_value
    from monitoring.services.checks.fresh_pages import FreshPage
    from monitoring.services.checks.tested_pages import extract_lines
    from rules.models import Rule
    from rules.services.learning.schemas import runnable

    kinds = {line["name"]: line.get("type", "text") for line in case.vertical["attributes"]}
    given: dict[tuple[str, str], bool] = {}
    for rule in Rule.objects.published().filter(cluster__site__name=case.site):
        ready = runnable(rule)
        members = PageMembership.objects.of_cluster(rule.cluster_id)
        for url in members.values_list("page__url", flat=True):
            path = url.removeprefix(home(case))
            page = edition.get(path)
            if page is None or not page.values:
                continue
            fresh = FreshPage(url, page.body, page.content_type, status=page.status)
            lines = extract_lines(ready, fresh)
            values = lines[0].values if lines else {}
            for name, truth in page.values.items():
                mine = as_list(values.get(name))
                given[path, name] = bool(mine) and is_same(
                    kinds[name], list(truth), mine, same_value
                )
    return given


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
