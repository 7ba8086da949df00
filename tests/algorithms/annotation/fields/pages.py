"""Sites of one vertical with different templates, as trees."""

from __future__ import annotations

from lxml import html
from lxml.etree import _Element

from annotation.algorithms.fields.profiles import SiteProfile, fit_of, profile_site
from annotation.algorithms.fields.recognising import find_described_slots

MAKERS = ["Acme", "Bolt", "Corex", "Dyno", "Elba", "Fenix", "Gamma", "Hydra"]
FIELDS = ["maker", "name", "price"]
N_PAGES = 8


def shown_on(n: int) -> dict[str, list[str]]:
    """Return what the page of a product shows."""
    return {
        "name": [f"{MAKERS[(n * 3) % 8]} rope {n * 7}"],
        "price": [f"${n * 13 + 5}.99"],
        "maker": [MAKERS[(n * 3) % 8]],
    }


def site_of_cells(shift: int = 0) -> list[_Element]:
    """Return product pages whose facts stand in table cells."""
    return [_tree(_cells(n + shift)) for n in range(N_PAGES)]


def site_of_lists(shift: int = 20) -> list[_Element]:
    """Return product pages whose facts stand in a list, in another order."""
    return [_tree(_list(n + shift)) for n in range(N_PAGES)]


def truth(shift: int) -> list[dict[str, list[str]]]:
    return [shown_on(n + shift) for n in range(N_PAGES)]


def profile_of(name: str, trees: list[_Element], values: list[dict[str, list[str]]]) -> SiteProfile:
    """Return the profile of a site whose values are known."""
    slots = find_described_slots(trees)
    fits = {
        field: [
            fit_of(
                [slot.slot.values(page) for page in range(len(trees))],
                [page_values[field] for page_values in values],
                is_multi=False,
            )
            for slot in slots
        ]
        for field in FIELDS
    }
    return profile_site(name, slots, fits)


def _cells(n: int) -> str:
    page = shown_on(n)
    return (
        f"<title>{page['name'][0]} - Shop</title><div id=top><a>Home</a> <a>Help</a></div>"
        f"<h1>{page['name'][0]}</h1><table><tr><th>Price:<td>{page['price'][0]}"
        f"<tr><th>Manufacturer:<td>{page['maker'][0]}<tr><th>Stock:<td>{n % 9 + 1} pieces</table>"
        f"<p>Seen {n * 31} times</p>"
    )


def _list(n: int) -> str:
    page = shown_on(n)
    return (
        f"<title>{page['name'][0]} | Ropes</title><ul class=menu><li>Start<li>Contact</ul>"
        f"<div class=head><h1>{page['name'][0]}</h1></div><ul class=facts>"
        f"<li><b>Manufacturer</b> <span>{page['maker'][0]}</span>"
        f"<li><b>Views</b> <span>{n * 17}</span>"
        f"<li><b>Our price</b> <span>{page['price'][0]}</span></ul>"
    )


def _tree(body: str) -> _Element:
    return html.document_fromstring(f"<html><body>{body}")
