"""Rules for the records within pages: run as stylesheets on other lists of the same kind."""

import random

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import parse_page
from rules.algorithms.learning.list_learner import learn_list, run_of, with_run
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, Boundary, ClusterRule
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.extraction import extract
from vertex.demo import sites

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
    """Return records whose optional fields appear at random; with `is_full` the first has all."""
    records: list[Record] = []
    for number in range(n):
        keeps = (is_full and number == 0) or None
        record: Record = {"name": f"Thing {chance.randrange(10**6)}"}
        if keeps or chance.random() < 0.6:
            record["price"] = f"{chance.randrange(1, 900)} EUR"
        if keeps or chance.random() < 0.6:
            record["town"] = chance.choice(["Brno", "Graz", "Pécs", "Bled", "Zadar", "Split"])
        if keeps or chance.random() < 0.6:
            record["many"] = [
                f"tag{chance.randrange(99)}x{k}" for k in range(chance.randrange(2, 4))
            ]
        records.append(record)
    return records


def written(
    records: list[Record], layout: dict[str, str]
) -> tuple[str, list[dict[str, list[str]]]]:
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
        (
            "<html><body><h1>List</h1><div class=nav><i "
            f"class=p>0</i></div><main>{body}</main></body></html>"
        ),
        marks,
    )


def page_of(records: list[Record], layout: dict[str, str], n_annotated: int) -> AnnotatedPage:
    source, marks = written(records, layout)
    tree = parse_page(source.encode()).tree
    assert tree is not None
    roots = [element for element in tree.iter("div") if element.get("class") == "record"]
    values: dict[str, list[MarkedNode]] = {}
    for root, places in list(zip(roots, marks, strict=True))[:n_annotated]:
        for name, texts in places.items():
            for text in texts:
                holder = next(e for e in root.iter() if text in (e.text or ""))
                values.setdefault(name, []).append(MarkedNode(holder, text))
    return AnnotatedPage("u", tree, values, records=[[root] for root in roots])


SPECS = [
    AttributeType("name"),
    AttributeType("price"),
    AttributeType("town"),
    AttributeType("many", is_multi=True),
]


def learnt(page: AnnotatedPage, others: list[str]) -> ClusterRule:
    parsed = [parse_page(other.encode()).tree for other in others]
    trees = [tree for tree in parsed if tree is not None]
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
    rule = runnable(
        learnt(page, [written(drawn(chance, 12), LAYOUTS[layout])[0] for _ in range(3)])
    )
    for _ in range(5):
        truth = drawn(chance, 20)
        extraction = extract(
            RawPage(
                "http://a/", written(truth, LAYOUTS[layout])[0].encode(), "text/html; charset=utf-8"
            ),
            rule,
        )

        assert truth == [record.raw for record in extraction.records]


def test_what_stands_in_no_record_is_the_pages_and_each_record_has_it() -> None:
    chance = random.Random(1)
    page = page_of(drawn(chance, 6, is_full=True), LAYOUTS["classes"], 6)
    marks = {**page.values, "town": [MarkedNode("//h1")]}
    others = [written(drawn(chance, 6), LAYOUTS["classes"])[0] for _ in range(3)]
    trees = [parse_page(other.encode()).tree for other in others]
    annotated = AnnotatedPage("u", page.tree, marks, records=page.records)
    rule = learn_list(
        read_samples([annotated], [tree for tree in trees if tree is not None]), SPECS
    )
    extraction = extract(
        RawPage("http://a/", others[0].replace("<h1>List", "<h1>Loans").encode()), runnable(rule)
    )

    assert {"town": "page"} == {
        attribute.attribute: attribute.scope
        for attribute in rule.attributes
        if attribute.scope != "record"
    }
    assert ["Loans"] * 6 == [record.raw["town"] for record in extraction.records]
    assert rule == ClusterRule.from_json(rule.as_json())


