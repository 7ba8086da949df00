"""Rules for the records within pages: run as stylesheets on other lists of the same kind."""

import random

import pytest

from clustering.dom.page import parse_page
from rules.algorithms.list_learner import learn_list
from rules.algorithms.rule import ClusterRule
from rules.algorithms.run_rule import AttributeType, RunnableRule, extract
from rules.algorithms.samples import read_samples
from rules.algorithms.stylesheet import stylesheet_of
from rules.algorithms.targets import AnnotatedPage, AttributeSpec, MarkedNode
from tests import sites

Record = dict[str, str | list[str]]

# Each field as it is written in a record; `many` may come several times.
LAYOUTS = {
    "classes": {
        "name": "<h3 class=n>{}</h3>",
        "price": "<i class=p>{}</i>",
        "town": "<i class=t>{}</i>",
        "many": "<u>{}</u>",
    },
    "labels": {
        "name": "<h3>{}</h3>",
        "price": "<p>Price: {}</p>",
        "town": "<p>Town: {}</p>",
        "many": "<u>{}</u>",
    },
    "beside": {
        "name": "<h3>{}</h3>",
        "price": "<dl><dt>Price</dt><dd>{}</dd></dl>",
        "town": "<dl><dt>Town</dt><dd>{}</dd></dl>",
        "many": "<em>{}</em>",
    },
}


def drawn(chance: random.Random, n: int, *, is_full: bool = False) -> list[Record]:
    """Return records whose optional fields are there at random; with `is_full` the first has all."""
    records: list[Record] = []
    for number in range(n):
        keeps = (is_full and number == 0) or None
        record: Record = {"name": f"Thing {chance.randrange(10**6)}"}
        if keeps or chance.random() < 0.6:
            record["price"] = f"{chance.randrange(1, 900)} EUR"
        if keeps or chance.random() < 0.6:
            record["town"] = chance.choice(["Brno", "Graz", "Pécs", "Bled", "Zadar", "Split"])
        if keeps or chance.random() < 0.6:
            record["many"] = [f"tag{chance.randrange(99)}x{k}" for k in range(chance.randrange(2, 4))]
        records.append(record)
    return records


def written(records: list[Record], layout: dict[str, str]) -> tuple[str, list[dict[str, list[str]]]]:
    body, marks = "", []
    for number, record in enumerate(records, 1):
        inside, places = "", {}
        for name, value in record.items():
            values = value if isinstance(value, list) else [value]
            inside += "".join(layout[name].replace("{}", one) for one in values)
            places[name] = values
        body += f"<div class=record>{inside}</div>" + (
            "<div class=ad>Buy now: 5 EUR</div>" if number == 4 else ""
        )
        marks.append(places)
    return (
        f"<html><body><h1>List</h1><div class=nav><i class=p>0</i></div><main>{body}</main></body></html>",
        marks,
    )


def page_of(records: list[Record], layout: dict[str, str], n_annotated: int) -> AnnotatedPage:
    source, marks = written(records, layout)
    tree = parse_page(source.encode()).tree
    assert tree is not None
    roots = [one for one in tree.iter("div") if one.get("class") == "record"]
    values: dict[str, list[MarkedNode]] = {}
    for root, places in list(zip(roots, marks, strict=True))[:n_annotated]:
        for name, texts in places.items():
            for text in texts:
                holder = next(e for e in root.iter() if text in (e.text or ""))
                values.setdefault(name, []).append(MarkedNode(holder, text))
    return AnnotatedPage("u", tree, values, records=[[root] for root in roots])


SPECS = [
    AttributeSpec("name"),
    AttributeSpec("price"),
    AttributeSpec("town"),
    AttributeSpec("many", is_multi=True),
]


def learnt(page: AnnotatedPage, others: list[str]) -> ClusterRule:
    trees = [tree for other in others if (tree := parse_page(other.encode()).tree) is not None]
    return learn_list(read_samples([page], trees), SPECS)


def runnable(rule: ClusterRule) -> RunnableRule:
    types = [AttributeType(spec.name, is_multi=spec.is_multi) for spec in SPECS]
    return RunnableRule("lists", 1, stylesheet_of(rule), types)


@pytest.mark.parametrize("n_annotated", [1, 12])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_record_is_misaligned_where_optional_fields_are_dropped_at_random(
    layout: str, n_annotated: int
) -> None:
    chance = random.Random(layout)
    page = page_of(drawn(chance, 12, is_full=True), LAYOUTS[layout], n_annotated)
    rule = runnable(learnt(page, [written(drawn(chance, 12), LAYOUTS[layout])[0] for _ in range(3)]))
    for _ in range(5):
        truth = drawn(chance, 20)
        found = extract(
            written(truth, LAYOUTS[layout])[0].encode(), "text/html; charset=utf-8", "http://a/", rule
        )

        assert truth == [record.raw for record in found.records]


def test_a_value_in_no_record_says_so() -> None:
    chance = random.Random(1)
    page = page_of(drawn(chance, 6, is_full=True), LAYOUTS["classes"], 6)
    marks = {**page.values, "town": [MarkedNode("//h1")]}
    rule = learn_list(read_samples([AnnotatedPage("u", page.tree, marks, records=page.records)], []), SPECS)
    town = next(one for one in rule.attributes if one.attribute == "town")

    assert "stand in no record" in town.failures[0].reason


def test_what_is_the_same_on_one_page_alone_is_no_anchor() -> None:
    site = sites.load("town-guide")
    pages = [page for page in site.pages.values() if page.type == "town" and len(page.records) > 3][:6]
    trees = [parse_page(page.body, page.content_type).tree for page in pages]
    sample = pages[0]
    marks: dict[str, list[MarkedNode]] = {}
    for record in sample.records:
        for path in record.places.get("telephone", []):
            marks.setdefault("telephone", []).append(MarkedNode(path))
    annotated = AnnotatedPage("u", trees[0], marks, records=[record.nodes for record in sample.records])  # type: ignore[arg-type]  # they have trees
    rule = learn_list(
        read_samples([annotated], [tree for tree in trees[1:] if tree is not None]),
        [AttributeSpec("telephone")],
    )
    ready = RunnableRule("towns", 1, stylesheet_of(rule), [AttributeType("telephone")])
    for page in pages[1:]:
        found = extract(page.body, page.content_type, "http://a/", ready)

        assert [one.values.get("telephone") for one in page.records] == [
            one.raw.get("telephone") for one in found.records
        ]
