from lxml import etree, html

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule, ClusterRule, Selection
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.algorithms.stylesheet.union import print_union

PAGE = "<div><i>1 km</i><b>2</b><i>3 km</i><b class='x'>4</b></div>"
BOLD = Alternative("xpath", "text()", (Feature("tag", 1, ("b",)),))
IN_KM = Alternative("xpath", "element", (Feature("tag", 0, ("i",)),), Selection(suffix=" km"))
CLASSED = Alternative("xpath", "text()", (Feature("class", 1, ("x",)),), Selection(first=9))


def values(*alternatives: Alternative) -> list[str]:
    rule = AttributeRule("a", is_multi=True, alternatives=alternatives)
    tree = html.document_fromstring(PAGE)
    compiled = etree.XSLT(etree.fromstring(stylesheet_of(ClusterRule((rule,))).encode()))
    emitted = [value.text or "" for value in compiled(tree).getroot().iter("value")]
    columns = Columns(number_nodes([tree]))
    assert values_on(columns, rule, columns.index.page_bits[0]) == emitted
    return emitted


def test_values_come_in_the_order_of_the_page_each_cut_in_its_own_way() -> None:
    assert ["1", "2", "3", "4"] == values(BOLD, IN_KM)
    assert ["1", "2", "3", "4"] == values(IN_KM, BOLD)


def test_a_node_of_two_parts_is_emitted_once_in_the_way_of_the_first() -> None:
    assert ["2", "4"] == values(BOLD, CLASSED)
    assert ["2"] == values(CLASSED, BOLD)


def test_the_last_set_needs_no_test() -> None:
    lines = "".join(print_union([["<one/>"], ["<two/>"]]))
    assert 1 == lines.count("<xsl:when")
    assert "<xsl:otherwise>      <two/>" in lines
