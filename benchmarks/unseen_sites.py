"""How well rules work on sites of SWDE when few pages of the product's clusters are annotated."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from lxml.html import HtmlElement

from annotation.algorithms.sampling import draw, observe
from benchmarks.clustering.typed_sites import TypedSite
from benchmarks.labelled_sites import swde_pages
from benchmarks.report import markdown_table
from benchmarks.robustness.locators import absolute, robula_plus
from benchmarks.rule_learning import LabelledCluster, compared, mark_texts, read_swde
from clustering.algorithms.automatic import auto
from clustering.algorithms.grouping import RawPage
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import LEARNERS, learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.rule import ClusterRule

TITLE = "Rules on unseen sites"
KS: Final = (1, 2, 3)
N_SAMPLES: Final = 20
MAX_ANNOTATED_CLUSTERS: Final = 3
MIN_PAGES_TO_ANNOTATE: Final = 10  # of a cluster; the largest of a site is annotated all the same
MIN_MULTI_SHARE: Final = 0.05  # of the pages, which show several values of a multi-valued attribute

ONE_CLUSTER: Final = "all pages one cluster"
CLUSTERED: Final = "clustered"
WITH_SIBLINGS: Final = "clustered, with siblings' rules"
WAYS: Final = (ONE_CLUSTER, CLUSTERED, WITH_SIBLINGS)

Locator = Callable[[HtmlElement], str]  # the XPath of an element, made from its page alone
LOCATORS: Final[Mapping[str, Locator]] = {
    "ROBULA+-like XPaths": robula_plus,
    "absolute XPaths": absolute,
}

INTRODUCTION: Final = (
    "Each site is clustered by `auto`. Of its clusters at most "
    f"{MAX_ANNOTATED_CLUSTERS} with at least "
    f"{MIN_PAGES_TO_ANNOTATE} pages are annotated, of each the first k of the "
    f"{N_SAMPLES} samples that "
    "`draw_samples` draws. Page-level F1: a page is right if all that is found of an "
    "attribute is all that "
    f"it shows, lists as sets. The first {max(KS)} samples of a cluster are not scored for any k. "
    "An attribute "
    "that no annotated page shows counts as missed. Each site weighs the same. "
    "Beside the learners stand XPaths "
    "made from the first sample alone, one for each value that it shows, all pages one cluster.\n\n"
)


@dataclass
class Scores:
    """What the rules of a site found, and for how many attributes there was none."""

    f1_by_attribute: dict[str, float] = field(default_factory=dict)
    n_without_rule: int = 0  # attributes that an annotated page shows, in an annotated cluster
    n_drafts: int = 0  # attributes whose rule is refuted by an annotated page

    @property
    def mean(self) -> float:
        return sum(self.f1_by_attribute.values()) / max(1, len(self.f1_by_attribute))


class Site:
    """A site's pages with their truth, numbered once, in the clusters that the product makes."""

    def __init__(
        self, vertical: str, pages: LabelledCluster, raw_pages: Mapping[str, RawPage]
    ) -> None:
        self.vertical = vertical
        self.pages = pages
        self.raw_pages = raw_pages
        index = number_nodes(pages.trees.values())
        self.columns = Columns(index)
        self.bits = dict(zip(pages.trees, index.page_bits, strict=True))
        # Where all pages are one cluster, the ways of using its rule differ in nothing.
        self._samples: dict[tuple[str, ...], list[str]] = {}
        self._rules: dict[tuple[tuple[str, ...], int, str], ClusterRule] = {}

    @cached_property
    def clusters(self) -> list[tuple[str, ...]]:
        """The pages of each cluster, the largest first; a page without one is one by itself."""
        return _clusters(self.raw_pages)

    def samples(self, cluster: tuple[str, ...]) -> list[str]:
        """Return the samples of a cluster as `draw_samples` orders them."""
        if cluster not in self._samples:
            seen = [observe(self.pages.trees[page]) for page in cluster]
            drawn = draw(seen, size=N_SAMPLES, prefer_unseen=True)
            self._samples[cluster] = [cluster[each.page] for each in drawn]
        return self._samples[cluster]

    def annotated_clusters(self) -> list[tuple[str, ...]]:
        large = [c for c in self.clusters[1:] if len(c) >= MIN_PAGES_TO_ANNOTATE]
        return [*self.clusters[:1], *large][:MAX_ANNOTATED_CLUSTERS]

    def learn(self, cluster: tuple[str, ...], k: int, learner: str) -> ClusterRule:
        """Return the rule that is learnt from the first samples of a cluster."""
        known = self._rules.get((cluster, k, learner))
        if known is None:
            samples = self.samples(cluster)
            known = self._rules[cluster, k, learner] = learn_cluster(
                [self.pages.annotated(page) for page in samples[:k]],
                [self.pages.trees[page] for page in samples[k:]],
                self.pages.specs,
                learner=learner,
            )
        return known

    def values(self, rule: ClusterRule, page: str) -> dict[str, set[str]]:
        """Return what a rule finds on a page, by attribute."""
        return {
            attribute.attribute: compared(values_on(self.columns, attribute, self.bits[page]))
            for attribute in rule.attributes
        }

    def scores(self, way: str, k: int, learner: str) -> Scores:
        """Return the scores of the rules that are learnt from k pages of each annotated cluster."""
        clusters = self.annotated_clusters()
        if way == ONE_CLUSTER:
            clusters = [tuple(self.pages.trees)]
        rule_by_page: dict[str, ClusterRule] = {}
        rules: list[ClusterRule] = []
        not_scored: set[str] = set()
        scores = Scores()
        for cluster in clusters:
            samples = self.samples(cluster)
            not_scored.update(samples[: max(KS)])
            rule = self.learn(cluster, k, learner)
            rules.append(rule)
            rule_by_page.update(dict.fromkeys(cluster, rule))
            scores.n_without_rule += self._without_rule(rule, samples[:k])
            scores.n_drafts += sum(attribute.is_draft for attribute in rule.attributes)
        found_by_page: dict[str, Mapping[str, set[str]]] = {}
        for page in self.pages.trees:
            if page in not_scored:
                continue
            if page in rule_by_page:
                found_by_page[page] = self.values(rule_by_page[page], page)
            elif way == WITH_SIBLINGS:
                found_by_page[page] = self._best_of([self.values(rule, page) for rule in rules])
            else:
                found_by_page[page] = {}
        scores.f1_by_attribute = {
            name: self._page_f1(name, found_by_page) for name in self.pages.attributes
        }
        return scores

    def locator_f1(self, locator: Locator) -> float:
        """Return the mean F1 of the XPaths that are made of the values of the first sample."""
        samples = self.samples(tuple(self.pages.trees))
        first = self.pages.trees[samples[0]]
        xpaths_by_name = {
            name: [_xpath_by(locator, cast("HtmlElement", first), str(mark.node)) for mark in marks]
            for name, marks in self.pages.marks[samples[0]].items()
        }
        values_by_page: dict[str, Mapping[str, set[str]]] = {}
        for page, tree in self.pages.trees.items():
            if page not in samples[: max(KS)]:
                values_by_page[page] = {
                    name: compared([text for xpath in xpaths for text in _first_text(tree, xpath)])
                    for name, xpaths in xpaths_by_name.items()
                }
        f1s = [self._page_f1(name, values_by_page) for name in self.pages.attributes]
        return sum(f1s) / max(1, len(f1s))

    def _without_rule(self, rule: ClusterRule, annotated: Iterable[str]) -> int:
        shown = {name for page in annotated for name, m in self.pages.marks[page].items() if m}
        with_rule = {attribute.attribute for attribute in rule.attributes if attribute.alternatives}
        return len(shown - with_rule)

    def _best_of(self, found: Sequence[Mapping[str, set[str]]]) -> Mapping[str, set[str]]:
        return max(found, key=lambda values: sum(map(bool, values.values())))

    def _page_f1(self, name: str, found_by_page: Mapping[str, Mapping[str, set[str]]]) -> float:
        n_right = n_found = n_wanted = 0
        for page, values in found_by_page.items():
            result = values.get(name, set())
            wanted = compared(self.pages.truth[page].get(name, []))
            n_found += bool(result)
            n_wanted += bool(wanted)
            n_right += bool(wanted) and result == wanted
        return 2 * n_right / (n_found + n_wanted) if n_found + n_wanted else 1.0


