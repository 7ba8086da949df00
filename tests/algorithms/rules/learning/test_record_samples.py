"""The records of an annotated page as samples of their own."""

import pytest
from lxml import html

from rules.algorithms.learning.features import Positive, chain_of, positions
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.record_samples import samples_of_records
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, NodeNotFound

PAGE = """<body class=shop><h1>Tents</h1><div class=list>
<p class=head>One <b>1 EUR</b></p><p>cheap</p>
<p class=head>Two <b>2 EUR</b></p><p>good<!-- x --> too</p>
<p class=head>Three</p><p>dear</p></div></body>"""
RECORDS = [[f"//div/p[{number}]", f"//div/p[{number + 1}]"] for number in (1, 3, 5)]


def page(**values: list[str]) -> AnnotatedPage:
    marks = {name: [MarkedNode(path) for path in paths] for name, paths in values.items()}
    return AnnotatedPage("u", html.document_fromstring(PAGE), marks, records=RECORDS)


def test_a_sample_has_its_record_alone_within_what_stands_around_it() -> None:
    samples = samples_of_records(page(price=["//b[1]", "//p[3]/b"]))
    first, second = (each.tree for each in samples.annotated)

    assert ["One 1 EURcheap", "Two 2 EURgood too"] == [
        "".join(map(str, each.itertext())).replace("\n", "") for each in (first, second)
    ]
    assert ["shop", "list"] == [element.get("class") for element in first.iter("body", "div")]
    assert [6, 6] == [len(list(each.iter("p"))) for each in (first, second)]


def test_marks_point_into_the_copies() -> None:
    samples = samples_of_records(
        page(price=["//p[3]/b"], about=["//p[4]/text()[2]"], kind=["//p[3]/@class"])
    )
    (sample,) = samples.annotated

    assert {"price": "2 EUR", "about": " too", "kind": "head"} == {
        name: sample.tree.xpath(f"string({marks[0].node})") for name, marks in sample.values.items()
    }


def test_a_field_that_others_have_is_absent_where_it_is_not() -> None:
    samples = samples_of_records(page(price=["//p[1]/b"], about=["//p[2]", "//p[4]"]))

    assert [frozenset(), frozenset({"price"})] == [each.absent for each in samples.annotated]


def test_records_without_a_mark_are_samples_without_annotations() -> None:
    assert 2 == len(samples_of_records(page(price=["//p[1]/b"])).unannotated)


def test_values_outside_stay_with_the_page() -> None:
    assert {"heading"} == set(
        samples_of_records(page(heading=["//h1"], price=["//p[1]/b"])).outside
    )


def test_a_record_that_is_not_there_is_told() -> None:
    tree = html.document_fromstring(PAGE)

    with pytest.raises(NodeNotFound, match="selects nothing"):
        samples_of_records(AnnotatedPage("u", tree, records=[["//table"]]))


def test_names_that_no_document_may_have_do_no_harm() -> None:
    source = '<body "x=1 a:b=2 class=c><a:b 1=2><p>One<p>Two</a:b>'
    tree = html.document_fromstring(source)
    marks = {"name": [MarkedNode("//p[1]")]}
    samples = samples_of_records(AnnotatedPage("u", tree, marks, records=[["//p[1]"], ["//p[2]"]]))

    assert "One" == samples.annotated[0].tree.xpath(
        f"string({samples.annotated[0].values['name'][0].node})"
    )


def test_texts_between_and_behind_the_elements_are_copied_with_comments() -> None:
    tree = html.document_fromstring(
        "<body><b>A</b> 1 <!-- x --> 2 <br> 3 <b>B</b> 4 <br> 5 </body>"
    )
    marks = {"n": [MarkedNode("//body/text()[2]"), MarkedNode("//body/text()[5]")]}
    records = [["//b[1]", "//br[1]"], ["//b[2]", "//br[2]"]]
    samples = samples_of_records(AnnotatedPage("u", tree, marks, records=records))

    assert [("A 1  2  3 ", " 2 "), ("B 4  5 ", " 5 ")] == [
        (str(each.tree.xpath("string()")), each.tree.xpath(f"string({each.values['n'][0].node})"))
        for each in samples.annotated
    ]


def test_where_a_record_stands_on_its_page_is_no_feature_of_its_fields() -> None:
    (sample,) = samples_of_records(page(price=["//p[3]/b"])).annotated
    index = number_nodes([sample.tree])
    bold = next(
        n for n, node in enumerate(index.nodes) if node.element.tag == "b" and node.text is None
    )

    # The element itself and the first of its record, but not the list, the body and the page
    # above them.
    assert {0, 1} == {position.level for position in positions(chain_of(index, Positive(bold, 0)))}
