"""Find values that are wrong though they look right: on bellwethers, and in the stream of records.

They are compared with those of a week ago: were it yesterday, what goes wrong slowly would seem
right.
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
from monitoring.algorithms.verdicts import UNREACHABLE
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_text, read_tree
from monitoring.services.checks.watched import WatchedCluster
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import without_gaps
from rules.models import Record, RecordVersion, Rule
from vertex.core.models import Site

LAG: Final = timedelta(days=7)
STREAM: Final = timedelta(days=1)  # how far back a record counts as one of now
MAX_RECORDS_READ: Final = 300  # of a cluster
MAX_WORDS_CHARS: Final = 60  # of what stands before a value
_BEFORE = etree.XPath("preceding::text()[normalize-space()][1]", regexp=False)


def suspicions_of_check(
    cluster: WatchedCluster,
    fresh: Mapping[str, FreshPage],
    tests: Iterable[PageTest],
    now: datetime,
) -> list[Suspicion]:
    """Return the attributes of a cluster whose values on the bellwethers are not to be trusted."""
    reached = {test.url for test in tests if test.outcome != UNREACHABLE}
    golden: list[Reading] = []
    new: list[Reading] = []
    for watched in cluster.pages:
        url = watched.page.url
        if url not in reached:
            continue
        page = fresh[url]
        lines = extract_lines(cluster.ready, page, nodes=True)
        golden += _readings(url, watched.golden, read_tree(watched.old)[0], "")
        new += _readings(url, lines, read_tree(page)[0], read_text(page))

    golden_by_url = {reading.url: reading for reading in golden}
    lagged = readings_at(cluster.rule.cluster, now - LAG)
    lagged_by_url = {reading.url: reading for reading in lagged}
    baseline = list((golden_by_url | lagged_by_url).values())
    types = {attribute.name: attribute.type for attribute in cluster.ready.attributes}
    models = learn_models(baseline, types, readings_at(cluster.rule.cluster, now - 2 * LAG))
    before = [
        _with_words(lagged_by_url.get(url, reading), reading)
        for url, reading in golden_by_url.items()
    ]
    return suspicions(models, new, before)


def suspicions_of_stream(site: Site, now: datetime) -> list[tuple[str, Suspicion]]:
    """Return the attributes whose values in the records of the last day are not to be trusted."""
    suspicions_by_cluster = []
    rules = Rule.objects.published().of_site(site).select_related("cluster")
    for rule in rules.order_by("cluster__name"):
        changed = Record.objects.there().filter(cluster=rule.cluster, changed_at__gt=now - STREAM)
        rows = list(changed.select_related("page").order_by("-change_number")[:MAX_RECORDS_READ])
        if not rows:
            continue
        types = {attribute.name: attribute.type for attribute in rule.attributes}
        baseline = readings_at(rule.cluster, now - LAG)
        models = learn_models(baseline, types, readings_at(rule.cluster, now - 2 * LAG))
        before = readings_at(rule.cluster, now - LAG, {row.pk for row in rows})
        new = [Reading(_name(row.page.url, row.key), without_gaps(row.values)) for row in rows]
        suspicions_by_cluster += [
            (rule.cluster.name, suspicion) for suspicion in suspicions(models, new, before)
        ]
    return suspicions_by_cluster


def readings_at(
    cluster: Cluster, at: datetime, records: Iterable[int] | None = None
) -> list[Reading]:
    """Return the values that a cluster's records had at a time; none of records that came later."""
    known = Record.objects.filter(cluster=cluster, first_seen_at__lte=at).select_related("page")
    if records is not None:
        known = known.filter(pk__in=records)
    rows = list(known.order_by("pk")[:MAX_RECORDS_READ])
    versions = RecordVersion.objects.filter(
        record__in=[row.pk for row in rows], since__lte=at, until__gt=at, was_gone=False
    )
    old_values = dict(versions.values_list("record", "values"))
    return [
        Reading(_name(row.page.url, row.key), without_gaps(old_values.get(row.pk, row.values)))
        for row in rows
        if row.pk in old_values or row.changed_at <= at
    ]


def _name(url: str, key: str) -> str:
    return f"{url}#{key}" if key else url


def _readings(
    url: str, lines: Sequence[Line], tree: HtmlElement | None, text: str
) -> list[Reading]:
    return [
        Reading(_name(url, line.key or ""), line.values, _words(tree, line.nodes), text)
        for line in lines
        if line.values
    ]


def _words(tree: HtmlElement | None, nodes: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return what stands before each value, where something does."""
    words_by_name: dict[str, str] = {}
    if tree is None:
        return words_by_name
    for name, paths in nodes.items():
        if not paths:
            continue
        words = _words_before(tree, paths if isinstance(paths, str) else paths[0])
        if words:
            words_by_name[name] = words
    return words_by_name


def _words_before(tree: HtmlElement, path: str) -> str:
    element_path = path.partition("/text()")[0].partition("/@")[0]
    try:
        elements = tree.getroottree().xpath(element_path)
    except etree.XPathError:
        return ""
    if not isinstance(elements, list) or not elements:
        return ""
    texts: Any = _BEFORE(elements[0])
    return str(texts[0]).strip()[-MAX_WORDS_CHARS:] if texts else ""


def _with_words(reading: Reading, golden: Reading) -> Reading:
    return Reading(reading.url, reading.record, reading.words or golden.words, reading.text)