def run(data: Path | None) -> str:
    """Return the tables as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    return report(swde_sites(data / "swde"), ["default", "published"])


def report(sites: Iterable[Site], learners: Sequence[str], *, verbose: bool = False) -> str:
    """Return the tables of some learners; `verbose` prints a line for each attribute not right."""
    means: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    of_vertical: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    without_rule: Counter[tuple[str, str, int]] = Counter()
    drafts: Counter[tuple[str, str, int]] = Counter()
    worst: list[tuple[float, str]] = []
    of_locator: dict[str, list[float]] = defaultdict(list)
    for site in sites:
        for name, locator in LOCATORS.items():
            of_locator[name].append(site.locator_f1(locator))
        for learner in learners:
            for way in WAYS:
                for k in KS:
                    scores = site.scores(way, k, learner)
                    means[learner, way, k].append(scores.mean)
                    without_rule[learner, way, k] += scores.n_without_rule
                    drafts[learner, way, k] += scores.n_drafts
                    if way == WITH_SIBLINGS:
                        of_vertical[learner, site.vertical, k].append(scores.mean)
                    if verbose:
                        _print_weak(site, way, k, scores)
        worst.append((means[learners[0], WITH_SIBLINGS, 2][-1], site.pages.name))
    rows = [
        [
            f"{learner}, {way}",
            *(f"{_mean(means[learner, way, k]):.4f}" for k in KS),
            " / ".join(str(without_rule[learner, way, k]) for k in KS),
            " / ".join(str(drafts[learner, way, k]) for k in KS),
        ]
        for learner in learners
        for way in WAYS
    ]
    rows += [[name, f"{_mean(f1s):.4f}", "", "", "", ""] for name, f1s in of_locator.items()]
    verticals = sorted({vertical for _, vertical, _ in of_vertical})
    vertical_rows = [
        [f"{vertical}, {learner}", *(f"{_mean(of_vertical[learner, vertical, k]):.3f}" for k in KS)]
        for vertical in verticals
        for learner in learners
    ]
    heads = [*(f"k = {k}" for k in KS), "attributes without a rule", "drafts"]
    weak = ", ".join(f"{name} {mean:.3f}" for mean, name in sorted(worst)[:5])
    return (
        f"{INTRODUCTION}{len(worst)} sites.\n\n{markdown_table(['learner, way', *heads], rows)}\n\n"
        f"## By vertical, {WITH_SIBLINGS}\n\n"
        f"{markdown_table(['vertical, learner', *heads[: len(KS)]], vertical_rows)}\n\n"
        f"Weakest sites with k = 2: {weak}."
    )


def _xpath_by(locator: Locator, tree: HtmlElement, path: str) -> str:
    """Return the XPath of a text node by a locator: that of its element, and which text it is."""
    element, _, text = path.rpartition("/text()")
    nodes: Any = tree.xpath(element or path)
    return f"{locator(nodes[0])}/text(){text}" if element else locator(nodes[0])


def _first_text(tree: Any, xpath: str) -> list[str]:
    """Return the text of the first node an XPath selects on a page; nothing if it selects none."""
    nodes = tree.xpath(xpath)[:1]
    return [node if isinstance(node, str) else str(node.xpath("string()")) for node in nodes]


def _print_weak(site: Site, way: str, k: int, scores: Scores) -> None:
    weak = {name: f1 for name, f1 in scores.f1_by_attribute.items() if f1 < 1}
    listed = ", ".join(f"{name} {f1:.2f}" for name, f1 in weak.items())
    sys.stdout.write(f"{site.pages.name} | {way} | {k} | {scores.mean:.3f} | {listed}\n")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def swde_sites(folder: Path, names: Sequence[str] = ()) -> Iterator[Site]:
    """Yield the sites of SWDE, or those with some names."""
    for vertical in sorted(p for p in folder.iterdir() if p.is_dir() and p.name != "groundtruth"):
        for site in sorted(p for p in vertical.iterdir() if p.is_dir()):
            name = site.name.split("(")[0]
            if not names or name in names:
                yield _read_site(folder, site, vertical.name, name)


def _read_site(folder: Path, site: Path, vertical: str, name: str) -> Site:
    files = sorted(site.glob("*.htm"))
    raw_pages = {
        path.stem: labelled.page for path, labelled in zip(files, swde_pages(site), strict=True)
    }
    trees = {page: raw.tree for page, raw in raw_pages.items() if raw.tree is not None}
    truth = read_swde(folder / "groundtruth" / vertical, name, trees)
    n_multi = Counter(a for values in truth.values() for a, v in values.items() if len(v) > 1)
    multi = frozenset(a for a, n in n_multi.items() if n > MIN_MULTI_SHARE * len(trees))
    pages = LabelledCluster(name, dict(trees), truth, mark_texts(trees, truth), multi)
    return Site(vertical, pages, {page: raw_pages[page] for page in trees})


def _clusters(pages: Mapping[str, RawPage]) -> list[tuple[str, ...]]:
    """Return the pages of each cluster, the largest first; a page without one is one by itself."""
    names, raw = list(pages), list(pages.values())
    site = TypedSite(raw, dict.fromkeys((page.url for page in raw), ""), [])
    observe_page = auto.CLUSTERER.observe
    assert observe_page is not None  # `auto` reads pages
    observations = [observe_page(page) for page in raw]
    grouping = auto.CLUSTERER.cluster_pages(site.urls, observations, site.evidence())
    clusters = [tuple(names[page] for page in group.members) for group in grouping.groups]
    return [*clusters, *((names[page],) for page in grouping.unassigned)]


def main(arguments: Sequence[str]) -> int:
    """Print the tables of some sites and one learner, with a line for each site, way and k."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unseen_sites", description=__doc__)
    parser.add_argument("data", type=Path, help="a folder of real pages")
    parser.add_argument("--learner", choices=sorted(LEARNERS), default="default")
    parser.add_argument("--site", action="append", default=[], help="as in camera-newegg")
    options = parser.parse_args(arguments)
    sites = swde_sites(options.data / "swde", options.site)
    sys.stdout.write(report(sites, [options.learner], verbose=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
