"""A found table as wanted: columns merged, renamed, dropped, brought back, records sorted."""

from __future__ import annotations

import csv
import io

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation
from clustering.algorithms.tables.page_tables import ListTable
from clustering.models import Page
from rules.services.lists.accepting_lists import ChosenColumn, accept_list, acceptance_request
from rules.services.lists.shown_tables import shown_tables
from rules.services.lists.table_views import TableView, read_view, viewed_table
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.list_cast import latest
from vertex.core.models import Role
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = pytest.mark.django_db

PRICES = ["9.50 EUR", "", "120.00 EUR", "30.00 EUR"]
OFFERS = ["", "8.00 EUR", "", ""]


def stored_offers() -> Page:
    """Return a page whose second record shows an offer instead of a price.

    All records have one text in common, the name of the shop.
    """
    items = "".join(
        f"<li class=item><h3 class=name><a href=/p/{n}>Thing {n}</a></h3><b class=shop>Our shop</b>"
        + (f"<span class=price>{price}</span>" if price else "")
        + (f"<em class=deal>{offer}</em>" if offer else "")
        + f"<p class=about>What the thing number {n} is about, at some length.</p></li>"
        for n, (price, offer) in enumerate(zip(PRICES, OFFERS, strict=True))
    )
    site = site_of("shop")
    store(site, [("list", f"<html><body><ul>{items}</ul></body></html>".encode(), "text/html")])
    return latest(site, "list")


def found(page: Page) -> ListTable:
    assert page.latest_snapshot is not None
    page.latest_snapshot.page = page
    return shown_tables(page.latest_snapshot)[0]


def viewed(table: ListTable, query: str) -> ListTable:
    parameters = QueryDict(query)
    return viewed_table(table, read_view(table, parameters, parameters.getlist("show")))


def column_of(table: ListTable, name: str) -> list[str]:
    return [" + ".join(values) for values in table.columns[table.names.index(name)].values]


class TestView:
    def test_merged_columns_are_one_and_no_value_is_lost(self) -> None:
        table = viewed(found(stored_offers()), "into.deal=price&into.price=price")

        assert "deal" not in table.names
        assert ["9.50 EUR", "8.00 EUR", "120.00 EUR", "30.00 EUR"] == column_of(table, "price")

    def test_both_values_of_one_record_stay(self) -> None:
        assert (
            "Thing 0 + 9.50 EUR"
            == column_of(viewed(found(stored_offers()), "into.price=name"), "name")[0]
        )

    def test_records_are_sorted_by_amounts_and_those_without_come_last(self) -> None:
        table = found(stored_offers())

        up, down = viewed(table, "sort=price"), viewed(table, "sort=price&order=desc")
        assert ["9.50 EUR", "30.00 EUR", "120.00 EUR", ""] == column_of(up, "price")
        assert ["120.00 EUR", "30.00 EUR", "9.50 EUR", ""] == column_of(down, "price")
        assert ["Thing 2", "Thing 3", "Thing 0", "Thing 1"] == column_of(down, "name")
        assert table.records[2] == down.records[0]

    def test_what_is_dropped_or_the_same_everywhere_is_told_and_can_be_brought_back(self) -> None:
        table = found(stored_offers())
        assert {"shop": "it is the same in all records"} == {
            column.name: column.why_left_out for column in table.left_out
        }

        smaller = viewed(table, "columns=1&show=name&show=price")
        assert ["name", "price"] == smaller.names
        assert "you dropped it" in {column.why_left_out for column in smaller.left_out}
        assert "shop" in viewed(table, "columns=1&show=name&show=shop").names

    def test_two_columns_cannot_have_one_name(self) -> None:
        table = found(stored_offers())

        assert table.names == viewed(table, "name.price=name").names

    def test_what_the_table_has_not_is_passed_over(self) -> None:
        view = read_view(
            found(stored_offers()), QueryDict("sort=x&into.y=z&name.q=r&into.name=gone"), []
        )

        assert TableView() == view

    def test_its_address_says_it_again(self) -> None:
        table = found(stored_offers())
        query = (
            "columns=1&show=name&show=price&name.price=Preis&into.deal=price&sort=price&order=desc"
        )
        view = read_view(table, QueryDict(query), ["name", "price"])

        again = QueryDict(view.query())
        assert view == read_view(table, again, again.getlist("show"))


def test_page_and_download_show_what_was_chosen(client: Client) -> None:
    page = stored_offers()
    client.force_login(caller("ed", Role.EDITOR).user)
    query = "columns=1&show=name&show=price&name.price=Preis&into.deal=price&sort=price&order=desc"
    shown = client.get(f"{reverse('page_table', args=['shop', page.pk])}?{query}").content.decode()
    file = client.get(
        f"{reverse('download_table', args=['shop', page.pk])}?{query}&format=csv"
    ).getvalue()

    assert 'aria-sort="descending"' in shown
    assert "it is the same in all records" in shown
    assert "you dropped it" in shown
    rows = list(csv.DictReader(io.StringIO(file.decode(), newline="")))
    assert ["120.00 EUR", "30.00 EUR", "9.50 EUR", "8.00 EUR"] == [row["Preis"] for row in rows]


def test_a_merged_column_is_accepted_as_one_attribute(client: Client) -> None:
    page = stored_offers()
    ed = caller("ed", Role.EDITOR).user
    client.force_login(ed)
    form = client.get(
        f"{reverse('accept_list', args=['shop', page.pk])}?into.deal=price&name.price=Preis"
    ).content.decode()
    assert 'value="preis"' in form
    assert "Take deal" not in form

    assert page.latest_snapshot is not None
    page.latest_snapshot.page = page
    request = acceptance_request(
        snapshot=page.latest_snapshot,
        rank=1,
        columns=[ChosenColumn("name", "name", "text"), ChosenColumn("price", "price", "price")],
        vertical="thing",
        publishes=False,
        view=TableView(target_by_column={"deal": "price"}),
    )
    job = run_job(create_here(request).pk, accept_list)

    assert job.state == "done", job.error
    texts = Annotation.objects.filter(attribute__name="price", kind=Annotation.Kind.VALUE)
    assert {"9.50 EUR", "8.00 EUR", "120.00 EUR", "30.00 EUR"} == {mark.text for mark in texts}
