from lxml import html

from rules.algorithms.learning.features import (
    PUBLISHED,
    Positive,
    ancestors,
    chain_of,
    features_of,
    first_texts,
    ids_and_classes,
    labels,
    positions,
    siblings,
    tags,
    texts_after,
    texts_before,
    texts_beside,
    texts_outside,
    tokens,
    weak_attributes,
    words_inside,
)
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import ELEMENT_TARGET

PAGE = """<div id="main"><dl><dt>By</dt><dd>Ann</dd><dd class="a b" width="3" href="/x">Bob</dd></dl>
<p>Our Price: $25.99</p><p>5 reviews</p></div>"""


def index_of(*pages: str) -> NodeIndex:
    return number_nodes(html.document_fromstring(page) for page in pages)


def positive(
    index: NodeIndex, text: str, left: str = "", right: str = "", page: int = 0
) -> Positive:
    results = [n for n, node in enumerate(index.nodes) if node.shown == text and node.page == page]
    return Positive(results[0], page, left, right)


class TestPaper:
    """Section III-C.1: the features of `<span>Our Price: $25.99</span>` and of its likes."""

    def test_inside_anchors(self) -> None:
        index = index_of(PAGE)
        chain = chain_of(index, positive(index, "Our Price: $25.99", "Our Price:"))
        assert {Feature("contains", 0, ("Price:",)), Feature("starts", 0, ("Our Price:",))} == set(
            words_inside(chain)
        )

    def test_outside_anchors(self) -> None:
        index = index_of("<span>Our Price:</span><span>$25.99</span><i>per piece</i>")
        chain = chain_of(index, positive(index, "$25.99"))
        assert {
            Feature("before_ends", 0, ("Price:",)),
            Feature("before", 0, ("Our Price",)),
            Feature("after_starts", 0, ("per",)),
            Feature("after", 0, ("per piece",)),
        } == set(texts_outside(chain))

    def test_a_disjunction_has_up_to_three_values(self) -> None:
        pages = [f"<p>7</p><i>{word}</i>" for word in ("review", "reviews", "Reviews", "opinions")]
        index = index_of(*pages)
        for n_pages, expected in ((2, True), (3, True), (4, False)):
            positives = [positive(index, "7", page=page) for page in range(n_pages)]
            features = features_of(index, positives, PUBLISHED)
            assert expected == any(f.kind == "after" and len(f.values) == n_pages for f in features)

    def test_tags_reach_from_the_node_to_the_root(self) -> None:
        index = index_of(PAGE)
        element = index.nodes[positive(index, "Ann").node].parent
        chain = chain_of(index, Positive(element, 0, target=ELEMENT_TARGET))
        assert ["dd", "dl", "div", "body", "html"] == [feature.values[0] for feature in tags(chain)]
        assert list(range(5)) == [feature.level for feature in tags(chain)]

    def test_an_id_gives_its_value_and_that_it_is_there(self) -> None:
        index = index_of(PAGE)
        seen = set(ids_and_classes(chain_of(index, positive(index, "Ann"))))
        assert {Feature("id", 3, ("main",)), Feature("has", 3, name="id")} == seen


def test_what_each_generator_adds() -> None:
    index = index_of(PAGE)
    chain = chain_of(index, positive(index, "Bob"))
    assert {"a", "b"} == {feature.values[0] for feature in tokens(chain)}
    assert Feature("id", 0, ("main",), axis="ancestor") in set(ancestors(chain))
    assert Feature("tag", 1, ("dt",), axis="preceding-sibling", distance=2) in set(siblings(chain))
    assert {Feature("first", 0), Feature("last", 0), Feature("position", 0, distance=1)} <= set(
        positions(chain)
    )
    assert Feature("last", 1) in set(positions(chain))
    assert [Feature("label", 0, ("Ann",))] == list(labels(chain))
    assert Feature("before", 1, ("Ann",)) in set(texts_before(chain))
    assert [Feature("after", 0, ("Our Price $25.99",))] == list(texts_after(chain))
    assert Feature("heading", 1, ("By",), name="dd") in set(texts_beside(chain))
    assert Feature("first_text", 2, ("By",)) in set(first_texts(chain))


def test_a_label_in_the_node_comes_before_the_text_outside() -> None:
    index = index_of(PAGE)
    chain = chain_of(index, positive(index, "Our Price: $25.99", "Our Price:"))
    assert [Feature("label", 0, ("Our Price",))] == list(labels(chain))


def test_addresses_are_no_weak_attributes() -> None:
    index = index_of(PAGE)
    seen = set(weak_attributes(chain_of(index, positive(index, "Bob"))))
    assert Feature("attribute", 1, ("3",), name="width") in seen
    assert Feature("has", 1, name="href") in seen
    assert not [
        feature for feature in seen if feature.kind == "attribute" and feature.name == "href"
    ]


def test_items_of_one_page_make_no_disjunction() -> None:
    index = index_of(PAGE)
    features = features_of(index, [positive(index, "Ann"), positive(index, "Bob")])
    assert Feature("tag", 1, ("dd",)) in features
    assert not [feature for feature in features if len(feature.values) > 1]


def test_names_that_xpath_cannot_write_are_left_out() -> None:
    index = index_of('<div @click="x" data-a="1" a:b="2"><o:p>here</o:p></div>')
    chain = chain_of(index, positive(index, "here"))
    assert {"data-a"} == {feature.name for feature in weak_attributes(chain)}
    assert ["div", "body", "html"] == [feature.values[0] for feature in tags(chain)]
