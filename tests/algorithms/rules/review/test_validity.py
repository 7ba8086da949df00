"""A rule is valid if judged pages show precision 1 and a recall above .85 for all pages."""

from __future__ import annotations

from rules.algorithms.review.validity import Judgement, Score, lower_end, validity_of

WHOLE = {"name": "Rope", "price": "5.50"}
NO_PRICE = {"name": "Rope"}
NAMES = ["name", "price"]


def right(n: int) -> list[Judgement]:
    return [Judgement([WHOLE], is_right=True)] * n


def marked(record: dict[str, str], *names: str) -> Judgement:
    return Judgement([record], is_right=False, marked=frozenset(names))


class TestPaper:
    def test_all_right_is_valid(self) -> None:
        assert validity_of(right(20), NAMES).whole.is_valid

    def test_one_wrong_value_is_enough_to_be_invalid(self) -> None:
        whole = validity_of([*right(19), marked(WHOLE, "price")], NAMES).whole

        assert (39 / 40, False) == (whole.precision, whole.is_valid)

    def test_a_recall_of_85_percent_is_not_yet_above_it(self) -> None:
        pages = [*right(85), *[marked(NO_PRICE, "price")] * 15]
        at_the_limit = validity_of(pages, ["price"]).whole
        above = validity_of([*right(120), *pages], ["price"]).whole

        assert (0.85, "not_valid") == (at_the_limit.recall, at_the_limit.standing)
        assert above.is_valid

    def test_a_rule_that_finds_nothing_is_not_valid(self) -> None:
        score = validity_of([marked(NO_PRICE, "price")], ["price"]).whole

        assert (0.0, "not_valid") == (score.recall, score.standing)

    def test_nothing_judged_is_not_valid(self) -> None:
        none = validity_of([], NAMES).whole

        assert (None, None, "undecided") == (none.precision, none.recall, none.standing)


class TestEnoughPages:
    def test_few_right_pages_prove_nothing_of_many_others(self) -> None:
        standings = [validity_of(right(n), NAMES).whole.standing for n in (3, 15, 16)]

        assert ["undecided", "undecided", "valid"] == standings
        assert 16 == validity_of(right(3), NAMES).n_right_needed

    def test_where_all_pages_were_judged_nothing_is_left_to_doubt(self) -> None:
        assert validity_of(right(3), NAMES, n_others=0).whole.is_valid
        assert "undecided" == validity_of(right(3), NAMES, n_others=5).whole.standing

    def test_a_small_cluster_needs_fewer(self) -> None:
        needed = [validity_of([], NAMES, n_others=n).n_right_needed for n in (4, 12, 30, 10_000)]

        assert needed == sorted(needed)
        assert (16, True) == (needed[-1], needed[0] <= 4)
        assert all(
            validity_of(right(n), NAMES, n_others=n_all - n).whole.is_valid
            for n, n_all in zip(needed, (4, 12, 30, 10_000), strict=True)
        )

    def test_many_values_of_one_page_are_one_trial(self) -> None:
        page = Judgement([WHOLE] * 100, is_right=True)

        assert "undecided" == validity_of([page], NAMES).whole.standing

    def test_a_missed_value_asks_for_more_pages(self) -> None:
        missed = marked(NO_PRICE, "price")
        of_20 = validity_of([*right(19), missed], ["price"]).whole
        of_40 = validity_of([*right(39), missed], ["price"]).whole

        assert ("undecided", "valid") == (of_20.standing, of_40.standing)

    def test_the_interval_is_wilsons(self) -> None:
        # 20 of 20 and 19 of 20, one-sided at 95 %.
        assert (0.881, 0.804) == (round(lower_end(1.0, 20), 3), round(lower_end(0.95, 20), 3))
        assert 0.0 == lower_end(1.0, 0)


class TestMarks:
    def test_a_marked_attribute_without_a_value_is_missed(self) -> None:
        validity = validity_of([marked(NO_PRICE, "price")], NAMES)

        assert {
            "name": Score(right=1, n_pages=1),
            "price": Score(missed=1, n_pages=1),
        } == validity.attributes

    def test_a_wrong_page_without_marks_is_wrong_in_all_that_it_shows(self) -> None:
        validity = validity_of([marked(NO_PRICE)], NAMES)

        assert {"name": Score(wrong=1, n_pages=1), "price": Score()} == validity.attributes

    def test_a_wrong_page_without_any_value_misses_all(self) -> None:
        validity = validity_of([Judgement([], is_right=False)], NAMES)

        assert Score(missed=2, n_pages=1) == validity.whole

    def test_each_record_of_a_list_counts(self) -> None:
        page = Judgement([WHOLE, NO_PRICE, WHOLE], is_right=True)

        expected = {"name": Score(right=3, n_pages=1), "price": Score(right=2, n_pages=1)}
        assert expected == validity_of([page], NAMES).attributes
