from typing import Any

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.learner import LEARNERS, learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule

NAME, PRICE = AttributeType("name"), AttributeType("price", "price", is_mandatory=True)


def page(number: int) -> str:
    return f"""<div id="top"><a>Home</a></div><h1 class="name">Tent {number}</h1>
    <table><tr><th>Price:</th><td>{number}0 EUR</td></tr><tr><th>Weight:</th><td>{number} kg</td></tr></table>"""


def annotated(number: int) -> AnnotatedPage:
    values = {"name": [MarkedNode("//h1")], "price": [MarkedNode("//tr[1]/td")]}
    return AnnotatedPage(
        f"https://example.org/{number}", html.document_fromstring(page(number)), values
    )


def others() -> list[html.HtmlElement]:
    return [html.document_fromstring(page(number)) for number in range(10, 16)]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_rule_finds_the_values_on_pages_that_nobody_annotated(learner: str) -> None:
    rule = learn_cluster([annotated(1), annotated(2)], others(), [NAME, PRICE], learner=learner)
    new = html.document_fromstring(page(77))
    nodes = [
        new.xpath(f"string({attribute.alternatives[0].xpath})") for attribute in rule.attributes
    ]
    assert ["Tent 77", "770 EUR"] == nodes


def test_the_rule_tells_what_it_was_learnt_from() -> None:
    rule = learn_cluster([annotated(1)], others(), [NAME, PRICE])
    assert (("https://example.org/1",), 6, "default") == (
        rule.learnt_from,
        rule.n_unannotated,
        rule.learner,
    )
    price = rule.attributes[1]
    assert ("price", True) == (price.type, price.is_mandatory)


def test_losers_are_told_with_their_numbers() -> None:
    table = "<p class='price'>{}0 EUR</p><p class='note'>net</p>"
    bare = [html.document_fromstring(f"<p class='price'>{number} EUR</p>") for number in range(5)]
    full = [html.document_fromstring(table.format(number)) for number in range(5)]
    sample = AnnotatedPage(
        "u", html.document_fromstring(table.format(9)), {"price": [MarkedNode("//p[1]")]}
    )
    price = learn_cluster([sample], bare + full, [AttributeType("price", "price")]).attributes[0]
    assert price.losers
    assert all(price.alternatives[0].numbers.rank <= loser.numbers.rank for loser in price.losers)


def test_a_mandatory_attribute_prefers_what_is_on_every_page() -> None:
    """A label that some pages lack would do for an attribute that some pages lack."""
    body = "<main>{}<div class='box'><b>{} EUR</b></div><div><b>net</b></div></main>"
    pages = [
        html.document_fromstring(
            body.format("<i>From all shops:</i>" if number % 18 else "", number * 10)
        )
        for number in range(1, 19)
    ]
    sample = AnnotatedPage(
        "u",
        html.document_fromstring(body.format("<i>From all shops:</i>", 990)),
        {"price": [MarkedNode("//div[1]/b")]},
    )
    results = [
        learn_cluster(
            [sample], pages, [AttributeType("price", "price", is_mandatory=mandatory)]
        ).attributes[0]
        for mandatory in (True, False)
    ]
    mandatory, optional = (rule.alternatives[0].numbers.support for rule in results)
    assert 1.0 == mandatory
    assert optional < mandatory


def test_the_same_samples_give_the_same_rule() -> None:
    rules = [learn_cluster([annotated(1), annotated(2)], others(), [NAME, PRICE]) for _ in range(2)]
    assert rules[0].as_json() == rules[1].as_json()
    assert rules[0] == ClusterRule.from_json(rules[0].as_json())


def test_an_attribute_that_nobody_annotated_says_so() -> None:
    rule = learn_cluster([annotated(1)], others(), [AttributeType("fax")])
    assert "annotations: no page was annotated for it" == rule.attributes[0].reason
    absent = AnnotatedPage("u", html.document_fromstring(page(1)), absent=frozenset({"fax"}))
    rule = learn_cluster([absent], others(), [AttributeType("fax")])
    assert "annotations: it is absent on all annotated pages" == rule.attributes[0].reason


