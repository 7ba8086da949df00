"""Fields of a list within a page: which belong together, and where an entry has a gap."""

from __future__ import annotations

from lxml import html

from clustering.algorithms.slots.fields import FoundField, find_fields, finders_of

N_PAGES = 8


def tent(n: int) -> str:
    """Return a page with up to four offers; the second one has no price."""
    rows = "".join(
        f"<tr><td>Size {n}{k}</td><td>{'' if k == 1 else f'<b>{n}{k} EUR</b>'}</td></tr>"
        for k in range(1 + n % 4)
    )
    tags = "".join(f"<a>tag {n}{k}</a>" for k in range(2 + n % 3))
    return (
        f"<html><body><h1>Tent {n}</h1><p class=tags>{tags}</p>"
        f"<table class=offers><tr><th>Offer</th><th>Price</th></tr>{rows}</table></body></html>"
    )


def fields_of(pages: list[str]) -> tuple[list[FoundField], list[list[str | None]]]:
    """Return the fields of some pages, and what the last page shows of each, entry by entry."""
    trees = [html.document_fromstring(page) for page in pages]
    fields = find_fields(finders_of(trees))
    last = len(pages) - 1
    values: list[list[str | None]] = []
    for field in fields:
        if field.leader is None:
            values.append(list(field.values(field.slot.values(last))))
        else:
            texts, leading = field.slot.texts.get(last, ()), field.leader.texts.get(last, ())
            values.append(field.values_of_entries(texts, leading))
    return fields, values


def test_fields_in_the_same_entries_are_those_of_one_list() -> None:
    fields, _ = fields_of([tent(n) for n in range(N_PAGES)])
    of_list = [field for field in fields if field.list_name == "offers"]
    examples = {example for field in of_list for example in field.examples}
    assert {"Size 00", "00 EUR"} <= examples
    assert all(field.is_multi for field in of_list)


def test_an_entry_without_the_field_is_a_gap_at_its_place() -> None:
    fields, values = fields_of([tent(n) for n in range(N_PAGES)])
    found = [(field.list_name, shown) for field, shown in zip(fields, values, strict=True)]
    assert ("offers", ["Size 70", "Size 71", "Size 72", "Size 73"]) in found
    assert ("offers", ["70 EUR", None, "72 EUR", "73 EUR"]) in found


def test_a_field_that_repeats_alone_is_no_list() -> None:
    fields, values = fields_of([tent(n) for n in range(N_PAGES)])
    tags = [
        (field.list_name, field.leader)
        for field, shown in zip(fields, values, strict=True)
        if shown == ["tag 70", "tag 71", "tag 72"]
    ]
    assert tags
    assert {("", None)} == set(tags)


def test_two_texts_in_one_element_are_no_entries() -> None:
    pages = [
        f"<div class=all>{n}1 m<br>{n}2 m<p>{n}3 g</p><p>{n}4 g</p></div>" for n in range(1, 8)
    ]
    fields, _ = fields_of(pages)
    assert any(field.is_multi for field in fields)
    assert not any(field.list_name for field in fields)
