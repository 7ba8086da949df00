"""The run of all tests: where the second pass looks, and what a failed test gets."""

import sys
from pathlib import Path

import pytest

from tests.__main__ import (
    MOST_RUN_AGAIN,
    TESTS_FAILED,
    Step,
    end_of,
    files_of_the_second_pass,
    run,
    run_failed_again,
    start_beside,
)


def test_the_second_pass_runs_the_files_that_are_marked() -> None:
    chosen = files_of_the_second_pass()

    assert "tests/apps/core/jobs/test_jobs.py" in chosen
    assert "tests/house/test_migrations.py" in chosen
    assert "tests/house/test_words.py" not in chosen


def test_a_step_beside_says_at_its_turn_what_it_said(capfd: pytest.CaptureFixture[str]) -> None:
    program = "print('[x]' * 100_000); raise SystemExit(3)"  # more than a pipe holds
    beside = start_beside(Step("chatter", [sys.executable, "-c", program]))
    assert 3 == beside.process.wait()  # nobody reads meanwhile

    assert "[x]" not in capfd.readouterr().err
    assert 3 == end_of(beside)
    assert 100_000 == capfd.readouterr().err.count("[x]")


class TestFailedTests:
    """Tests in files that another process runs, failing until a first attempt has left its mark."""

    UNSTEADY = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({n}))
def test_unsteady(number):
    attempt = Path(__file__).with_name(f"attempt_{{number}}")
    is_second = attempt.exists()
    attempt.touch()
    assert is_second and {passes}

def test_steady():
    assert True
"""

    def run(self, tmp_path: Path, n: int, *, passes: bool = True) -> tuple[int, list[str]]:
        (tmp_path / "test_shop.py").write_text(self.UNSTEADY.format(n=n, passes=passes))
        command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-c", "/dev/null"]
        command += ["--rootdir", str(tmp_path), str(tmp_path)]
        step = Step("shop", command, cache=tmp_path / "cache")
        return run_failed_again(step, run(step.first_command()))

    def test_one_that_passes_alone_is_named_and_stops_nothing(self, tmp_path: Path) -> None:
        status, unsteady = self.run(tmp_path, 1)

        assert (status, unsteady) == (0, ["test_shop.py::test_unsteady[0]"])

    def test_one_that_fails_again_fails_the_run(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, 1, passes=False) == (TESTS_FAILED, [])

    def test_many_are_a_fault_of_the_change(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, MOST_RUN_AGAIN + 1) == (TESTS_FAILED, [])

    def test_a_run_that_fails_before_its_tests_stays_failed(self, tmp_path: Path) -> None:
        step = Step("shop", [sys.executable, "-c", "raise SystemExit(1)"], cache=tmp_path / "cache")

        assert run_failed_again(step, run(step.first_command())) == (TESTS_FAILED, [])
