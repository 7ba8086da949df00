from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import AttributeRule

ONE = AttributeType("a")


def annotate(page: str, *marks: MarkedNode, attribute: str = "a") -> AnnotatedPage:
    absent = frozenset() if marks else frozenset({attribute})
    return AnnotatedPage(
        f"https://example.org/{hash(page) % 97}",
        html.document_fromstring(page),
        {attribute: marks},
        absent,
    )


def learn(
    pages: list[AnnotatedPage], others: list[str], spec: AttributeType = ONE
) -> AttributeRule:
    return learn_cluster(
        pages, [html.document_fromstring(page) for page in others], [spec]
    ).attributes[0]


def values(rule: AttributeRule, page: str) -> list[str]:
    columns = Columns(number_nodes([html.document_fromstring(page)]))
    return values_on(columns, rule, columns.index.page_bits[0])


def table(director: str, *, year: int = 1999, extra: str = "") -> str:
    return f"""<h1>Film {year}</h1><table>{extra}<tr><td>Directed by:</td><td><a href="/{year}">{director}</a></td></tr>
    <tr><td>Year:</td><td>{year}</td></tr></table>"""


def test_a_label_wins_over_a_position() -> None:
    others = [table(name, year=year) for year, name in enumerate(["Cy", "Di", "Ed", "Flo"], 2000)]
    rule = learn([annotate(table("Ann"), MarkedNode("//a"))], others)
    assert ["before"] == [feature.kind for feature in rule.alternatives[0].features]
    assert ["Bob"] == values(rule, table("Bob", extra="<tr><td>Genre:</td><td>Drama</td></tr>"))


def test_a_label_in_the_node_and_one_before_it_are_one_rule() -> None:
    others = ["<p>Director: Cy</p><p>Year: 1</p>", "<p><b>Director:</b> Di</p><p>Year: 2</p>"] * 3
    pages = [
        annotate("<p>Director: Ann</p><p>Year: 3</p>", MarkedNode("//p[1]", "Ann")),
        annotate("<p><b>Director:</b> Bob</p><p>Year: 4</p>", MarkedNode("//p[1]/text()")),
    ]
    rule = learn(pages, others)
    assert 1 == len(rule.alternatives)
    assert [["Ed"], ["Flo"]] == [
        values(rule, "<p>Director: Ed</p>"),
        values(rule, "<p><b>Director:</b> Flo</p>"),
    ]


def test_a_rule_does_not_fire_where_the_attribute_was_marked_absent() -> None:
    with_sale = "<p class='now'>5</p><p class='old'>7</p>"
    others = [with_sale, "<p class='now'>6</p><p class='note'>new</p>"] * 3
    pages = [
        annotate(with_sale, MarkedNode("//p[2]")),
        annotate("<p class='now'>9</p><p class='note'>new</p>"),
    ]
    rule = learn(pages, others)
    assert [[], ["8"]] == [values(rule, others[1]), values(rule, "<p class='old'>8</p>")]


def test_layouts_have_alternatives_of_their_own() -> None:
    first = "<div class='film'><h2>{0}</h2><i>x</i></div><h3>{1}</h3>"
    two = "<section id='s'><h3>{0}</h3><i>y</i></section><h2>{1}</h2>"
    others = [first.format(f"n{number}", "other") for number in range(4)]
    others += [two.format(f"n{number}", "other") for number in range(4)]
    pages = [
        annotate(first.format("Ann", "no"), MarkedNode("//h2")),
        annotate(two.format("Bob", "no"), MarkedNode("//h3")),
    ]
    rule = learn(pages, others)
    assert [["Cy"], ["Di"]] == [
        values(rule, first.format("Cy", "no")),
        values(rule, two.format("Di", "no")),
    ]


def test_a_position_serves_where_nothing_else_tells_nodes_apart() -> None:
    page = "<p>{}</p>" * 6
    others = [page.format(*(f"{letter}{number}" for letter in "abcdef")) for number in range(4)]
    pages = [annotate(page.format(*f"{prefix}klmno"[:6]), MarkedNode("//p[4]")) for prefix in "xy"]
    rule = learn(pages, others)
    assert ["4"] == values(rule, page.format(*"123456"))
    assert [] == values(rule, "<p>only</p>")


