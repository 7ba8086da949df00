"""Rooms are listed in docs/ARCHITECTURE.md and small enough to look over.

Tests stand where the modules do.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms import APPS, BEGIN, DOCUMENT, END, ROOT, first_sentence, rooms, tables
from tests.syntax import parse_source

MOST_FILES = 30
WIRING = {"__init__", "__main__", "apps", "urls", "tasks"}  # the same in every app
LISTED_PAGES = ROOT / "docs" / "benchmarks"  # a page for each benchmark, in the table of its README
SOURCES = (*APPS, "tests", "benchmarks", "templates", "docs")
PURE = ("dom", "values")
TESTS = ROOT / "tests"


def test_the_rooms_are_listed_as_they_are() -> None:
    listed = DOCUMENT.read_text().partition(BEGIN)[2].partition(END)[0]

    assert tables() == listed, "write them anew: python -m tests.rooms"


def test_rooms_are_found_with_their_sentence() -> None:
    assert "Jobs: create, claim, run and sweep them" in rooms()["vertex/core/services/jobs"]
    assert len(rooms()) > 60


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Find lists. Start at `finding`.", "Find lists."),
        ("Find lists.\n\nStart at `finding`.", "Find lists."),
        ("Print a rule as XSLT 1.0 text; pure.", "Print a rule as XSLT 1.0 text; pure."),
        ("Two\nlines", "Two lines"),
    ],
)
def test_the_first_sentence_ends_at_its_stop(docstring: str, expected: str) -> None:
    assert expected == first_sentence(repr(docstring))


@pytest.mark.parametrize("room", rooms())
def test_a_room_says_what_lives_there(room: str) -> None:
    assert rooms()[room].endswith(".")


@pytest.mark.parametrize("room", rooms())
def test_a_room_names_each_of_its_files(room: str) -> None:
    modules = [path.stem for path in (ROOT / room).glob("*.py") if path.stem not in WIRING]
    if len(modules) < 2:
        return

    missing = not_named(modules, (ROOT / room / "__init__.py").read_text())

    assert [] == missing, "the docstring of a room has a line for each file"


def test_a_word_of_the_first_sentence_names_no_file() -> None:
    source = repr("Pages and links.\n\nhosts  and more")

    assert ["links", "pages"] == not_named(["pages", "links", "hosts"], source)


def not_named(modules: list[str], source: str) -> list[str]:
    """Return the modules of a room that its docstring does not name after the first sentence."""
    text = " ".join((ast.get_docstring(parse_source(source)) or "").split())
    names = set(re.findall(r"\w+", text.removeprefix(first_sentence(source))))
    return sorted(set(modules) - names)


def folders() -> Iterator[Path]:
    for name in SOURCES:
        for folder in (ROOT / name, *(ROOT / name).rglob("*")):
            is_looked_over = not {"__pycache__", "static", "vendor"} & set(folder.parts)
            if folder.is_dir() and is_looked_over and folder != LISTED_PAGES:
                yield folder


def test_no_folder_is_too_large_to_look_over() -> None:
    large = [
        f"{folder.relative_to(ROOT)}: {n_files_in(folder)}"
        for folder in folders()
        if n_files_in(folder) > MOST_FILES
    ]

    assert [] == large


def test_the_largest_folders_are_counted() -> None:
    assert max(map(n_files_in, folders())) > 20


def n_files_in(folder: Path) -> int:
    return sum(1 for path in folder.iterdir() if path.is_file())


# Tests at the same path


def test_tests_of_pure_modules_are_named_after_them() -> None:
    """A module's tests are in `test_<module>.py`; many, in `test_<module>_<subject>.py`."""
    strays = [
        str(test.relative_to(ROOT))
        for test in (TESTS / "algorithms").rglob("test_*.py")
        if not any(
            test.stem == f"test_{module}" or test.stem.startswith(f"test_{module}_")
            for module in modules_tested_in(test.parent)
        )
    ]

    assert [] == strays


def test_tests_of_an_app_stand_in_a_room_of_it() -> None:
    strays = {
        str(test.parent.relative_to(ROOT))
        for test in (TESTS / "apps").rglob("test_*.py")
        if not is_room(test.parent.relative_to(TESTS / "apps"))
    }

    assert set() == strays


def test_a_room_that_does_not_exist_would_be_found() -> None:
    assert is_room(Path("core/jobs"))
    assert not is_room(Path("core/nowhere"))
    assert "jobs" not in modules_tested_in(TESTS / "algorithms" / "clustering" / "records")


def is_room(folder: Path) -> bool:
    """Return whether an app has a folder of this name, in one of its layers or beside them."""
    app, *parts = folder.parts
    root = ROOT / "vertex" / "core" if app == "core" else ROOT / app
    return any(
        path.is_dir() for path in (root.joinpath(*parts), *root.glob("/".join(["*", *parts])))
    )


def modules_tested_in(folder: Path) -> set[str]:
    """Return the names of the modules whose tests stand in a folder below tests/algorithms."""
    app, *parts = folder.relative_to(TESTS / "algorithms").parts
    if app == "benchmarks":
        return {path.stem for path in (ROOT / app).rglob("*.py")}
    root = ROOT / "vertex" / "core" if app == "core" else ROOT / app
    places = [root.joinpath(*parts), root.joinpath("algorithms", *parts)]
    return {path.stem for place in places for path in place.glob("*.py")}
