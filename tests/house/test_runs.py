"""What is marked for the second database is where the second pass looks."""

from pathlib import Path

from tests.__main__ import DATABASE_TESTS

ROOT = Path(__file__).resolve().parents[2]
MARKS = ("mark.both_databases", "mark.postgres", "mark.redis")


def marked() -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__) and any(mark in path.read_text() for mark in MARKS)
    ]


def test_tests_for_both_databases_are_where_the_second_pass_looks() -> None:
    assert [] == [name for name in marked() if not name.startswith(tuple(DATABASE_TESTS))]


def test_marked_tests_are_found() -> None:
    assert "tests/apps/core/jobs/test_jobs.py" in marked()
