"""Ranking slots by doubtful labels."""

from annotation.algorithms.fields.noisy_labels import DoubtfulLabel, rank_slots
from clustering.algorithms.slots.finding import DataSlot, SlotFinder
from tests.algorithms.annotation.fields.pages import site_of_cells, truth

FINDER = SlotFinder(site_of_cells())
SLOTS = FINDER.find()


class TestPaper:
    def test_of_two_slots_the_one_with_more_labels_and_less_else_is_likelier(self) -> None:
        ranked = rank_slots(SLOTS, labels_of("price"), is_multi=False)

        assert shown_by(ranked[0].slot) == [page["price"] for page in truth(0)]
        assert ranked[0].is_trusted

    def test_wrong_labels_on_some_pages_do_no_harm(self) -> None:
        labels = labels_of("price")
        wrong = labels_of("maker")
        for page in (1, 4):
            labels[page] = labels[page] | wrong[page]

        ranked = rank_slots(SLOTS, labels, is_multi=False)

        assert shown_by(ranked[0].slot) == [page["price"] for page in truth(0)]

    def test_missing_labels_on_some_pages_do_no_harm(self) -> None:
        labels = labels_of("price")
        for page in (0, 2, 5):
            labels[page] = {}

        ranked = rank_slots(SLOTS, labels, is_multi=False)

        assert shown_by(ranked[0].slot) == [page["price"] for page in truth(0)]
        assert ranked[0].n_labelled == 5


def labels_of(field: str, weight: float = 1.0) -> dict[int, dict[int, DoubtfulLabel]]:
    """Return a label for each text that shows the field's value."""
    return {
        number: {
            text.number: DoubtfulLabel(weight)
            for text in FINDER.texts[number]
            if text.text.text in page[field]
        }
        for number, page in enumerate(truth(0))
    }


def shown_by(slot: DataSlot) -> list[list[str]]:
    return [slot.values(page)[:1] for page in range(slot.n_pages)]


def test_labels_that_agree_with_no_slot_are_not_trusted() -> None:
    price, maker = labels_of("price"), labels_of("maker")
    mixed = {page: (price if page % 2 else maker)[page] for page in price}

    ranked = rank_slots(SLOTS, mixed, is_multi=False)

    assert not any(entry.is_trusted for entry in ranked if not entry.slot.is_multi)


def test_two_labelled_pages_are_too_few() -> None:
    labels = {page: of_page for page, of_page in labels_of("price").items() if page < 2}

    assert not rank_slots(SLOTS, labels, is_multi=False)[0].is_trusted


def test_doubtful_labels_count_less() -> None:
    sure = rank_slots(SLOTS, labels_of("price"), is_multi=False)[0]
    doubtful = rank_slots(SLOTS, labels_of("price", 0.5), is_multi=False)[0]

    assert doubtful.log_likelihood < sure.log_likelihood


def test_certainty_grows_with_the_pages_that_agree() -> None:
    ranked = rank_slots(SLOTS, labels_of("price"), is_multi=False)[0]

    assert ranked.certainty == 9 / 10


def test_without_labels_there_is_nothing_to_rank() -> None:
    assert rank_slots(SLOTS, {}, is_multi=False) == []
