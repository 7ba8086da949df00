"""Sites in several editions, each page with its type and the truth about its values."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lxml import html
from lxml.html import HtmlElement

from benchmarks.histories.playing import said_of
from benchmarks.histories.shops import (
    KINDS,
    Week,
    detail_page,
    draw_look,
    drifted,
    listing_page,
    make_values,
)
from benchmarks.hold_out.sites import clusters as generated_clusters
from benchmarks.redesigns.looks import draw_template, listing
from benchmarks.rule_learning import LabelledCluster
from monitoring.algorithms.site_change import without_positions
from vertex.demo import sites
from vertex.demo.sites import DemoPage, DemoSite
from vertex.demo.sites.site import annotation_lines

Values = Mapping[str, Sequence[str]]
Line = dict[str, Any]

FIRST_SHOP, N_SHOPS, N_THINGS = 5_000, 8, 24
FEWEST_PAGES: Final = 5  # of a type of a real site
SAME_SHARE: Final = 0.9
DISTINCT_SHARE: Final = 0.8
N_FIELDS: Final = 3


@dataclass(frozen=True)
class PageVersion:
    """A page of an edition; `lines` are what an editor would say of it."""

    body: bytes
    type: str
    values: Values = field(default_factory=dict)
    lines: Sequence[Line] = ()
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    layout: str = ""


Edition = dict[str, PageVersion]  # by path


@dataclass(frozen=True)
class Case:
    """A site with its later editions; in the last, types in `redesigned` have another template."""

    site: str
    group: str
    vertical: Line
    first: Edition
    later: Mapping[str, Edition]
    redesigned: frozenset[str]
    kind: str = ""  # the name under which its attributes are counted
    # Where pages of the later editions stood in the first one, if elsewhere.
    former_paths: Mapping[str, str] = field(default_factory=dict)


def cases(data: Path | None) -> Iterator[Case]:
    """Yield all sites; those of real pages where they are in the folder."""
    yield from map(demo, sites.NAMES)
    yield from map(shop, range(FIRST_SHOP, FIRST_SHOP + N_SHOPS))
    yield from generated()
    if data is not None and (data / "dplyr_pkgdown").is_dir():
        yield from snapshots(data / "dplyr_pkgdown")


def demo(name: str) -> Case:
    """Return a demo site; of the type that stays as it was the heading is described."""
    first, drift, last = (sites.load(name, edition) for edition in sites.EDITIONS)
    described = {page.type for page in first.pages.values() if page.values}
    return Case(
        name,
        "demo",
        first.vertical,
        _demo_edition(first),
        {"drift": _demo_edition(drift), "redesign": _demo_edition(last)},
        frozenset(described - {first.untouched}),
        name,
    )


def _demo_edition(site: DemoSite) -> Edition:
    heading = site.vertical["attributes"][0]["name"]
    edition = {}
    for path, page in site.pages.items():
        lines = annotation_lines(page)
        values = {name: _as_list(value) for name, value in page.values.items()}
        if page.type == site.untouched:
            lines, values = _heading_of(page, heading)
        edition[path] = PageVersion(
            page.body, page.type, values, lines, page.content_type, page.status
        )
    return edition


def _heading_of(page: DemoPage, name: str) -> tuple[list[Line], dict[str, list[str]]]:
    """Return what to say of a page of which only the title is described."""
    tree = html.document_fromstring(page.body)
    node = next(
        (element for element in _body(tree).iter("h1", "h2", "h3", "b") if _text(element)),
        _body(tree),
    )
    text = _text(node)
    return [{"attribute": name, "xpath": tree.getroottree().getpath(node), "text": text}], {
        name: [text]
    }


def shop(seed: int) -> Case:
    """Return a made-up shop before and after a redesign, with weeks of drift between."""
    chance = random.Random(f"redesign-{seed}")
    kind = sorted(KINDS)[seed % len(KINDS)]
    look, later_look = draw_look(kind, chance), draw_look(kind, chance)
    things = [make_values(kind, number, chance) for number in range(N_THINGS)]
    first = _shop_edition(kind, look, things, Week(seed))
    things = [drifted(values, chance, 0.1) for values in things]
    drift = _shop_edition(kind, look, things, Week(seed + 1, has_ads=True, has_reviews=True))
    things = [drifted(values, chance, 0.1) for values in things]
    last = _shop_edition(kind, later_look, things, Week(seed + 2, has_ads=True))
    attributes = [
        {
            "name": attribute.name,
            "type": attribute.type,
            "constant": attribute.is_constant,
            "mandatory": attribute.is_mandatory,
        }
        for attribute in KINDS[kind]
    ]
    vertical = {"name": kind, "attributes": attributes}
    later = {"drift": drift, "redesign": last}
    return Case(f"shop-{seed}", "shops", vertical, first, later, frozenset({"detail"}), kind)


def _shop_edition(kind: str, look: Any, things: list[dict[str, str]], week: Week) -> Edition:
    edition = {}
    for number, values in enumerate(things):
        page = detail_page(kind, look, values, week, number)
        body = _without_marks(page)
        lines = [{k: v for k, v in line.items() if k != "url"} for line in said_of(kind, "", page)]
        told = {name: [text] for name, text in values.items()}
        edition[f"/d/{number}"] = PageVersion(body, "detail", told, lines)
    for number in range(6):
        page = listing_page(look, things[number : number + 9], week, number)
        edition[f"/list/{number}"] = PageVersion(page.encode(), "list")
    return edition


def _without_marks(page: str) -> bytes:
    tree = html.document_fromstring(page)
    for node in tree.iter():
        node.attrib.pop("data-v", "")
    return b"<!DOCTYPE html>" + bytes(html.tostring(tree, encoding="utf-8"))


def generated() -> Iterator[Case]:
    """Yield sites of two kinds of pages; each pair twice, with a new template for either kind."""
    created = list(generated_clusters())
    for number, (first, other) in enumerate(zip(created[::2], created[1::2], strict=True)):
        for changed, kept in ((first, other), (other, first)):
            yield _pair(f"generated-{number}-{_slug(changed.name)}", changed, kept)


def _pair(site: str, changed: LabelledCluster, cluster: LabelledCluster) -> Case:
    old, stays = _labelled_edition(changed), _labelled_edition(cluster)
    shown = [page.values for page in old.values()]
    template = draw_template(changed.name, shown, changed.multi, random.Random(site))
    new = {
        path: PageVersion(template.page(one.values), one.type, one.values)
        for path, one in old.items()
    }
    names = [str(next(iter(each.values["name"]))) for each in old.values()]
    lists = {
        f"/list/{n}": PageVersion(listing(names[n * 5 : n * 5 + 12], is_new=False), "list")
        for n in range(8)
    }
    new_lists = {
        path: PageVersion(listing(names[n * 5 : n * 5 + 12], is_new=True), "list")
        for n, path in enumerate(lists)
    }
    attributes = sorted({name for each in (*old.values(), *stays.values()) for name in each.values})
    vertical = {
        "name": f"{_slug(changed.name)}-and-{_slug(cluster.name)}",
        "attributes": [
            {
                "name": name,
                "type": "text",
                "constant": True,
                "mandatory": name == "name",
                "multi": name in changed.multi | cluster.multi,
            }
            for name in attributes
        ],
    }
    later = {"redesign": new | stays | new_lists}
    return Case(
        site,
        "generated",
        vertical,
        old | stays | lists,
        later,
        frozenset({changed.name}),
        changed.name,
    )


def _labelled_edition(cluster: LabelledCluster) -> Edition:
    edition = {}
    for page, tree in cluster.trees.items():
        root = tree.getroottree()
        lines: list[Line] = []
        for name in cluster.attributes:
            marks = cluster.marks[page].get(name, [])
            lines += [] if marks else [{"attribute": name, "absent": True}]
            for mark, text in zip(marks, cluster.truth[page].get(name, []), strict=True):
                xpath = mark.node if isinstance(mark.node, str) else root.getpath(mark.node)
                lines.append({"attribute": name, "xpath": xpath, "text": mark.text or text})
        body = b"<!DOCTYPE html>" + html.tostring(tree, encoding="utf-8")
        edition[f"/{_slug(page)}"] = PageVersion(body, cluster.name, cluster.truth[page], lines)
    return edition


def snapshots(folder: Path) -> Iterator[Case]:
    """Yield the steps from a real site's snapshot to a later one; the last has another template."""
    by_date = {
        place.name.removeprefix("snap_"): _read_snapshot(place)
        for place in sorted(folder.glob("snap_*"))
    }
    dates = list(by_date)
    for old, new in ((dates[0], dates[1]), (dates[1], dates[2]), (dates[0], dates[2])):
        first, later = with_same_fields(by_date[old], by_date[new])
        names = sorted({name for each in first.values() for name in each.values})
        vertical = {
            "name": f"page-{old}-{new}",
            "attributes": [{"name": name, "type": "text", "constant": True} for name in names],
        }
        moved = frozenset(_moved_types(first, later))
        yield Case(
            f"snapshot-{old}-to-{new}",
            "snapshots",
            vertical,
            first,
            {new: later},
            moved,
            "snapshots",
        )


