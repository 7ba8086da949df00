"""Columns of records, named without a teacher."""

import random
import time

import pytest

from clustering.algorithms.tables.fields import Column, read_fields
from clustering.dom.page import parse_page
from vertex.demo import sites

Row = dict[str, list[str]]


def columns(body: bytes, path: str) -> list[Column]:
    tree = parse_page(body).tree
    assert tree is not None
    return read_fields([[element] for element in tree.xpath(path)])


def rows(columns: list[Column]) -> list[Row]:
    n = len(columns[0].cells) if columns else 0
    return [
        {column.name: column.values[number] for column in columns if column.values[number]}
        for number in range(n)
    ]


# Each field as it is written; what is between the braces is its value.
LAYOUTS = {
    "classes": {
        "name": "<h3 class=name><a href=/{}>{}</a></h3>",
        "price": "<span class=price>{}</span>",
        "seller": "<span class=seller>{}</span>",
        "stock": "<em class=stock>{}</em>",
    },
    "labels in the text": {
        "name": "<h3>{}</h3>",
        "colour": "<p>Colour: {}</p>",
        "size": "<p>Size: {}</p>",
    },
    "terms": {
        "name": "<h4>{}</h4>",
        "brand": "<dt>Brand</dt><dd>{}</dd>",
        "weight": "<dt>Weight</dt><dd>{}</dd>",
    },
    "labels beside": {
        "name": "<b class=t>{}</b>",
        "town": "<div><span class=l>Town:</span> <span class=v>{}</span></div>",
        "street": "<div><span class=l>Street:</span> <span class=v>{}</span></div>",
    },
    "microdata": {"name": "<div itemprop=name>{}</div>", "price": "<div itemprop=price>{}</div>"},
    "tags": {"title": "<h2>{}</h2>", "text": "<p>{}</p>", "date": "<time>{}</time>"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_fields_that_are_dropped_at_random_shift_nothing(layout: str, seed: int) -> None:
    chance = random.Random(seed)
    fields = LAYOUTS[layout]
    truth = [
        {
            name: f"{name} {chance.randrange(10**6)} of {n}"
            for name in fields
            if name in {"name", "title"} or chance.random() < 0.6
        }
        for n in range(30)
    ]
    body = "<ul>" + "".join(
        "<li>"
        + "".join(fields[name].replace("{}", value) for name, value in record.items())
        + "</li>"
        for record in truth
    )
    results = [column for column in columns(body.encode(), "//li") if column.kind == "text"]
    table = rows(results)
    # Each field has a column of its own, whatever its name.
    column_by_field = {
        name: {
            column
            for row, record in zip(table, truth, strict=True)
            for column in row
            if row[column] == [record.get(name)]
        }
        for name in fields
    }

    assert all(len(names) == 1 for names in column_by_field.values())
    assert [len(record) for record in truth] == [len(row) for row in table]


@pytest.mark.parametrize(
    "layout", ["classes", "labels in the text", "terms", "labels beside", "microdata", "tags"]
)
def test_columns_have_the_page_s_own_names(layout: str) -> None:
    fields = LAYOUTS[layout]
    body = "<ul>" + "".join(
        "<li>" + "".join(field.replace("{}", f"x{n} {name}") for name, field in fields.items())
        for n in range(4)
    )
    names = [column.name for column in columns(body.encode(), "//li") if column.kind == "text"]
    named = [
        "title" if name == "name" and layout in {"labels in the text", "terms"} else name
        for name in fields
    ]

    assert (named if layout != "labels beside" else ["text", *named[1:]]) == names


def test_a_table_s_head_names_its_columns() -> None:
    body = b"<table><tr><th>Team<th colspan=2>Score<th>Date" + b"".join(
        b"<tr><td>team %d<td>%d<td>%d<td>1.%d.2020" % (n, n, n + 1, n + 1) for n in range(4)
    )

    assert ["team", "score", "number", "date"] == [
        column.name for column in columns(body, "//tr[td]")
    ]


def test_several_values_stay_in_one_column() -> None:
    body = b"<ul><li><b class=t>1</b><i class=tag>red</i><i class=tag>blue</i><li><b class=t>2</b><i class=tag>red</i></ul>"
    tag = columns(body, "//li")[1]

    assert (True, [["red", "blue"], ["red"]]) == (tag.is_multi, tag.values)


def test_what_is_the_same_in_all_records_is_left_out() -> None:
    body = (
        b"<ul>"
        + b"".join(b"<li><b>%d</b><a href=/%d>more...</a>" % (n, n) for n in range(5))
        + b"</ul>"
    )

    assert [["0"], ["/0"]] == [column.values[0] for column in columns(body, "//li")]


def test_two_links_to_the_same_page_are_one_column() -> None:
    body = b"<ul>" + b"".join(
        b"<li><a class=i href=/%d><img src=%d.png></a><a class=t href=/%d>t%d</a>" % (n, n, n, n)
        for n in range(4)
    )

    assert ["link", "image", "text"] == [column.kind for column in columns(body, "//li")]


def test_no_records_have_no_columns() -> None:
    assert [] == read_fields([])


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("alpine-shop", "/c/tents"),
        ("town-guide", "/browse.asp?cat=1"),
        ("the-courier", "/politics"),
    ],
)
def test_demo_records_keep_their_values_together(name: str, path: str) -> None:
    demo = sites.load(name).pages[path]
    tree = parse_page(demo.body, demo.content_type).tree
    assert tree is not None
    records = [[tree.xpath(node)[0] for node in record.nodes] for record in demo.records]
    table = read_fields(records)
    # A value of an attribute is always in the same column.
    for attribute in {name for record in demo.records for name in record.values}:
        wanted = [record.values.get(attribute) for record in demo.records]
        homes = [
            {column.name for column in table if value in column.values[number]}
            for number, value in enumerate(wanted)
            if isinstance(value, str)
        ]
        known = [home for home in homes if home]
        assert not known or set.intersection(*known)


def seconds_for(n_rows: int, row: str) -> float:
    body = ("<ul>" + "".join(row.format(n=n) for n in range(n_rows)) + "</ul>").encode()
    tree = parse_page(body).tree
    assert tree is not None
    started = time.thread_time()

    read_fields([[element] for element in tree.xpath("//li")])

    return time.thread_time() - started


@pytest.mark.parametrize(
    "row",
    [
        "<li><b class=name>Rope {n}</b><i class=price>{n} EUR</i></li>",
        "<li><b class=name>Rope {n}</b><i class=k{n}>{n} EUR</i><a href=/{n}>x</a></li>",
        "<li><b class=name>Rope {n}</b><div class=a><k{n}>{n}</k{n}><l{n}>{n}</l{n}></div></li>",
        "<li><p>Label {n}: value {n}</p><p>Other {n}: value</p></li>",
    ],
    ids=["plain", "classes", "tags", "labels"],
)
def test_a_list_of_thousands_of_rows_takes_time_in_proportion(row: str) -> None:
    assert seconds_for(4_000, row) < 5


def test_a_colspan_of_many_digits_is_cut() -> None:
    tree = parse_page(b"<table><tr><td colspan=" + b"9" * 9_000 + b">a<td>b</table>").tree
    assert tree is not None

    assert [["a"], ["b"]] == [c.values[0] for c in read_fields([[tree.xpath("//tr")[0]]])]
