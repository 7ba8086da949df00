"""Known records of a list, found again on the new version of its page."""

from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.record_matching import match_list

KINDS = [
    AttributeType("name", is_constant=True),
    AttributeType("price", "price"),
    AttributeType("link", "url"),
]
KNOWN = [
    {"name": "Blue tent", "price": "10 EUR", "link": "/p/1"},
    {"name": "Red rope", "price": "20 EUR"},
    {"name": "Lamp"},
]
PAGE = """<body><ul><li><a href=/>Home</a><li>Lamp</ul><div><p>Ad: Lamp</p>
<p>Red  rope<b>21 EUR</b></p><p>New</p><p>Blue <i>tent</i> <a href='https://a.example/p/1'>10 EUR</a></p></div></body>"""


def test_records_are_found_by_their_values_wherever_they_moved() -> None:
    tree = html.document_fromstring(PAGE)
    menu, cards = ([[element] for element in tree.iter(tag)] for tag in ("li", "p"))
    found = match_list([menu, cards], KNOWN, KINDS)

    assert found is not None
    assert (cards, {0: 2, 1: 1, 3: 0}) == (found.records, found.known)


def test_where_nothing_is_found_there_is_no_list() -> None:
    tree = html.document_fromstring(PAGE)

    assert (
        match_list([[[element] for element in tree.iter("p")]], [{"name": "Stove"}, {}], KINDS)
        is None
    )
    assert match_list([], KNOWN, KINDS) is None
