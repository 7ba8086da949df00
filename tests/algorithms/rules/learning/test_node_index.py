from lxml import html

from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.nodes import ITSELF, TAIL, TEXT


def index_of(*pages: str) -> NodeIndex:
    return number_nodes(html.document_fromstring(page) for page in pages)


def shown_at(index: NodeIndex, number: int) -> str:
    return "" if number >= index.n else index.nodes[number].shown


def test_elements_and_texts_stand_in_document_order() -> None:
    index = index_of("<div>a<b>b</b>c<i></i>d</div>")
    kinds = [(node.element.tag, node.part) for node in index.nodes]
    div = [
        ("div", ITSELF),
        ("div", TEXT),
        ("b", ITSELF),
        ("b", TEXT),
        ("b", TAIL),
        ("i", ITSELF),
        ("i", TAIL),
    ]
    assert [("html", ITSELF), ("body", ITSELF), *div] == kinds


def test_texts_that_show_nothing_are_no_nodes() -> None:
    index = index_of("<p> \n</p><p>&nbsp;</p><p>\u200b</p><p>x</p>")
    assert ["x"] == [node.shown for node in index.nodes if node.text is not None]


def test_a_text_is_split_by_a_comment_and_found_at_its_tail() -> None:
    index = index_of("<p>one<!-- gap -->two</p>")
    texts = [node for node in index.nodes if node.text is not None]
    assert ["one", "two"] == [node.shown for node in texts]
    assert TAIL == texts[1].part


def test_the_nearest_texts_are_of_the_same_page() -> None:
    index = index_of("<p>first</p><p>second</p>", "<p>third</p>")
    numbers = {node.shown: number for number, node in enumerate(index.nodes) if node.shown}
    assert "first" == shown_at(index, index.text_before[numbers["second"]])
    assert "second" == shown_at(index, index.text_after[numbers["first"]])
    assert "" == shown_at(index, index.text_before[numbers["third"]])
    assert "" == shown_at(index, index.text_after[numbers["second"]])


def test_an_element_has_the_string_that_xpath_gives() -> None:
    index = index_of("<div>a <b>b</b>\n<!--c--><i>d</i></div>")
    div = next(n for n, node in enumerate(index.nodes) if node.element.tag == "div")
    assert "a b\nd" == index.string(div)


def test_pages_have_bits_of_their_own() -> None:
    index = index_of("<p>a</p>", "<p>b</p>")
    first, other = index.page_bits
    assert 0 == first & other
    assert (1 << index.n) - 1 == first | other


def test_nodes_that_have_no_neighbour_lead_nowhere() -> None:
    index = index_of("<div><p>a</p><p>b</p></div>")
    first, other = [
        n for n, node in enumerate(index.nodes) if node.part == ITSELF and node.element.tag == "p"
    ]
    assert (index.n, first) == (index.befores[first], index.befores[other])
    assert (other, index.n) == (index.afters[first], index.afters[other])
