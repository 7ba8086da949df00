"""What is said of a group's boundary."""

from __future__ import annotations

import numpy as np

from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.group_reasons import describe_groups
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import RawPage


def sentences(*groups: list[str]) -> list[str]:
    pages = [observe(RawPage("http://a.b", html.encode())) for group in groups for html in group]
    return describe_groups(
        tabulate(pages), np.repeat(np.arange(len(groups)), list(map(len, groups))), pages
    )


def pages(template: str, n: int = 6) -> list[str]:
    return [template.format(n=number) for number in range(n)]


def test_the_features_that_only_the_group_has_are_named() -> None:
    first, second = sentences(
        pages("<b>Price:</b><i>{n}</i>"), pages("<b>Author:</b><u class=x>{n}</u>")
    )

    assert "what follows “Price” in html/body/i (100%, there 0%)" in first
    assert "html/body/u.x (100%, there 0%)" in second


def test_a_group_that_only_lacks_something_says_so() -> None:
    lacking, _ = sentences(pages("<p>{n}"), pages("<p>{n}<h2>Poll</h2><i>{n}</i>"))

    assert lacking.startswith("Its pages lack what the nearest group has:")
    assert "“Poll” in html/body/h2 (0%, there 100%)" in lacking


def test_signs_are_no_names() -> None:
    first, _ = sentences(pages("<b>***</b>"), pages("<p>{n}"))

    assert "***" not in first


def test_one_group_needs_no_boundary() -> None:
    assert sentences(pages("<p>{n}")) == ["All pages are in this group."]


def test_groups_without_difference_say_so() -> None:
    assert set(sentences(["", ""], ["", ""])) == {
        "Nothing in particular sets it apart from the nearest group."
    }
