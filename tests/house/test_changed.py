"""`make check` runs the tests of changes: those beside the files, then the nearest importers."""

import pytest

from tests.changed import MAX_TEST_FILES, changed_files, choose


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (
            "clustering/algorithms/published/shingles.py",
            "tests/algorithms/clustering/published/test_shingles.py",
        ),
        ("clustering/dom/page.py", "tests/algorithms/clustering/dom/test_page.py"),
        ("vertex/core/services/jobs/jobs.py", "tests/apps/core/jobs/test_jobs.py"),
        ("vertex/running/health.py", "tests/apps/vertex/running/test_health.py"),
        ("tests/apps/core/jobs/test_jobs.py", "tests/apps/core/jobs/test_jobs.py"),
    ],
)
def test_the_test_of_the_same_path_comes_first(changed: str, expected: str) -> None:
    assert expected == choose([changed]).run[0]


def test_a_template_is_tested_with_its_room() -> None:
    tests = choose(["templates/core/jobs/jobs.html"]).run

    assert "tests/apps/core/jobs/test_job_views.py" in tests
    assert {"tests/apps/core/jobs"} == {test.rpartition("/")[0] for test in tests}


def test_tests_that_import_what_changed_follow() -> None:
    tests = choose(["clustering/algorithms/measures.py"]).run

    assert "tests/algorithms/clustering/test_measures.py" == tests[0]
    assert len(tests) > 1


def test_what_the_tests_share_is_tested_by_those_that_use_it() -> None:
    choice = choose(["tests/apps/clustering/api_cast.py"])

    assert "tests/apps/core/api/test_api_routes.py" in [*choice.run, *choice.left_out]


def test_no_more_than_a_minute_of_tests_is_run_and_the_others_are_named() -> None:
    choice = choose(["clustering/dom/page.py"])

    assert MAX_TEST_FILES == len(choice.run)
    assert len(choice.left_out) > 0
    assert set() == set(choice.run) & set(choice.left_out)


def test_a_document_has_no_tests_but_those_of_the_house() -> None:
    assert [] == choose(["docs/glossary.md"]).run


def test_changed_files_are_below_the_root() -> None:
    assert not any(name.startswith(("/", "..")) for name in changed_files())