DEFINITIONS = (
    """<html><body><h1>Words</h1>{before}<dl>{terms}</dl>{behind}<p>Feet</p></body></html>"""
)


def defined(senses: list[int], *, add: str = "") -> str:
    """Return a page of words with so many senses each."""
    terms = "".join(
        f"<dt>word{number}</dt>"
        + "".join(f"<dd>sense{number}x{sense}</dd>" for sense in range(n))
        + add
        for number, n in enumerate(senses)
    )
    return DEFINITIONS.format(terms=terms, before="", behind="")


def learnt_words(source: str, senses: list[int]) -> RunnableRule:
    tree = parse_page(source.encode()).tree
    assert tree is not None
    terms = list(tree.iter("dt"))
    records = []
    for term, n in zip(terms, senses, strict=True):
        records.append([term, *list(term.itersiblings("dd"))[:n]])
    values = {
        "word": [MarkedNode(record[0]) for record in records],
        "sense": [MarkedNode(element) for record in records for element in record[1:]],
    }
    specs = [AttributeType("word"), AttributeType("sense", is_multi=True)]
    rule = learn_list(read_samples([AnnotatedPage("u", tree, values, records=records)], []), specs)
    types = [AttributeType("word"), AttributeType("sense", is_multi=True)]
    return RunnableRule("words", 1, stylesheet_of(rule), types)


@pytest.mark.parametrize("add", ["", "<div>Advertisement</div>", "<dd class=ad>Advertisement</dd>"])
def test_a_run_ends_where_the_next_record_begins_or_at_a_stranger(add: str) -> None:
    source = defined([1, 2, 1], add=add).replace("<dd>", "<dd class=s>" if "dd" in add else "<dd>")
    rule = learnt_words(source, [1, 2, 1])
    senses = [2, 1, 5, 0, 3]
    page = defined(senses, add=add).replace("<dd>", "<dd class=s>" if "dd" in add else "<dd>")
    extraction = extract(RawPage("http://a/", page.encode()), rule)

    assert [(f"word{n}", [f"sense{n}x{k}" for k in range(of)]) for n, of in enumerate(senses)] == [
        (record.values.get("word"), record.values.get("sense", [])) for record in extraction.records
    ]


def test_a_run_of_hundreds_of_elements_is_collected() -> None:
    extraction = extract(
        RawPage("http://a/", defined([2, 350]).encode()), learnt_words(defined([1, 2]), [1, 2])
    )

    assert [2, 350] == [len(record.values["sense"]) for record in extraction.records]


def lines_of_text(names: list[tuple[str, str]]) -> str:
    lines = "".join(f"<b>{name}</b> Phone: {phone} <br>" for name, phone in names)
    return f"<html><body><h1>People</h1><div>{lines}</div></body></html>"


@pytest.mark.parametrize("n_elements", [1, 2])
def test_texts_between_the_elements_of_a_run_are_reached(n_elements: int) -> None:
    tree = parse_page(
        lines_of_text([("Ann", "11 22"), ("Bob", "33 44"), ("Cy", "55")]).encode()
    ).tree
    assert tree is not None
    bolds = list(tree.iter("b"))
    records = [[bold, *bold.itersiblings()][:n_elements] for bold in bolds]
    phones = [
        MarkedNode(f"//div/text()[{2 * n + 1}]", text)
        for n, text in enumerate(["11 22", "33 44", "55"])
    ]
    values = {"name": [MarkedNode(bold) for bold in bolds], "phone": phones}
    specs = [AttributeType("name"), AttributeType("phone")]
    rule = learn_list(read_samples([AnnotatedPage("u", tree, values, records=records)], []), specs)
    types = [AttributeType("name"), AttributeType("phone")]
    ready = RunnableRule("people", 1, stylesheet_of(rule), types)
    extraction = extract(
        RawPage("http://a/", lines_of_text([("Di", "1"), ("Ed", "2 3")]).encode()), ready
    )

    assert [{"name": "Di", "phone": "1"}, {"name": "Ed", "phone": "2 3"}] == [
        record.values for record in extraction.records
    ]


