"""The currently open tab."""

from __future__ import annotations

from collections.abc import Sequence

from clustering.algorithms.published.attributed_paths import PathPage, observe_tree
from clustering.algorithms.published.tabs import find_tabs, has_few_contents, open_tab
from clustering.dom.page import parse_page

NAMES = ("Overview", "Reviews", "Specs")


def page(number: int, is_open: str, names: Sequence[str] = NAMES) -> PathPage:
    bar = "".join(f"<li{' class=on' if name == is_open else ''}>{name}</li>" for name in names)
    html = f"<h1>Thing {number} word{number}</h1><ul>{bar}</ul>"
    return observe_tree(parse_page(html.encode()).tree)


def tab_paths(pages: Sequence[PathPage]) -> list[str]:
    paths = sorted({path for page_ in pages for path in page_.paths.tolist()})
    tabs = find_tabs(pages, paths)
    example = pages[0]
    written = {
        path: example.path_written(index) for index, path in enumerate(example.paths.tolist())
    }
    return [written[tab] for tab in tabs]


class TestPaper:
    def test_the_open_one_of_a_few_is_a_tab(self) -> None:
        assert "/html/body/ul/li[@class='on']" in tab_paths(
            [page(n, NAMES[n % 3]) for n in range(30)]
        )

    def test_between_2_and_10_contents_make_tabs(self) -> None:
        assert [False, True, True, False] == [has_few_contents(200, n, 200) for n in (1, 2, 10, 11)]

    def test_tabs_are_on_many_pages(self) -> None:
        assert [False, True, False, True] == [
            has_few_contents(present, 2, n)
            for present, n in [(9, 20), (10, 20), (49, 1000), (50, 1000)]
        ]


def test_more_than_ten_contents_are_no_tabs() -> None:
    names = [f"Name{chr(97 + n)}" for n in range(11)]

    assert [] == tab_paths([page(n, names[n % 11], names) for n in range(110)])


def test_a_brand_that_stands_alone_is_no_tab() -> None:
    def branded(number: int) -> PathPage:
        html = f"<h1>Thing word{number}</h1><p class=on>{NAMES[number % 3]}</p>"
        return observe_tree(parse_page(html.encode()).tree)

    assert [] == tab_paths([branded(n) for n in range(30)])


def test_the_number_of_a_page_is_no_tab() -> None:
    assert [] == tab_paths([page(n, str(n % 3), ("0", "1", "2")) for n in range(30)])


def test_the_open_tab_of_a_page_is_told_by_its_content() -> None:
    reviews, again, specs = page(1, "Reviews"), page(2, "Reviews"), page(3, "Specs")
    written = [reviews.path_written(index) for index in range(len(reviews.paths))]
    on = reviews.paths.tolist()[written.index("/html/body/ul/li[@class='on']")]

    assert [on] == find_tabs([page(n, NAMES[n % 3]) for n in range(30)], [on])
    assert open_tab(reviews, [on]) == open_tab(again, [on]) != open_tab(specs, [on])
    assert open_tab(page(1, "none"), [on]) is None
    assert open_tab(reviews, []) is None
