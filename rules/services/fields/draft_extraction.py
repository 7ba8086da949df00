"""Extract records by drafts, to look at: nothing is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError

from clustering.services.pages.stored_pages import given_url_by_url, stored_pages
from rules.algorithms.running.record_lines import Line, line_json
from rules.models import Rule
from rules.services.learning.schemas import runnable
from rules.services.records.extracting import PAGES_PER_BATCH, extract_pages
from rules.services.records.published_rules import PublishedRules, published_rules
from vertex.core.models import Site


def draft_lines(
    site: Site, given_urls: Mapping[str, Sequence[str]] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a site's pages: by the newest draft where a cluster has no published rule.

    `given_urls` holds for the pages that are wanted, by normalised address, how it was written.
    Raises ValidationError where there is neither a draft nor a rule.
    """
    published = published_rules(site)
    drafts = _newest_drafts(site, published.rule_by_cluster)
    if not drafts and not published.rule_by_cluster:
        raise ValidationError(
            f"{site.name} has no draft and no published rule; draft some first: "
            f"manage.py draft_rules {site.name}"
        )
    rules = {name: runnable(rule) for name, rule in drafts.items()}
    rules.update(published.rules.rules)
    both = PublishedRules(
        replace(published.rules, rules=rules),
        drafts | published.rule_by_cluster,
        published.borrowed_by_cluster,
        published.ruleset_version,
    )
    pages = stored_pages(site)
    if given_urls is not None:
        pages = [page for page in pages if page.url in given_urls]
    for start in range(0, len(pages), PAGES_PER_BATCH):
        batch = pages[start : start + PAGES_PER_BATCH]
        spellings = given_urls or {
            url: [given] for url, given in given_url_by_url(site, [p.url for p in batch]).items()
        }
        for page in extract_pages(site, batch, both):
            for url in spellings[page.page.url]:
                for line in page.lines:
                    yield _payload(replace(line, url=url), drafts)


def _payload(line: Line, drafts: Collection[str]) -> dict[str, Any]:
    payload = line_json(line, nodes=True)
    payload.pop("record_nodes", None)  # as in the lines of stored records
    if line.rule is not None and line.cluster in drafts:
        payload["rule"] = f"{line.cluster}@draft"
    return payload


def _newest_drafts(site: Site, ruled: Collection[str]) -> dict[str, Rule]:
    """Return the newest version of each cluster without a published rule that is still a draft."""
    waiting = (Rule.State.DRAFT, Rule.State.PROPOSED)
    rules = Rule.objects.of_site(site).filter(state__in=waiting).select_related("cluster")
    by_cluster = {rule.cluster.name: rule for rule in rules.order_by("version")}
    return {name: rule for name, rule in by_cluster.items() if name not in ruled}