def _moved_types(first: Edition, later: Edition) -> Iterator[str]:
    """Yield the types with a field that stands elsewhere on most later pages that have it."""
    n_pages: Counter[tuple[str, str]] = Counter()
    n_moved: Counter[tuple[str, str]] = Counter()
    for path, page in first.items():
        if path not in later or not page.lines:
            continue
        places = _leaves(later[path].body)
        shapes = _shapes(page)
        for name in page.values.keys() & later[path].values.keys():
            n_pages[page.type, name] += 1
            n_moved[page.type, name] += (
                places.get(shapes[name], ("", ""))[1] != page.values[name][0]
            )
    yield from {kind for (kind, name), n in n_pages.items() if n_moved[kind, name] > n / 2}


def _shapes(page: PageVersion) -> dict[str, str]:
    shape_by_xpath = {xpath: shape for shape, (xpath, _) in _leaves(page.body).items()}
    return {line["attribute"]: shape_by_xpath[line["xpath"]] for line in page.lines}


def _read_snapshot(folder: Path) -> Edition:
    with (folder / "pages.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return {
        f"/{row['path']}": PageVersion((folder / row["path"]).read_bytes(), row["type"])
        for row in rows
    }


def with_same_fields(old: Edition, new: Edition) -> tuple[Edition, Edition]:
    """Return both editions with the fields that are written the same in both as their truth."""
    first, later = dict(old), dict(new)
    for kind in sorted({each.type for each in old.values()}):
        paths = [path for path, one in old.items() if one.type == kind and path in new]
        if len(paths) < FEWEST_PAGES:
            continue
        leaves = {path: _leaves(old[path].body) for path in paths}
        shown = {path: set(_texts(new[path].body)) for path in paths}
        for number, shape in enumerate(_fields(leaves, shown), 1):
            name = f"{kind.replace('_', '-')}-{number}"
            for path in paths:
                xpath, text = leaves[path].get(shape, ("", ""))
                line = {"attribute": name, "xpath": xpath, "text": text}
                if xpath:
                    first[path] = _described(first[path], name, text, line)
                if text in shown[path]:
                    later[path] = _described(later[path], name, text, None)
    return first, later


