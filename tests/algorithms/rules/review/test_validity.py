"""A rule is valid with precision 1 and a recall above .85 on pages that it was not learnt from."""

from __future__ import annotations

from rules.algorithms.review.validity import Judgement, Score, validity_of

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
        at_the_limit = validity_of([*right(17), *[marked(NO_PRICE, "price")] * 3], ["price"])
        above = validity_of([*right(18), *[marked(NO_PRICE, "price")] * 3], ["price"])

        assert (0.85, False) == (at_the_limit.whole.recall, at_the_limit.whole.is_valid)
        assert above.whole.is_valid

    def test_nothing_judged_is_not_valid(self) -> None:
        none = validity_of([], NAMES).whole

        assert (None, None, False) == (none.precision, none.recall, none.is_valid)


class TestMarks:
    def test_a_marked_attribute_without_a_value_is_missed(self) -> None:
        validity = validity_of([marked(NO_PRICE, "price")], NAMES)

        assert {"name": Score(right=1), "price": Score(missed=1)} == validity.attributes

    def test_a_wrong_page_without_marks_is_wrong_in_all_that_it_shows(self) -> None:
        validity = validity_of([marked(NO_PRICE)], NAMES)

        assert {"name": Score(wrong=1), "price": Score()} == validity.attributes

    def test_a_wrong_page_without_any_value_misses_all(self) -> None:
        validity = validity_of([Judgement([], is_right=False)], NAMES)

        assert Score(missed=2) == validity.whole

    def test_each_record_of_a_list_counts(self) -> None:
        page = Judgement([WHOLE, NO_PRICE, WHOLE], is_right=True)

        assert {"name": Score(right=3), "price": Score(right=2)} == validity_of(
            [page], NAMES
        ).attributes
