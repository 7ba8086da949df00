"""Use pages whose address changed as evidence: they are read as if at their former address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from clustering.algorithms.grouping import RawPage
from monitoring.algorithms.former_addresses import NewPage, find_former_addresses
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.repair import ProposedPage
from monitoring.algorithms.rule_reuse import NewCluster
from monitoring.algorithms.value_places import ValueIndex
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import read_tree
from monitoring.services.repair.plans import RepairPlan
from rules.models import Record, Rule

ENOUGH_WITNESSES: Final = 20  # pages of a cluster at the addresses at which they were
ROWS_PER_FETCH: Final = 5_000


def former_addresses(rules: Sequence[Rule], fresh: Mapping[str, FreshPage]) -> dict[str, str]:
    """Return where pages stood before, by their new address, as far as their values tell.

    It is asked for clusters of which too few pages still stand at their address. A page that does
    is not looked for, and one that stands at the address of another record is not it.
    """
    known: set[str] = set()
    gone: dict[str, set[str]] = {}
    for values_by_url in _constant_values(rules):
        known.update(values_by_url)
        there = {url for url in values_by_url if url in fresh and _is_at_its_address(fresh[url])}
        if len(there) < ENOUGH_WITNESSES:
            gone |= {url: values for url, values in values_by_url.items() if url not in there}
    if not gone:
        return {}
    new = {
        url: _read(page) for url, page in fresh.items() if url not in known and not page.is_error
    }
    return find_former_addresses(gone, new)


def _is_at_its_address(page: FreshPage) -> bool:
    return not page.is_error and page.final_url in {"", page.url}


def _constant_values(rules: Sequence[Rule]) -> Iterator[Mapping[str, set[str]]]:
    """Yield the constant values of the records of each rule's cluster, by their page's address."""
    for rule in rules:
        constants = [attribute.name for attribute in rule.attributes if attribute.is_constant]
        values_by_url: defaultdict[str, set[str]] = defaultdict(set)
        records = Record.objects.there().filter(cluster=rule.cluster_id)
        rows = records.values_list("page__url", "values")
        for url, values in rows.iterator(chunk_size=ROWS_PER_FETCH):
            for name in constants:
                values_by_url[url].update(map(plain, _strings(values.get(name))))
        yield values_by_url


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts of a value, which may be one, several, or several of several."""
    if isinstance(value, str):
        yield value
    for part in value if isinstance(value, list) else ():
        yield from _strings(part)


def _read(page: RawPage) -> NewPage:
    """Return what a page shows, written as values are compared."""
    tree, _ = read_tree(page)
    if tree is None:
        return NewPage((), "")
    index = ValueIndex(tree)
    texts = {plain(index.texts.text_of(node)) for node in index.nodes}
    return NewPage(texts, plain(index.texts.whole))


def at_former_addresses(
    fresh: Mapping[str, FreshPage], former_by_new: Mapping[str, str]
) -> dict[str, FreshPage]:
    """Return pages by the addresses at which they are known."""
    pages = dict(fresh)
    for new, former in former_by_new.items():
        pages[former] = replace(pages.pop(new), url=former)
    return pages


def at_new_addresses(plan: RepairPlan, former_by_new: Mapping[str, str]) -> RepairPlan:
    """Return a plan that names pages by the addresses at which they are now."""
    new_by_former = {former: new for new, former in former_by_new.items()}

    def here(url: str) -> str:
        return new_by_former.get(url, url)

    def page_here(page: ProposedPage) -> ProposedPage:
        return replace(page, url=here(page.url))

    vectors = {here(url): vector for url, vector in plan.new.vector_by_url.items()}
    plan = replace(plan, new=NewCluster(plan.new.name, vectors, plan.new.signature))
    if plan.relearnt is None:
        return plan
    return replace(
        plan,
        relearnt=replace(
            plan.relearnt,
            annotated=[page_here(page) for page in plan.relearnt.annotated],
            proposed=[page_here(page) for page in plan.relearnt.proposed],
            unannotated=[here(url) for url in plan.relearnt.unannotated],
            page_to_annotate=here(plan.relearnt.page_to_annotate),
        ),
    )
