"""How found records are compared with the truth in the benchmarks."""

import pytest

from benchmarks.records.scoring import Truth, f_score

WHOLE = Truth(((0, 10), (10, 20), (20, 30)), is_whole=True)
CORES = Truth(((2, 5), (12, 15)), is_whole=False)


@pytest.mark.parametrize(
    ("truth", "found", "expected"),
    [
        (WHOLE, [(0, 10), (10, 20), (20, 30)], 1),
        (WHOLE, [(0, 9), (10, 20), (20, 30)], 1),
        (WHOLE, [(0, 5), (10, 15), (20, 25)], 0),
        (WHOLE, [(0, 10), (10, 20), (20, 30), (30, 40)], 6 / 7),
        (WHOLE, [(0, 30)], 0),
        (WHOLE, [(0, 10), (0, 10), (0, 10)], 1 / 3),
        (CORES, [(0, 10), (10, 20)], 1),
        (CORES, [(0, 20)], 0),
        (CORES, [(3, 10), (10, 20)], 1 / 2),
        (WHOLE, [], 0),
        (Truth((), is_whole=True), [], 1),
        (Truth((), is_whole=True), [(0, 10)], 0),
    ],
)
def test_f_counts_true_records_that_were_found(
    truth: Truth, found: list[tuple[int, int]], expected: float
) -> None:
    assert f_score(truth, found) == pytest.approx(expected)
