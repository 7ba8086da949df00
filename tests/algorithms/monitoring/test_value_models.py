"""Values that look right and are wrong, and good ones that move."""

from __future__ import annotations

import random

import pytest

from monitoring.algorithms.value_models import Reading, learn_models, shape_of, suspicions

KINDS = {
    "name": "text",
    "brand": "text",
    "price": "price",
    "list_price": "price",
    "stock": "number",
}
BRANDS = ["Alpina", "Norrsken", "Tramp", "Kestrel", "Oberland"]


def shop(seed: int, n: int = 20) -> list[Reading]:
    """Return what a good rule gives on the product pages of a shop."""
    chance = random.Random(seed)
    return [product(number, chance) for number in range(n)]


def product(number: int, chance: random.Random) -> Reading:
    price = chance.uniform(20, 200)
    record = {
        "name": f"{chance.choice(['Trail', 'Rope', 'Peak'])} {number}",
        "brand": chance.choice(BRANDS),
        "price": f"€{price:.2f}",
        "stock": str(chance.randrange(90)),
    }
    if number % 2:
        record["list_price"] = f"€{price * chance.uniform(1.05, 1.4):.2f}"
    return Reading(f"/p/{number}", record, {"price": "Our price"}, f" {' '.join(record.values())} ")


def a_week_on(readings: list[Reading], seed: int, share: float = 0.1) -> list[Reading]:
    """Return the same pages with some new prices and all stocks changed."""
    chance = random.Random(seed)
    later = []
    for reading in readings:
        record = dict(reading.record) | {"stock": str(chance.randrange(90))}
        if chance.random() < share:
            record |= {
                name: f"€{float(str(record[name])[1:]) * 1.04:.2f}"
                for name in record
                if "price" in name
            }
        later.append(
            reading._replace(record=record, text=f" {' '.join(map(str, record.values()))} ")
        )
    return later


def times(reading: Reading, factor: float) -> Reading:
    """Return a reading whose price is another one by a factor."""
    price = f"€{float(str(reading.record['price'])[1:]) * factor:.2f}"
    return reading._replace(record={**reading.record, "price": price})


def with_change(readings: list[Reading], **values: str) -> list[Reading]:
    """Return readings in which attributes have what other attributes had."""
    changed = []
    for reading in readings:
        record = dict(reading.record)
        for name, source in values.items():
            if source in reading.record and name in record:
                record[name] = reading.record[source]
        changed.append(reading._replace(record=record))
    return changed


@pytest.fixture(scope="module")
def baseline() -> list[Reading]:
    return shop(1)


def found(baseline: list[Reading], now: list[Reading]) -> dict[str, set[str]]:
    models = learn_models(baseline, KINDS, a_week_on(baseline, 5))
    return {
        suspicion.attribute: set(suspicion.witnesses)
        for suspicion in suspicions(models, now, baseline)
    }


def alerts(baseline: list[Reading], now: list[Reading]) -> set[str]:
    models = learn_models(baseline, KINDS, a_week_on(baseline, 5))
    return {
        suspicion.attribute for suspicion in suspicions(models, now, baseline) if suspicion.is_alert
    }


class TestGoodValues:
    @pytest.mark.parametrize("seed", range(10))
    def test_that_move_as_they_always_did_are_not_suspected(self, seed: int) -> None:
        baseline = shop(seed)

        assert {} == found(baseline, a_week_on(baseline, seed + 100, share=0.2))

    @pytest.mark.parametrize("seed", range(10))
    def test_of_other_pages_are_not_suspected(self, seed: int) -> None:
        models = learn_models(shop(seed), KINDS)

        assert [] == suspicions(models, shop(seed + 50))

    def test_that_are_all_raised_by_a_few_percent_are_a_warning_at_most(
        self, baseline: list[Reading]
    ) -> None:
        assert set() == alerts(baseline, a_week_on(baseline, 7, share=1.0))

    def test_that_change_each_time_may_change(self, baseline: list[Reading]) -> None:
        assert "stock" not in found(baseline, a_week_on(baseline, 9))


class TestWrongValues:
    @pytest.mark.parametrize("tax", [1.07, 1.19, 1.25])
    def test_prices_that_are_now_without_tax_are_found(
        self, baseline: list[Reading], tax: float
    ) -> None:
        now = [times(reading, 1 / tax) for reading in a_week_on(baseline, 11)]

        assert {"changes", "factor"} <= found(baseline, now)["price"]
        assert "price" in alerts(baseline, now)

    def test_a_sale_of_half_of_the_things_is_no_change_of_meaning(
        self, baseline: list[Reading]
    ) -> None:
        now = [
            times(reading, 0.8) if number % 2 else reading
            for number, reading in enumerate(baseline)
        ]

        assert "factor" not in found(baseline, now).get("price", set())

    def test_a_price_that_is_the_list_price_is_found(self, baseline: list[Reading]) -> None:
        now = with_change(baseline, price="list_price", list_price="price")

        assert {"swapped", "order"} <= found(baseline, now)["list_price"]
        assert {"price", "list_price"} == alerts(baseline, now)

    def test_a_brand_that_is_the_name_is_found(self, baseline: list[Reading]) -> None:
        assert {"brand"} == alerts(baseline, with_change(baseline, brand="name"))

    def test_the_price_of_the_neighbour_is_found_while_the_right_one_still_stands_there(
        self, baseline: list[Reading]
    ) -> None:
        now = [
            reading._replace(record={**reading.record, "price": other.record["price"]})
            for reading, other in zip(baseline, baseline[1:] + baseline[:1], strict=True)
        ]

        assert {"changes", "displaced"} <= found(baseline, now)["price"]
        assert "price" in alerts(baseline, now)

    def test_a_price_in_cents_is_of_another_size(self, baseline: list[Reading]) -> None:
        now = [
            reading._replace(
                record={**reading.record, "price": str(reading.record["price"]).replace(".", "")}
            )
            for reading in baseline
        ]

        assert {"shape", "range"} <= found(baseline, now)["price"]

    def test_a_price_behind_other_words_is_a_warning(self, baseline: list[Reading]) -> None:
        now = [reading._replace(words={"price": "Unit price"}) for reading in baseline]

        assert {"price": {"words"}} == found(baseline, now)
        assert set() == alerts(baseline, now)

    def test_what_a_suspicion_says_can_be_read(self, baseline: list[Reading]) -> None:
        models = learn_models(baseline, KINDS)
        [first] = suspicions(models, with_change(baseline, brand="name"), baseline)

        assert "values of brand: 100% of 20 look unlike those before" in str(first)
        assert ("/p/0", baseline[0].record["brand"], baseline[0].record["name"]) == first.examples[
            0
        ]


class TestFewValues:
    def test_nothing_is_said_of_three_pages(self, baseline: list[Reading]) -> None:
        now = with_change(baseline, price="list_price")[:3]

        assert {} == found(baseline, now)

    def test_nothing_is_said_without_a_baseline(self, baseline: list[Reading]) -> None:
        assert [] == suspicions(learn_models([], KINDS), baseline)


class TestShapes:
    def test_a_long_value_has_only_a_length(self) -> None:
        assert "text of 2^6" == shape_of("word " * 20)

    def test_several_values_are_joined(self) -> None:
        assert "a 9" == shape_of(["red", "42"])