def test_nodes_that_show_another_kind_of_text_are_no_support() -> None:
    """Where the phone is missing, the text behind the heading is a sentence."""
    body = "<h2>Contact</h2>{}<p class='text'>A house with a long history by the sea</p>"
    phone = "<p><a>+44 {0}{0} {0}00</a></p>"
    pages = [
        html.document_fromstring(body.format(phone.format(n) if n % 3 else ""))
        for n in range(10, 28)
    ]
    sample = AnnotatedPage(
        "u", html.document_fromstring(body.format(phone.format(9))), {"phone": [MarkedNode("//a")]}
    )
    result = (
        learn_cluster([sample], pages, [AttributeType("phone", "phone")])
        .attributes[0]
        .alternatives[0]
    )
    without: Any = pages[2].xpath(result.xpath)
    assert ([], 1) == (without, len(pages[0].xpath(result.xpath)))  # type: ignore[arg-type]


def test_a_learner_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        learn_cluster([], [], [], learner="magic")


class TestRecords:
    LIST = "<h2>Hits</h2><dl>{}</dl><dl class='nav'><dt>Next</dt><dd>page</dd></dl>"

    def listed(self, *names: str) -> html.HtmlElement:
        items = "".join(
            f"<dt class='hit'><a>{name}</a></dt><dd>about {name}</dd>" for name in names
        )
        return html.document_fromstring(self.LIST.format(items))

    def test_the_boundary_of_a_list_is_learnt(self) -> None:
        records = [["//dl[1]/dt[1]", "//dl[1]/dd[1]"], ["//dl[1]/dt[2]", "//dl[1]/dd[2]"]]
        page = AnnotatedPage("u", self.listed("a", "b"), records=records)
        rule = learn_cluster([page], [self.listed("c", "d", "e"), self.listed("f")], [])
        assert rule.boundary is not None
        assert 2 == rule.boundary.n_siblings
        nodes: Any = self.listed("x", "y", "z").xpath(rule.boundary.first.xpath)
        assert ["x", "y", "z"] == [first.text_content() for first in nodes]

    def test_a_record_that_is_not_there_is_told(self) -> None:
        page = AnnotatedPage("u", self.listed("a"), records=[["//table"]])
        rule = learn_cluster([page], [], [])
        assert rule.boundary is None
        assert [("record", "node", "u")] == [
            (failure.attribute, failure.step, failure.page) for failure in rule.failures
        ]

    def test_without_records_there_is_no_boundary_and_no_complaint(self) -> None:
        rule = learn_cluster([AnnotatedPage("u", self.listed("a"))], [], [])
        assert (None, ()) == (rule.boundary, rule.failures)


class TestHostilePages:
    def test_a_deep_page_is_learnt_from(self) -> None:
        deep = html.document_fromstring("<div>" * 200 + "<p class='v'>x</p>" + "</div>" * 200)
        page = AnnotatedPage("u", deep, {"name": [MarkedNode("//p")]})
        rule = learn_cluster([page], [deep], [NAME]).attributes[0]
        assert rule.alternatives
        assert all(feature.level < 40 for feature in rule.alternatives[0].features)

    def test_quotes_and_odd_names_make_no_broken_xpath(self) -> None:
        odd = """<div id="it's &quot;so&quot;" a:b="1" @x="2"><o:p>it's "L"</o:p><b data-k="'">v</b></div>"""
        tree = html.document_fromstring(odd)
        page = AnnotatedPage("u", tree, {"name": [MarkedNode("//b")]})
        rule = learn_cluster([page], [], [NAME]).attributes[0]
        for each in (*rule.alternatives, *rule.losers):
            assert ["v"] == tree.xpath(each.xpath)

    def test_no_pages_at_all_are_no_error(self) -> None:
        assert (
            "annotations: no page was annotated for it"
            == learn_cluster([], [], [NAME]).attributes[0].reason
        )
