"""A page is known at its new address by several values that it alone had and shows."""

from __future__ import annotations

from monitoring.algorithms.former_addresses import NewPage, find_former_addresses

KNOWN = {f"/p/{n}": {f"rope {n}", f"sku {n}", "acme"} for n in range(10, 40)}


def page(*texts: str) -> NewPage:
    return NewPage(texts, " | ".join(texts))


MOVED = {f"/things/{n}": page(f"rope {n}", f"sku {n}", "acme", "buy") for n in range(10, 40)}


def test_each_page_is_found_at_its_new_address() -> None:
    expected = {f"/things/{n}": f"/p/{n}" for n in range(10, 40)}
    assert expected == find_former_addresses(KNOWN, MOVED)


def test_one_value_is_too_few() -> None:
    assert {} == find_former_addresses(KNOWN, {"/things/10": page("rope 10", "acme", "buy")})
    assert {"/things/10": "/p/10"} == find_former_addresses(
        KNOWN, {"/things/10": page("rope 10", "sku 10")}
    )


def test_a_value_may_stand_within_a_longer_text_where_another_one_stands_alone() -> None:
    within = {"/things/10": page("rope 10", "number: sku 10, in stock")}
    assert {"/things/10": "/p/10"} == find_former_addresses(KNOWN, within)
    assert {} == find_former_addresses(KNOWN, {"/things/10": page("rope 10, sku 10")})


def test_of_two_known_pages_it_is_the_one_of_which_it_shows_more() -> None:
    known = {"/p/1": {"rope", "long", "reddish"}, "/p/2": {"rope", "long", "blue", "thick"}}
    assert {"/things/1": "/p/1"} == find_former_addresses(
        known, {"/things/1": page("rope", "long", "reddish")}
    )
    assert {} == find_former_addresses(known, {"/things/1": page("rope", "long")})


def test_a_value_that_three_known_pages_had_tells_none() -> None:
    known = {f"/p/{n}": {"rope", "long", f"knot {n}"} for n in (1, 2, 3)}
    assert {} == find_former_addresses(known, {"/things/1": page("rope", "long", "of knot 1")})
    assert {} == find_former_addresses(known, {"/things/1": page("rope", "long", "knot 1")})


def test_a_list_that_names_all_things_is_none_of_them() -> None:
    all_named = page(*(text for moved in MOVED.values() for text in moved.texts))
    assert "/list" not in find_former_addresses(KNOWN, MOVED | {"/list": all_named})
    assert {} == find_former_addresses(KNOWN, {"/list": all_named})


def test_a_page_with_some_facts_about_a_thing_is_not_its_page() -> None:
    known = {
        "/p/10": {"rope 10", "sku 10", "twisted three times", "hemp"},
        "/facts/10": {"rope 10", "sku 10", "hemp"},
    }
    new = {
        "/things/10": page("rope 10", "sku 10", "hemp", "it is twisted three times."),
        "/things/10/facts": page("rope 10", "sku 10", "hemp"),
    }
    assert {"/things/10": "/p/10"} == find_former_addresses(known, new)


def test_a_name_that_lists_show_as_well_leads_to_its_page() -> None:
    lists = {f"/list/{n}": page(*(f"rope {n}" for n in range(10, 40))) for n in range(5)}
    within = {f"/things/{n}": page(f"rope {n}", f"no. sku {n} of acme") for n in range(10, 40)}
    known = {url: {*values, f"long as {url}"} for url, values in KNOWN.items()}
    told = {
        url: NewPage(moved.texts, f"{moved.whole} | long as {url.replace('things', 'p')} is")
        for url, moved in within.items()
    }
    assert {url: url.replace("things", "p") for url in told} == find_former_addresses(
        known, lists | told
    )


def test_of_two_copies_neither_is_taken() -> None:
    copies = {"/things/10": MOVED["/things/10"], "/print/10": MOVED["/things/10"]}
    assert {} == find_former_addresses(KNOWN, copies)


def test_what_many_new_pages_show_tells_nothing() -> None:
    everywhere = {url: page(*moved.texts, "rope 10", "sku 10") for url, moved in MOVED.items()}
    found = find_former_addresses(KNOWN, everywhere)
    assert "/p/10" not in found.values()
    assert len(MOVED) - 1 == len(found)