def test_in_a_list_all_items_are_found() -> None:
    page = "<div><b>Tags</b><ul>{}</ul></div><ul><li>Home</li></ul>"
    items = [["a1", "b1", "c1"], ["a2"], ["a3", "b3"], ["a4", "b4", "c4", "d4"]]
    others = [page.format("".join(f"<li>{item}</li>" for item in row)) for row in items]
    spec = AttributeType("a", is_multi=True)
    rule = learn(
        [annotate(others[0], *(MarkedNode(f"(//li)[{n}]") for n in (1, 2, 3)))], others[1:], spec
    )
    assert ["x", "y", "z", "q"] == values(
        rule, page.format("<li>x</li><li>y</li><li>z</li><li>q</li>")
    )


def test_another_attributes_node_is_not_taken() -> None:
    """On pages without a lead, the heading stands where the lead stands on the others."""
    full, bare = (
        "<h1 class='h'>{0}</h1><p class='x'>{0} lead</p><div class='d'>{0}</div>",
        "<h1 class='h'>{0}</h1><div class='d'>{0}</div>",
    )
    trees = [html.document_fromstring(full.format(name)) for name in ("t1", "t2", "t3")]
    trees += [html.document_fromstring(bare.format(name)) for name in ("t4", "t5")]
    page = AnnotatedPage(
        "u",
        html.document_fromstring(full.format("Ann")),
        {"title": [MarkedNode("//h1")], "lead": [MarkedNode("//p")]},
    )
    rule = learn_cluster([page], trees, [AttributeType("title"), AttributeType("lead")])
    assert [["Bob"], []] == [values(attribute, bare.format("Bob")) for attribute in rule.attributes]


def test_values_in_different_places_are_the_union_of_what_its_parts_find() -> None:
    page = "<h1>{0}</h1><p>Brand: <b>{1}</b></p><table><tr><td>Maker</td><td>{2}</td></tr><tr><td>Year</td><td>{3}</td></tr></table>"
    others = [page.format(f"n{n}", f"b{n}", f"m{n}", 2000 + n) for n in range(4)]
    marks = [MarkedNode("//b"), MarkedNode("//tr[1]/td[2]")]
    pages = [annotate(page.format(f"k{n}", f"c{n}", f"l{n}", 1990 + n), *marks) for n in range(2)]
    rule = learn(pages, others, AttributeType("a", is_multi=True))
    assert rule.is_union
    assert ["X", "Y"] == values(rule, page.format("T", "X", "Y", 2020))


def test_a_value_that_the_page_shows_twice_may_be_marked_at_either_place() -> None:
    page = "<h1>{0}</h1><p>by {1}</p><table><tr><td>Author</td><td>{1}</td></tr><tr><td>Size</td><td>{2}</td></tr></table>"
    others = [page.format(f"n{n}", f"Per Son{n}", n) for n in range(4)]
    pages = [
        annotate(page.format("k", "Ann Lee", 8), MarkedNode("//p", "Ann Lee")),
        annotate(page.format("l", "Bob Ray", 9), MarkedNode("//tr[1]/td[2]")),
    ]
    rule = learn(pages, others)
    assert not rule.is_draft
    assert ["Cy Dee"] == values(rule, page.format("m", "Cy Dee", 7))


def test_the_form_of_a_text_tells_values_apart() -> None:
    page = "<p>{0}<br>{1}<br>{2}</p>"
    others = [page.format(f"{n} High St", f"Old Town {n}", f"(20{n}) 555-01{n}0") for n in range(6)]
    others += [page.format(f"Box {n}", f"(21{n}) 555-02{n}1", f"Little {n}") for n in range(3)]
    pages = [
        annotate(page.format("1 Elm", "Bath", "(212) 555-0199"), MarkedNode("//p/text()[3]")),
        annotate(page.format("2 Oak", "(313) 555-0144", "York"), MarkedNode("//p/text()[2]")),
    ]
    rule = learn(pages, others)
    assert ["(999) 123-4567"] == values(rule, page.format("(999) 123-4567", "Hull", "9 Ash"))


