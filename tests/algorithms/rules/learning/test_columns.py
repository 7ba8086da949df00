import random
from typing import Any

import pytest
from lxml import html

from rules.algorithms.learning.columns import Columns, numbers_of
from rules.algorithms.learning.features import GENERATORS, PUBLISHED, Positive, chain_of
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.nodes import ITSELF, TAIL, TEXT
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import ELEMENT_TARGET, TEXT_TARGET, Alternative

SHOP = """<html><head><title>Tent: 3</title><script>var a = "Price: 1";</script></head><body class="p x9y8z">
<div id="top"><a href="/" class="home nav">Home</a>&nbsp;<!-- gap --> <b>Shop</b></div>
<table width="80"><tr><th>Price:</th><td class="price big">25</td></tr>
<tr><td>Colour :</td><td>&nbsp;</td><td>red<br>blue <i>green</i> tail</td></tr>
<tr><td colspan="2">Weight: 3 kg</td></tr></table>
<dl><dt>By</dt><dd>Ann</dd><dd>Bob &amp; Co</dd><dt>"It's"</dt><dd>quoted</dd></dl>
<p>Pri<b>ce</b> 30 and <span>Price</span>: 40</p><p></p><img src="/a.png" alt=""><img src="/b.png">
</body></html>"""


LABELS_IN_TAGS = {
    Feature("before", level, (label,), name=tags)
    for level in (0, 1)
    for label in ("Price", "By", "Colour")
    for tags in ("th", "dt td", "p")
}


def index_of(*pages: str) -> NodeIndex:
    return number_nodes(html.document_fromstring(page) for page in pages)


def numbers_by_xpath(index: NodeIndex, page: int, path: str) -> list[int]:
    """Return the index's numbers of what lxml selects on a page."""
    root = index.nodes[index.page_starts[page]].element
    nodes: Any = root.getroottree().xpath(path)
    places: list[tuple[Any, str]] = []
    for node in nodes:
        kind = getattr(node, "is_text", None)
        if kind is None:
            places.append((node, ITSELF))
        elif node.is_attribute:
            places.append((node.getparent(), ITSELF))
        else:
            places.append((node.getparent(), TAIL if node.is_tail else TEXT))
    return sorted(index.number_by_part[place] for place in places)


def features_anywhere(index: NodeIndex, target: str) -> set[Feature]:
    columns = Columns(index)
    seen = set()
    for number in numbers_of(columns.targets(target)):
        text = index.nodes[number].shown
        left, right = (text.split(" ")[0], text.split(" ")[-1]) if " " in text else ("", "")
        chain = chain_of(index, Positive(number, 0, left, right, target))
        for generate in (*GENERATORS, *PUBLISHED):
            seen |= set(generate(chain))
    return seen


@pytest.mark.parametrize("target", [TEXT_TARGET, ELEMENT_TARGET, "@src"])
def test_a_column_holds_what_the_xpath_selects(target: str) -> None:
    index = index_of(SHOP)
    columns = Columns(index)
    features = features_anywhere(index, target) | LABELS_IN_TAGS
    assert len(features) > 30
    for feature in sorted(features, key=str):
        path = Alternative("xpath", target, (feature,)).path
        expected = numbers_by_xpath(index, 0, path)
        assert expected == list(numbers_of(columns.select(target, feature))), path


def random_page(chance: random.Random) -> str:
    texts = [
        "Price:",
        "Price",
        "25",
        "Price: 25",
        "&nbsp;",
        " ",
        "",
        "By Ann",
        'it\'s "so"',
        "<!--c-->x",
        "Pri",
    ]

    def block(depth: int) -> str:
        tag = chance.choice(["div", "b", "span", "ul", "i"])
        attribute = chance.choice(
            ["", ' class="a b"', ' class="b"', ' id="n1"', ' width="3"', " hidden"]
        )
        inner = [chance.choice(texts)]
        if depth:
            inner += [block(depth - 1) + chance.choice(texts) for _ in range(chance.randrange(4))]
        return f"<{tag}{attribute}>{''.join(inner)}</{tag}>"

    return f"<html><body>{block(3)}{block(3)}</body></html>"


@pytest.mark.parametrize("seed", range(6))
def test_a_column_holds_what_the_xpath_selects_on_any_page(seed: int) -> None:
    chance = random.Random(seed)
    index = index_of(random_page(chance))
    columns = Columns(index)
    for target in (TEXT_TARGET, ELEMENT_TARGET):
        features = sorted(features_anywhere(index, target), key=str)
        for each in [chance.sample(features, min(len(features), 2)) for _ in range(60)]:
            path = Alternative("xpath", target, tuple(each)).path
            bits = columns.targets(target)
            for feature in each:
                bits &= columns.bits(feature)
            assert numbers_by_xpath(index, 0, path) == list(numbers_of(bits)), path


def test_a_disjunction_selects_what_any_value_selects() -> None:
    index = index_of(SHOP)
    columns = Columns(index)
    both = Feature("label", 0, ("Price", "By"))
    first, other = Feature("label", 0, ("Price",)), Feature("label", 0, ("By",))
    assert columns.bits(first) | columns.bits(other) == columns.bits(both)
    assert 0 != columns.bits(first) != columns.bits(both)


def test_no_text_of_one_page_is_an_anchor_on_the_next() -> None:
    index = index_of("<p>Price</p>", "<p>25</p>")
    assert 0 == Columns(index).select(TEXT_TARGET, Feature("before", 0, ("Price",)))
