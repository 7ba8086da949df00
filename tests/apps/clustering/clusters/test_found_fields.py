"""The fields of stored pages, by command and API."""

from __future__ import annotations

from io import StringIO
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from clustering.models import Cluster
from tests.apps.clustering.api_cast import caller
from tests.apps.rules.shop_cast import products_of, shop
from vertex.core.models import Role

pytestmark = pytest.mark.django_db

PRODUCTS = 12


def run(*arguments: str, **options: object) -> str:
    output = StringIO()
    call_command("find_fields", *arguments, stdout=output, stderr=StringIO(), **options)
    return output.getvalue()


def lines_of(*arguments: str, **options: object) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in run(*arguments, **options).splitlines()]


def with_example(lines: list[dict[str, Any]], example: str) -> dict[str, Any]:
    """Return the first line that has this among the values of its examples."""
    return next(line for line in lines if example in line["examples"])


def test_the_pages_of_a_cluster_are_a_table_without_annotations() -> None:
    cluster = products_of(shop(PRODUCTS))
    lines = lines_of("shop", cluster=cluster.name)
    assert {cluster.name} == {line["cluster"] for line in lines}
    price, weight = with_example(lines, "1.50 EUR"), with_example(lines, "15 g")
    assert ("our_price", "Our price", "price") == (price["name"], price["label"], price["type"])
    assert (1.0, False) == (price["fill"], price["multi"])
    assert 0.6 < weight["fill"] < 0.7  # every third product has none


def test_values_come_by_the_address_of_their_page() -> None:
    cluster = products_of(shop(PRODUCTS))
    lines = lines_of("shop", cluster=cluster.name, values=True)
    weight = with_example(lines, "15 g")

    assert ["15 g"] == weight["values"]["https://shop.example/p/1"]
    assert "https://shop.example/p/3" not in weight["values"]


def test_all_clusters_are_shown_where_none_is_named_and_a_table_can_be_read() -> None:
    site = shop(PRODUCTS)
    names = set(Cluster.objects.present().filter(site=site).values_list("name", flat=True))
    assert names == {line["cluster"] for line in lines_of("shop")}

    table = run("shop", cluster=products_of(site).name, table=True).splitlines()
    assert table[0].endswith(f"fields on {PRODUCTS} pages")
    assert ["name", "type", "pages", "several", "examples"] == table[1].split()
    assert any(row.startswith("our_price") and "100%" in row for row in table)


def test_an_unknown_cluster_is_told() -> None:
    shop(PRODUCTS)
    with pytest.raises(CommandError, match="shop has no cluster 'nowhere'"):
        run("shop", cluster="nowhere")


def test_the_api_lists_the_same() -> None:
    cluster = products_of(shop(PRODUCTS))
    answer = caller("ada", Role.VIEWER).get(f"sites/shop/clusters/{cluster.name}/fields/").json()

    assert answer["next"] is None
    assert lines_of("shop", cluster=cluster.name) == answer["results"]
