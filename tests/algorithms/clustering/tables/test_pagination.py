"""Where a list goes on."""

import pytest

from clustering.algorithms.tables.pagination import find_pagination, goes_on, page_number
from clustering.dom.page import parse_page
from vertex.demo import sites

LIST = "https://shop.example/list?sort=up"


def found(body: str, url: str = LIST) -> tuple[str, str]:
    tree = parse_page(body.encode()).tree
    assert tree is not None
    pagination = find_pagination(tree, url)
    return pagination.next_url, pagination.why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<head><link rel="next" href="?sort=up&page=2"></head><p>x', "declared"),
        ('<a rel="nofollow next" href="?sort=up&page=2">on</a>', "declared"),
        ('<a href="?sort=up&page=2">Next »</a>', "words"),
        ('<a href="?sort=up&page=2">nächste Seite</a>', "words"),
        ('<a href="?sort=up&page=2" aria-label="Next page"><svg></svg></a>', "words"),
        ('<li class="pagination__next"><a href="?sort=up&page=2"><img src=x.png></a>', "words"),
        ('<b>1</b> <a href="?sort=up&page=2">2</a> <a href="?sort=up&page=3">3</a>', "numbers"),
    ],
)
def test_the_next_page_is_found(body: str, why: str) -> None:
    assert ("https://shop.example/list?page=2&sort=up", why) in {
        found(body),
        (sorted_query(found(body)[0]), why),
    }


def sorted_query(url: str) -> str:
    head, _, query = url.partition("?")
    return f"{head}?{'&'.join(sorted(query.split('&')))}" if query else head


def test_the_number_after_this_page_s_own_is_next() -> None:
    body = " ".join(f'<a href="/list/page/{n}">{n}</a>' for n in (1, 2, 4, 5))

    assert ("https://shop.example/list/page/4", "numbers") == found(
        body, "https://shop.example/list/page/3"
    )


def test_all_pages_that_are_linked_are_told() -> None:
    tree = parse_page(
        "".join(f'<a href="/list?page={n}">{n}</a> ' for n in range(2, 6)).encode()
    ).tree
    assert tree is not None

    assert [f"https://shop.example/list?page={n}" for n in range(2, 6)] == list(
        find_pagination(tree, "https://shop.example/list").pages
    )


@pytest.mark.parametrize(
    "body",
    [
        '<a href="/help">Next</a>',
        '<a href="https://elsewhere.example/list?sort=up&page=2">Next</a>',
        '<a href="?sort=down">Price</a>',
        '<a href="#top">next</a>',
        '<a href="?sort=up&page=1">Previous</a>',
        "<p>nothing",
    ],
)
def test_what_leads_elsewhere_is_no_next_page(body: str) -> None:
    assert ("", "") == found(body)


def test_the_last_page_has_no_next() -> None:
    body = " ".join(f'<a href="?page={n}">{n}</a>' for n in (1, 2)) + " 3"

    assert ("", "") == found(body, "https://shop.example/list?page=3")


def test_addresses_of_one_list_differ_in_what_says_the_page() -> None:
    assert goes_on("https://a.example/news", "https://a.example/news/page/2")
    assert goes_on("https://a.example/l/index.html", "https://a.example/l/index_2.html")
    assert not goes_on("https://a.example/news", "https://a.example/sport")
    assert [7, None] == [
        page_number("https://a.example/x?p=7"),
        page_number("https://a.example/x?q=7"),
    ]


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("alpine-shop", "/c/tents", "/c/tents?page=2"),
        ("the-courier", "/politics", "/politics/page/2"),
        ("town-guide", "/browse.asp?cat=1", "/browse.asp?cat=1&page=2"),
    ],
)
def test_demo_lists_go_on(name: str, path: str, expected: str) -> None:
    site = sites.load(name)
    demo = site.pages[path]
    tree = parse_page(demo.body, demo.content_type).tree
    assert tree is not None

    assert expected == find_pagination(tree, f"https://d.example{path}").next_url.removeprefix(
        "https://d.example"
    )
