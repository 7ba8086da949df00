"""Sites with a rule learnt from few pages, and the other pages of its cluster to run it on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.sampling import draw, observe
from benchmarks.labelled_sites import swde_pages
from benchmarks.rule_learning import LabelledCluster, mark_texts, read_swde
from clustering.algorithms.automatic import auto
from clustering.algorithms.grouping import ClusteringInputs, Grouping, RawPage
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import MarkedNode, find_node
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.matching import ClusterProfile, Clusters, GroupModel
from rules.algorithms.running.record_lines import SiteRules
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.stylesheet.stylesheet import stylesheet_of

BASE_VERSION: Final = "v0"  # of a generated site
DETAIL: Final = "detail"  # the type of its pages about one thing
N_ANNOTATED: Final = 2
N_SAMPLES: Final = 20
MIN_MULTI_SHARE: Final = 0.05  # of the pages, which show several values of a multi-valued attribute
# The attribute of an element in which a page has an address.
ADDRESS_BY_TAG: Final = {"img": "src", "a": "href"}


@dataclass(frozen=True)
class LearntSite:
    """A rule, what decides that it serves a page, and pages that it was not learnt from."""

    name: str
    rule: ClusterRule
    rules: SiteRules
    pages: Sequence[RawPage]


def learnt_sites(data: Path, names: Sequence[str] = ()) -> Iterator[LearntSite]:
    """Yield the generated sites and those of SWDE, or those with some names."""
    for folder in sorted((data / "generated").iterdir()):
        if folder.is_dir() and (not names or folder.name in names):
            yield _generated_site(folder.name, folder / BASE_VERSION)
    for vertical in sorted((data / "swde").iterdir()):
        if vertical.is_dir() and vertical.name != "groundtruth":
            for folder in sorted(vertical.iterdir()):
                name = folder.name.split("(")[0]
                if folder.is_dir() and (not names or name in names):
                    truth_folder = data / "swde" / "groundtruth" / vertical.name
                    yield _swde_site(name, folder, truth_folder)


def _generated_site(name: str, version: Path) -> LearntSite:
    """Return a generated site; all its pages are clustered, those about one thing have a rule."""
    described = json.loads((version / "vertical.json").read_text("utf-8"))["attributes"]
    types = [
        AttributeType(
            entry["name"], entry["type"].removesuffix("/url"), is_multi=bool(entry["multi"])
        )
        for entry in described
    ]
    pages: dict[str, RawPage] = {}
    labelled = LabelledCluster(name, {}, {}, {}, frozenset(t.name for t in types if t.is_multi))
    for line in (version / "manifest.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        body = (version / entry["file"]).read_bytes()
        page = RawPage(entry["url"], body, entry.get("content_type", ""))
        pages[page.url] = page
        if entry["type"] == DETAIL and page.tree is not None:
            labelled.trees[page.url] = page.tree
            labelled.truth[page.url] = {
                type_name.name: _as_texts(entry, type_name.name) for type_name in types
            }
            labelled.marks[page.url] = {
                type_name.name: _marked(page.tree, entry, type_name.name) for type_name in types
            }
    return _learnt(labelled, pages, types)


def _as_texts(entry: Mapping[str, Any], attribute: str) -> list[str]:
    value = entry["truth"].get(attribute) or []
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]


def _marked(tree: _Element, entry: Mapping[str, Any], attribute: str) -> list[MarkedNode]:
    """Return an attribute's marks as an editor sets them: on an address if the node has one."""
    nodes = entry["nodes"].get(attribute) or []
    xpaths = nodes if isinstance(nodes, list) else [nodes]
    marks = []
    for xpath, text in zip(xpaths, _as_texts(entry, attribute), strict=False):
        element = find_node(tree, xpath)
        address = ADDRESS_BY_TAG.get(str(element.tag))
        if address is not None and element.get(address) == text:
            marks.append(MarkedNode(f"{xpath}/@{address}", text))
        else:
            marks.append(MarkedNode(xpath, text))
    return marks


def _swde_site(name: str, folder: Path, truth_folder: Path) -> LearntSite:
    files = sorted(folder.glob("*.htm"))
    read = zip(files, swde_pages(folder), strict=True)
    pages = {path.stem: labelled.page for path, labelled in read}
    trees = {page: raw.tree for page, raw in pages.items() if raw.tree is not None}
    truth = read_swde(truth_folder, name, trees)
    n_multi = Counter(a for values in truth.values() for a, v in values.items() if len(v) > 1)
    multi = frozenset(a for a, n in n_multi.items() if n > MIN_MULTI_SHARE * len(trees))
    labelled_pages = LabelledCluster(name, dict(trees), truth, mark_texts(trees, truth), multi)
    return _learnt(labelled_pages, pages, labelled_pages.specs)


def _learnt(
    labelled: LabelledCluster, pages: Mapping[str, RawPage], types: Sequence[AttributeType]
) -> LearntSite:
    """Return the site with a rule learnt in its largest cluster and that cluster's other pages.

    All pages are clustered; the largest cluster is the one with the most pages that have a truth.
    """
    names = list(pages)
    grouping = _grouping([pages[name] for name in names])
    largest = max(
        grouping.groups, key=lambda group: sum(names[m] in labelled.trees for m in group.members)
    )
    members = [names[m] for m in largest.members if names[m] in labelled.trees]
    drawn = draw([observe(labelled.trees[m]) for m in members], size=N_SAMPLES, prefer_unseen=True)
    samples = [members[sample.page] for sample in drawn]
    rule = learn_cluster(
        [labelled.annotated(page) for page in samples[:N_ANNOTATED]],
        [labelled.trees[page] for page in samples[N_ANNOTATED:]],
        types,
    )
    clusters = Clusters(
        tuple(ClusterProfile(group.name) for group in grouping.groups),
        GroupModel(
            auto.CLUSTERER.name,
            grouping.model,
            {group.name: [group.name] for group in grouping.groups},
        ),
    )
    stylesheet = stylesheet_of(rule)
    runnable = RunnableRule(largest.name, 1, stylesheet, tuple(types))
    unseen = [pages[page] for page in members if page not in samples[:N_ANNOTATED]]
    return LearntSite(
        labelled.name,
        rule,
        SiteRules(clusters, {largest.name: runnable}),
        [RawPage(page.url, page.body, page.content_type) for page in unseen],
    )


def _grouping(pages: Sequence[RawPage]) -> Grouping:
    observe_page = auto.CLUSTERER.observe
    assert observe_page is not None  # `auto` reads pages
    observations = [observe_page(page) for page in pages]
    urls = [page.url for page in pages]
    return auto.CLUSTERER.cluster_pages(urls, observations, ClusteringInputs())
