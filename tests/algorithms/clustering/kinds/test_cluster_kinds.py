"""Of what kind the clusters of a site are."""

from __future__ import annotations

import pytest

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.cluster_kinds import JudgedKind, cluster_kinds, load_weights
from clustering.algorithms.kinds.kind_features import ClusterFacts
from clustering.algorithms.kinds.kind_names import (
    DETAIL,
    ERROR,
    LIST,
    LOGIN,
    NAVIGATION,
    OTHER,
    SEARCH,
)
from clustering.algorithms.kinds.page_facts import read_facts
from tests.algorithms.clustering.kinds.test_kind_features import ROOT, cluster, lists, things

FORM = "<form><input name=user><input name=pw type=password></form>"
SEARCH_FORM = "<form action=/find><input name=q></form>"


def kinds(*clusters: ClusterFacts) -> list[str]:
    return [kind.kind for kind in cluster_kinds(clusters)]


def test_pages_with_fields_are_told_from_lists_of_them() -> None:
    assert kinds(things(), lists()) == [DETAIL, LIST]


def test_certainties_lie_between_a_guess_and_one() -> None:
    for kind in cluster_kinds([things(), lists()]):
        assert 0.5 <= kind.certainty <= 1


@pytest.mark.parametrize(
    "heading",
    [
        "404",
        "Page not found",
        "Seite nicht gefunden",
        "ページが見つかりません",
        "Internal Server Error",
    ],
)
def test_soft_errors_are_errors(heading: str) -> None:
    pages = {f"p/{k}": f"<title>Shop</title><h1>{heading}</h1><p>Sorry." for k in range(3)}
    assert kinds(cluster(pages), things()) == [ERROR, DETAIL]


def test_a_class_that_says_error_is_enough() -> None:
    pages = {f"p/{k}": f"<body class='error404 wide'><h1>Oj!</h1><p>{k}" for k in range(3)}
    assert kinds(cluster(pages), things()) == [ERROR, DETAIL]


def test_statuses_are_errors_whatever_the_page_says() -> None:
    page = read_facts(RawPage(f"{ROOT}x", b"<h1>Pot</h1>"), 503)
    assert kinds(ClusterFacts([page], [page.url])) == [ERROR]


def test_a_thing_that_speaks_of_errors_is_none() -> None:
    pages = {
        f"t/{k}": f"<h1>Pot {k}</h1><dl><dt>Price<dd>{k}</dl><p>{'A lid was not found. ' * 40}"
        for k in range(4)
    }
    assert kinds(cluster(pages)) == [DETAIL]


@pytest.mark.parametrize(
    "heading", ["Log in", "Please sign in to continue", "Anmelden", "ログイン"]
)
def test_pages_headed_by_a_request_to_log_in_are_log_ins(heading: str) -> None:
    pages = {f"p/{k}": f"<h1>{heading}</h1><p>Text {k}" for k in range(3)}
    assert kinds(cluster(pages), things()) == [LOGIN, DETAIL]


def test_a_field_for_a_password_beside_all_else_is_no_log_in() -> None:
    many = "".join(f"<div>Text {k}</div>" for k in range(100))
    pages = {f"t/{k}": f"<h1>Pot {k}</h1><dl><dt>Price<dd>{k}</dl>{many}{FORM}" for k in range(4)}
    assert kinds(cluster(pages)) == [DETAIL]
    assert kinds(cluster({"enter": f"<h1>Members</h1>{FORM}"})) == [LOGIN]


def test_addresses_that_ask_the_sites_own_search_are_searches() -> None:
    pages = {f"find?q={word}": f"<h1>Pots</h1>{SEARCH_FORM}" for word in ("red", "blue")}
    assert kinds(cluster(pages), things()) == [SEARCH, DETAIL]


def test_things_in_the_folder_of_a_search_are_no_searches() -> None:
    names = ("Price", "Weight", "Height", "Colour")
    pages = {
        f"search/pot.jsp?id={k}": f"<h1>Pot {k}</h1><dl>"
        + "".join(f"<dt>{name}<dd>{name} {k}" for name in names)
        for k in range(4)
    }
    results = {f"search/?q={word}": "<h1>Pots</h1>" for word in ("red", "blue")}
    assert kinds(cluster(pages), cluster(results)) == [DETAIL, SEARCH]


def test_the_start_of_a_site_is_navigation_and_its_help_is_other() -> None:
    assert kinds(
        cluster({"": "<h1>Welcome</h1>"}),
        cluster({"help": "<h1>Help", "contact": "<h1>Write to us"}),
    ) == [NAVIGATION, OTHER]


def test_of_pages_that_were_not_read_the_kind_is_a_guess() -> None:
    assert cluster_kinds([ClusterFacts([], [f"{ROOT}x"])]) == [JudgedKind(DETAIL, 0.5)]


def test_the_weights_have_the_signs_that_the_features_promise() -> None:
    weights = load_weights().weights
    for_things = 5
    assert all(weight <= 0 for weight in weights[:for_things])
    assert all(weight >= 0 for weight in weights[for_things:])