def nested(products: list[list[tuple[str, str | None]]]) -> str:
    """Return products with offers, some of which have no stock."""
    body = "".join(
        f"<div class=product><h2>Product {number}</h2><ul>"
        + "".join(
            f"<li class=offer><b class=shop>{shop}</b>"
            + (f"<i class=stock>{stock}</i>" if stock else "")
            + "</li>"
            for shop, stock in offers
        )
        + "</ul></div>"
        for number, offers in enumerate(products)
    )
    return f"<html><body><main>{body}</main></body></html>"


def test_records_within_records_stay_with_their_own() -> None:
    chance = random.Random(5)

    def some() -> list[list[tuple[str, str | None]]]:
        return [
            [
                (
                    f"shop {chance.randrange(999)}",
                    chance.choice([None, f"{chance.randrange(99)} left"]),
                )
                for _ in range(n)
            ]
            for n in (2, 0, 1, 4)
        ]

    sample: list[list[tuple[str, str | None]]] = [
        [("shop a", "3 left"), ("shop b", None)],
        [("shop c", "4 left")],
        [("shop d", None)],
    ]
    tree = parse_page(nested(sample).encode()).tree
    assert tree is not None
    values = {"name": "h2", "shops": "b", "stocks": "i"}
    marks = {
        name: [MarkedNode(element) for element in tree.iter(tag)] for name, tag in values.items()
    }
    records = [[element] for element in tree.iter("div")]
    specs = [
        AttributeType("name"),
        AttributeType("shops", is_multi=True),
        AttributeType("stocks", is_multi=True),
    ]
    rule = learn_list(read_samples([AnnotatedPage("u", tree, marks, records=records)], []), specs)
    types = [AttributeType(spec.name, is_multi=spec.is_multi) for spec in specs]
    ready = RunnableRule("products", 1, stylesheet_of(rule), types)
    for _ in range(3):
        truth = some()
        extraction = extract(RawPage("http://a/", nested(truth).encode()), ready)

        assert [
            (f"Product {n}", [shop for shop, _ in offers], [stock for _, stock in offers if stock])
            for n, offers in enumerate(truth)
        ] == [
            (record.values["name"], record.values.get("shops", []), record.values.get("stocks", []))
            for record in extraction.records
        ]


def test_what_is_the_same_on_one_page_alone_is_no_anchor() -> None:
    site = sites.load("town-guide")
    pages = [page for page in site.pages.values() if page.type == "town" and len(page.records) > 3][
        :6
    ]
    trees = [parse_page(page.body, page.content_type).tree for page in pages]
    sample = pages[0]
    marks: dict[str, list[MarkedNode]] = {}
    for record in sample.records:
        for path in record.places.get("telephone", []):
            marks.setdefault("telephone", []).append(MarkedNode(path))
    assert trees[0] is not None
    records = [record.nodes for record in sample.records]
    annotated = AnnotatedPage("u", trees[0], marks, records=records)
    rule = learn_list(
        read_samples([annotated], [tree for tree in trees[1:] if tree is not None]),
        [AttributeType("telephone")],
    )
    ready = RunnableRule("towns", 1, stylesheet_of(rule), [AttributeType("telephone")])
    for page in pages[1:]:
        extraction = extract(RawPage("http://a/", page.body, page.content_type), ready)

        assert [one.values.get("telephone") for one in page.records] == [
            one.raw.get("telephone") for one in extraction.records
        ]