class TestFailures:
    def test_where_nothing_is_precise_the_rule_is_a_draft(self) -> None:
        pages = [
            annotate(f"{'<p>x</p>' * before}<p>v</p>{'<p>x</p>' * 30}", MarkedNode("//p[.='v']"))
            for before in (6, 4)
        ]
        rule = learn(pages, [])
        assert rule.is_draft
        assert (2, 1) == (rule.n_annotated, rule.n_right)
        assert {"a"} == {failure.attribute for failure in rule.failures}
        assert "no precise XPath" in rule.doubt
        assert "undecided" in rule.doubt
        assert "classifier" == rule.failures[0].step
        assert rule.failures[0].page.startswith("https://example.org/")

    def test_a_value_that_is_no_steady_part_of_its_text_is_told(self) -> None:
        pages = [
            annotate("<p>x 12 by y z</p>", MarkedNode("//p", "12")),
            annotate("<p>one 7 of many b</p>", MarkedNode("//p", "7 of many")),
            annotate("<p>a b c 9</p>", MarkedNode("//p", "a")),
        ]
        rule = learn(pages, [])
        assert rule.is_draft
        assert "text" == rule.failures[0].step

    def test_a_rule_that_is_right_on_all_annotated_pages_is_no_draft(self) -> None:
        pages = [annotate(table("Ann"), MarkedNode("//a"))]
        rule = learn(pages, [table("Cy", year=2001), table("Di", year=2002)])
        assert (1, 1) == (rule.n_annotated, rule.n_right)
        assert not rule.is_draft
        assert "" == rule.doubt

    def test_an_item_that_nobody_marked_does_not_tear_a_list_into_parts(self) -> None:
        page = "<p>{}</p><ul>{}</ul>"
        items = [[f"v{page}-{n}" for n in range(8)] for page in range(3)]
        bodies = [
            page.format(n, "".join(f"<li>{v}</li>" for v in vs)) for n, vs in enumerate(items)
        ]
        all_marks = [MarkedNode(f"//li[{n}]") for n in range(1, 9)]
        pages = [annotate(bodies[0], *all_marks), annotate(bodies[1], *all_marks[1:])]
        rule = learn(pages, bodies[2:], AttributeType("a", is_multi=True))
        assert (2, 1) == (rule.n_annotated, rule.n_right)
        assert 1 == len(rule.alternatives)
        assert items[2] == values(rule, bodies[2])

    def test_a_mark_of_another_kind_among_many_is_odd(self) -> None:
        page = "<ul>{}</ul>"
        item = "<li><a>{0} of {1}</a><img src='/i/{1}.gif'></li>"
        names = [[f"n{page}x{n}" for n in range(8)] for page in range(3)]
        bodies = [page.format("".join(item.format(n, v) for n, v in enumerate(vs))) for vs in names]
        marks = [
            [MarkedNode(f"//li[{n}]/img/@src", v) for n, v in enumerate(vs, 1)] for vs in names
        ]
        marks[1][0] = MarkedNode("//li[1]/a", names[1][0])
        pages = [annotate(body, *of_page) for body, of_page in zip(bodies, marks[:2], strict=False)]
        rule = learn(pages, bodies[2:], AttributeType("a", is_multi=True))
        assert {"@src"} == {alternative.target for alternative in rule.alternatives}
        assert names[2] == values(rule, bodies[2])
        assert "annotations" in {failure.step for failure in rule.failures}

    def test_what_was_refused_stays_told_beside_the_rule(self) -> None:
        good = annotate(table("Ann"), MarkedNode("//a"))
        bad = annotate(table("Bob", year=2005), MarkedNode("//a", "Someone else"))
        rule = learn([good, bad], [table("Cy", year=2001), table("Di", year=2002)])
        assert rule.alternatives
        assert ["node"] == [failure.step for failure in rule.failures]


def test_a_label_in_the_singular_finds_what_stands_beside_its_plural() -> None:
    authors = AttributeType("author", is_multi=True)
    book = (
        "<table><tr><th>Title</th><td>Rope {0}</td></tr><tr><th>{1}</th><td>{2}</td></tr></table>"
    )
    others = [book.format(n, "Authors", f"Ann {n}<br>Bob {n}") for n in range(4)]
    others += [book.format(n, "Author", f"Cy {n}") for n in range(4)]
    others += [book.format(n, "Shelf", f"Ed {n}") for n in range(2)]
    page = annotate(book.format("A", "Author", "Di"), MarkedNode("//tr[2]/td"), attribute="author")
    rule = learn([page], others, authors)
    assert ["Flo", "Gus"] == values(rule, book.format("B", "Authors", "Flo<br>Gus"))
    assert [] == values(rule, book.format("B", "Shelf", "Flo"))
