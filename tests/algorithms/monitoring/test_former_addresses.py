"""A page is known at its new address by several values that it alone had and shows."""

from __future__ import annotations

from monitoring.algorithms.former_addresses import find_former_addresses

KNOWN = {f"/p/{n}": {f"rope {n}", f"sku {n}", "acme"} for n in range(1, 30)}
MOVED = {f"/things/{n}": {f"rope {n}", f"sku {n}", "acme", "buy"} for n in range(1, 30)}


def test_each_page_is_found_at_its_new_address() -> None:
    assert {f"/things/{n}": f"/p/{n}" for n in range(1, 30)} == find_former_addresses(KNOWN, MOVED)


def test_one_value_is_too_few() -> None:
    assert {} == find_former_addresses(KNOWN, {"/things/1": {"rope 1", "acme", "buy"}})
    assert {"/things/1": "/p/1"} == find_former_addresses(KNOWN, {"/things/1": {"rope 1", "sku 1"}})


def test_a_value_that_two_pages_had_tells_neither() -> None:
    known = {"/p/1": {"rope", "long", "red"}, "/p/2": {"rope", "long", "blue", "thick"}}
    assert {} == find_former_addresses(known, {"/things/1": {"rope", "long", "red"}})
    assert {"/things/2": "/p/2"} == find_former_addresses(
        known, {"/things/2": {"rope", "long", "blue", "thick"}}
    )


def test_a_list_that_names_all_things_is_none_of_them() -> None:
    named = {text for texts in MOVED.values() for text in texts}
    found = find_former_addresses(KNOWN, MOVED | {"/list": named})
    assert "/list" not in found
    assert {} == find_former_addresses(KNOWN, {"/list": named})


def test_of_two_copies_neither_is_taken() -> None:
    copies = {"/things/1": MOVED["/things/1"], "/print/1": MOVED["/things/1"]}
    assert {} == find_former_addresses(KNOWN, copies)


def test_what_many_new_pages_show_tells_nothing() -> None:
    everywhere = {url: texts | {"rope 1", "sku 1"} for url, texts in MOVED.items()}
    found = find_former_addresses(KNOWN, everywhere)
    assert "/p/1" not in found.values()
    assert len(MOVED) - 1 == len(found)