def test_a_label_without_its_value_does_not_reach_into_the_next_record() -> None:
    def facts(values: list[tuple[str, str, str]]) -> str:
        lines = "".join(
            f"<dt>{name}</dt><dd>Size: <b>{size}</b>, Type:{f' <b>{kind}</b>' if kind else ''}</dd>"
            for name, size, kind in values
        )
        return f"<html><body><h1>Files</h1><dl>{lines}</dl></body></html>"

    tree = parse_page(
        facts([("a", "1 kB", "text"), ("b", "2 kB", "page"), ("c", "3 kB", "text")]).encode()
    ).tree
    assert tree is not None
    records = [[term, *list(term.itersiblings())[:1]] for term in tree.iter("dt")]
    bolds = list(tree.iter("b"))
    marks = {"name": list(tree.iter("dt")), "size": bolds[::2], "type": bolds[1::2]}
    values = {name: [MarkedNode(entry) for entry in some] for name, some in marks.items()}
    specs = [AttributeType(name) for name in marks]
    rule = learn_list(read_samples([AnnotatedPage("u", tree, values, records=records)], []), specs)
    ready = RunnableRule("files", 1, stylesheet_of(rule), [AttributeType(name) for name in marks])
    extraction = extract(
        RawPage(
            "http://a/",
            facts([("x", "7 kB", ""), ("y", "8 kB", "page"), ("z", "9 kB", "")]).encode(),
        ),
        ready,
    )

    assert [("x", "7 kB", None), ("y", "8 kB", "page"), ("z", "9 kB", None)] == [
        tuple(record.values.get(name) for name in marks) for record in extraction.records
    ]


TERM = Boundary(Alternative("xpath", "element", (Feature("tag", 0, ("dt",)),)))
GLOSSARY = (
    "<dl><dt>A</dt><dd>1</dd><dt>B</dt><dd>2</dd><dd>3</dd><dd class=ad>4</dd><p>end</p></dl>"
)


def page_of_glossary(*sizes: int, source: str = GLOSSARY) -> AnnotatedPage:
    tree = html.document_fromstring(source)
    firsts = list(tree.iter("dt"))
    return AnnotatedPage(
        "u",
        tree,
        records=[
            [first, *first.itersiblings()][:n] for first, n in zip(firsts, sizes, strict=True)
        ],
    )


def run_lengths(boundary: Boundary | None, source: str) -> list[int]:
    assert boundary is not None
    return [len(run_of(first, boundary)) for first in html.document_fromstring(source).iter("dt")]


def test_records_of_one_element_have_no_other() -> None:
    boundary = with_run(TERM, [page_of_glossary(1, 1)])

    assert (TERM, [1, 1]) == (boundary, run_lengths(boundary, GLOSSARY))


def test_a_record_ends_at_the_next_one_and_at_an_element_of_no_record() -> None:
    boundary = with_run(TERM, [page_of_glossary(2, 4)])

    assert [2, 4] == run_lengths(boundary, GLOSSARY)
    assert [4, 1, 2] == run_lengths(
        boundary,
        "<dl><dt>A</dt><dd>1</dd><dd>2</dd><dd>3</dd><p>x</p><dt>B</dt><dt>C</dt><dd>1</dd></dl>",
    )


def test_where_no_class_marks_what_is_of_no_record_the_longest_record_is_the_measure() -> None:
    boundary = with_run(TERM, [page_of_glossary(2, 3)])

    assert boundary is not None
    assert (3, [2, 3]) == (boundary.n_siblings, run_lengths(boundary, GLOSSARY))


def test_a_class_marks_what_is_of_no_record() -> None:
    source = GLOSSARY.replace("<dd>", "<dd class='own x'>")
    boundary = with_run(TERM, [page_of_glossary(2, 3, source=source)])

    assert [2, 3] == run_lengths(boundary, source)
    assert [5] == run_lengths(
        boundary, "<dl><dt>A" + 4 * "<dd class=own>1</dd>" + "<dd class=ad>2</dd></dl>"
    )


def test_a_boundary_survives_being_stored() -> None:
    boundary = with_run(TERM, [page_of_glossary(2, 3)], has_text=True)

    assert boundary is not None
    assert boundary == Boundary.from_json(boundary.as_json())
