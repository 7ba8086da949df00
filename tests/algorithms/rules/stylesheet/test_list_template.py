"""The outer template of a list's stylesheet, as a person reads it and a processor runs it."""

from lxml import etree, html

from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import OF_PAGE, Alternative, AttributeRule, Boundary, ClusterRule
from rules.algorithms.stylesheet.stylesheet import stylesheet_of

PAGE = "<body><h1>Fruit</h1><ul><li><a href=1>A</a><li><a href=2>B</a></ul></body>"


def way(tag: str, target: str = "element") -> Alternative:
    return Alternative("xpath", target, (Feature("tag", 0, (tag,)),))


RULE = ClusterRule(
    (
        AttributeRule("kind", alternatives=(way("h1"),), scope=OF_PAGE),
        AttributeRule("name", alternatives=(way("a"),)),
    ),
    Boundary(way("li")),
)


def written(rule: ClusterRule, *, links: str = "0") -> str:
    result = etree.XSLT(etree.fromstring(stylesheet_of(rule).encode()))(
        html.document_fromstring(PAGE), links=links
    )
    return etree.tostring(result.getroot(), encoding="unicode")


def test_what_the_page_says_once_stands_in_each_record() -> None:
    first, other = (
        f'<record><value name="kind">Fruit</value><value name="name">{name}</value></record>'
        for name in "AB"
    )

    assert f"<records>{first}{other}</records>" == written(RULE)


def test_links_are_told_on_demand() -> None:
    assert "<link>1</link></record>" in written(RULE, links="1")


def test_its_comments_say_where_a_record_begins_and_ends() -> None:
    further = ((Feature("tag", 0, ("dd",)),),)
    run = ClusterRule((), Boundary(way("dt"), 400, further, has_text=True))

    assert "A record begins at //li and has no other element." in stylesheet_of(RULE)
    assert "kind (text, of the page)" in stylesheet_of(RULE)
    assert (
        "takes up to 400 elements like dd and all texts behind it, until the next begins."
        in stylesheet_of(run)
    )
