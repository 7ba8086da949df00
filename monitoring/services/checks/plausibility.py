"""Look for values that are wrong though they look right: on bellwethers, and in the stream of records.

They are compared with those of a week ago: were it yesterday, what goes wrong slowly would seem right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from lxml import etree
from lxml.html import HtmlElement

from clustering.models import Cluster
from monitoring.algorithms.site_change import PageTest
from monitoring.algorithms.value_models import Reading, Suspicion, learn_models, suspicions
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_text, read_tree
from monitoring.services.checks.watched import WatchedCluster
from rules.algorithms.running.record_lines import Line
from rules.models import Record, RecordVersion, Rule
from vertex.core.models import Site

LAG: Final = timedelta(days=7)
STREAM: Final = timedelta(days=1)  # how far back a record counts as one of now
MOST: Final = 300  # records of a cluster that are looked at
LONGEST_WORDS: Final = 60  # characters before a value
_BEFORE = etree.XPath("preceding::text()[normalize-space()][1]", regexp=False)


def suspicions_of_check(
    cluster: WatchedCluster,
    fresh: Mapping[str, FreshPage],
    tests: Iterable[PageTest],
    now: datetime,
) -> list[Suspicion]:
    """Return the attributes of a cluster whose values on the bellwethers are not to be trusted."""
    reached = {test.url for test in tests if test.outcome != "unreachable"}
    golden, new = [], []
    for page in cluster.pages:
        url = page.page.url
        if url not in reached:
            continue
        old_tree, _ = read_tree(page.old)
        golden += _readings(url, page.golden, old_tree, "")
        body = fresh[url]
        tree, _ = read_tree(body)
        lines = extract_lines(cluster.ready, body, nodes=True)
        new += _readings(url, lines, tree, read_text(body))
    kinds = {one.name: one.type for one in cluster.ready.attributes}
    known = {one.url: one for one in golden}
    lagged = {one.url: one for one in readings_at(cluster.rule.cluster, now - LAG)}
    baseline = list((known | lagged).values())
    models = learn_models(baseline, kinds, readings_at(cluster.rule.cluster, now - 2 * LAG))
    before = [_with_words(lagged.get(url, reading), reading) for url, reading in known.items()]
    return suspicions(models, new, before)


def suspicions_of_stream(site: Site, now: datetime) -> list[tuple[str, Suspicion]]:
    """Return the attributes whose values in the records of the last day are not to be trusted."""
    found = []
    for rule in (
        Rule.objects.published().of_site(site).select_related("cluster").order_by("cluster__name")
    ):
        changed = Record.objects.there().filter(cluster=rule.cluster, changed_at__gt=now - STREAM)
        rows = list(changed.select_related("page").order_by("-change_number")[:MOST])
        if not rows:
            continue
        records = {row.pk for row in rows}
        kinds = {one.name: one.type for one in rule.attributes}
        baseline = readings_at(rule.cluster, now - LAG)
        models = learn_models(baseline, kinds, readings_at(rule.cluster, now - 2 * LAG))
        before = readings_at(rule.cluster, now - LAG, records)
        new = [Reading(_name(row.page.url, row.key), row.values) for row in rows]
        found += [(rule.cluster.name, one) for one in suspicions(models, new, before)]
    return found


def readings_at(
    cluster: Cluster, at: datetime, records: Iterable[int] | None = None
) -> list[Reading]:
    """Return what the records of a cluster said at a time; those that came later said nothing."""
    known = Record.objects.filter(cluster=cluster, first_seen_at__lte=at).select_related("page")
    if records is not None:
        known = known.filter(pk__in=records)
    rows = list(known.order_by("pk")[:MOST])
    versions = RecordVersion.objects.filter(
        record__in=[row.pk for row in rows], since__lte=at, until__gt=at, was_gone=False
    )
    then = dict(versions.values_list("record", "values"))
    return [
        Reading(_name(row.page.url, row.key), then.get(row.pk, row.values))
        for row in rows
        if row.pk in then or row.changed_at <= at
    ]


def _name(url: str, key: str) -> str:
    return f"{url}#{key}" if key else url


def _readings(
    url: str, lines: Sequence[Line], tree: HtmlElement | None, text: str
) -> list[Reading]:
    return [
        Reading(
            _name(url, line.key or ""),
            line.values,
            _words(tree, line.nodes),
            text,
        )
        for line in lines
        if line.values
    ]


def _words(tree: HtmlElement | None, nodes: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return what stands before each value."""
    if tree is None:
        return {}
    paths = {
        name: path if isinstance(path, str) else path[0] for name, path in nodes.items() if path
    }
    return {name: words for name, path in paths.items() if (words := _words_before(tree, path))}


def _words_before(tree: HtmlElement, path: str) -> str:
    element = path.partition("/text()")[0].partition("/@")[0]
    try:
        found = tree.getroottree().xpath(element)
    except etree.XPathError:
        return ""
    if not isinstance(found, list) or not found:
        return ""
    before: Any = _BEFORE(found[0])
    return str(before[0]).strip()[-LONGEST_WORDS:] if before else ""


def _with_words(reading: Reading, golden: Reading) -> Reading:
    return Reading(reading.url, reading.record, reading.words or golden.words, reading.text)
