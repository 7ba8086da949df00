"""Lists of bytes as plain values."""

from __future__ import annotations

import json

import pytest

from clustering.algorithms.records.body_lists import CUT, FINDERS, lists_of_body
from clustering.algorithms.records.page_model import MAX_ELEMENTS

ROWS = "".join(
    f"<li><h3><a href='/{n}'>Result number {n}</a></h3><p>What the thing {n} is about, "
    "at some length.</p></li>"
    for n in range(12)
)
PAGE = f"<ul>{ROWS}</ul>".encode()


@pytest.mark.parametrize("algorithm", FINDERS)
def test_a_list_is_written_with_the_paths_of_its_records(algorithm: str) -> None:
    lists, problem = lists_of_body(PAGE, "text/html", algorithm, 1)

    assert ("", 12) == (problem, len(lists[0]["records"]))
    assert [["/html/body/ul/li[1]"], ["/html/body/ul/li[2]"]] == lists[0]["records"][:2]
    assert lists == json.loads(json.dumps(lists))


def test_a_page_without_a_tree_says_why() -> None:
    assert ([], "empty") == lists_of_body(b"", "text/html", "default", 1)


def test_a_page_that_was_not_read_to_its_end_says_so() -> None:
    lists, problem = lists_of_body(PAGE + b"<br>" * MAX_ELEMENTS, "", "default", 1)

    assert (1, CUT) == (len(lists), problem)