def _described(page: PageVersion, name: str, text: str, line: Line | None) -> PageVersion:
    lines = [*page.lines, line] if line else page.lines
    return PageVersion(
        page.body, page.type, {**page.values, name: [text]}, lines, page.content_type
    )


def _fields(
    leaves: Mapping[str, Mapping[str, tuple[str, str]]], shown: Mapping[str, set[str]]
) -> list[str]:
    """Return the shapes whose texts stand on nearly all pages, tell them apart, and stay later."""
    n_same: Counter[str] = Counter()
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for path, by_shape in leaves.items():
        for shape, (_, text) in by_shape.items():
            if text in shown[path]:
                n_same[shape] += 1
                texts[shape].add(text)
    good = [
        shape
        for shape, n in n_same.items()
        if n >= SAME_SHARE * len(leaves) and len(texts[shape]) >= DISTINCT_SHARE * n
    ]
    return sorted(good, key=lambda shape: (-n_same[shape], shape))[:N_FIELDS]


def _leaves(body: bytes) -> dict[str, tuple[str, str]]:
    """Return the leaves of a page's body that are alone of their shape: XPath and text by shape."""
    tree = html.document_fromstring(body)
    root = tree.getroottree()
    result: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for node in _body(tree).iter():
        if not isinstance(node.tag, str) or len(node) or node.tag in {"script", "style"}:
            continue
        text = _text(node)
        if 3 <= len(text) <= 120:
            xpath = root.getpath(node)
            result[f"{without_positions(xpath)}.{node.get('class', '')}"].append((xpath, text))
    return {shape: places[0] for shape, places in result.items() if len(places) == 1}


def _texts(body: bytes) -> Iterator[str]:
    tree = html.document_fromstring(body)
    yield from (_text(node) for node in _body(tree).iter() if isinstance(node.tag, str))


def _body(tree: HtmlElement) -> HtmlElement:
    return next(iter(tree.iter("body")))


def _text(node: HtmlElement) -> str:
    return " ".join("".join(map(str, node.itertext())).split())


def _as_list(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _slug(name: str) -> str:
    return name.replace(" ", "-")
