"""No regular expression of the product takes long for any text.

It would hold the interpreter's lock meanwhile.
"""

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from clustering.values import recognising
from tests.conftest import IS_FULL
from tests.house.bad_texts import bad_texts
from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
LENGTH = 100_000  # characters
MAX_SECONDS = 0.1 if IS_FULL else 0.4  # of processor time; a busy machine counts double
FIRST_LENGTH = 1_500
SUSPICIOUS = 0.0006  # seconds for that many; what is quicker grows as it should, or by too little
TOO_SLOW = 10.0  # what stands for a time that was not waited for
N_WORST = 3
# What is never given a longer text, and why.
LONGEST_TEXT = {
    "clustering.values.recognising._COMPILED": recognising.MAX_TEXT_CHARS,
    "clustering.values.recognising._COMPILED_COLUMN": recognising.MAX_COLUMN_VALUE_CHARS,
}


class Expression(NamedTuple):
    """A compiled expression, with the methods by which it is used."""

    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


class TooSlow(Exception):
    """A match took seconds."""


def modules() -> Iterator[Any]:
    for app in APPS:
        package = importlib.import_module(app)
        for module in pkgutil.walk_packages(package.__path__, f"{app}."):
            is_page = ".migrations" in module.name or module.name.startswith("vertex.demo.")
            if not is_page and not module.name.endswith(("__main__", "spark")):
                yield importlib.import_module(module.name)


@cache
def methods_by_name(path: Path) -> dict[str, set[str]]:
    """Return by which methods each name of a module is used."""
    methods: defaultdict[str, set[str]] = defaultdict(set)
    for node in ast.walk(parse_source(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            methods[node.value.id].add(node.attr)
    return methods


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for entry in value.values():
            yield from patterns_in(entry, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for entry in value:
            yield from patterns_in(entry, depth + 1)


def expressions() -> Iterator[Expression]:
    seen = set()
    for module in modules():
        methods = methods_by_name(Path(module.__file__))
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                used = frozenset(methods.get(name, set())) & {
                    "match",
                    "fullmatch",
                    "search",
                    "finditer",
                    "findall",
                    "sub",
                    "split",
                    "subn",
                }
                key = (pattern.pattern, pattern.flags, used <= {"match", "fullmatch"})
                if key not in seen:
                    seen.add(key)
                    yield Expression(f"{module.__name__}.{name}", pattern, used)


def seconds_for(expression: Expression, text: str) -> float:
    """Return how long an expression takes for a text, as it is used."""
    subject: Any = text.encode() if isinstance(expression.pattern.pattern, bytes) else text
    begins_there = expression.methods and expression.methods <= {"match", "fullmatch"}

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * MAX_SECONDS)
    started = time.thread_time()
    try:
        if begins_there:
            for method in expression.methods:
                getattr(expression.pattern, method)(subject)
        else:
            for _ in expression.pattern.finditer(subject):
                pass
    except TooSlow:
        return TOO_SLOW
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.thread_time() - started


def slowness(expression: Expression) -> tuple[float, str]:
    """Return the longest time that an expression takes for one of its bad texts, and that text."""
    length = LONGEST_TEXT.get(expression.name, LENGTH)
    suspects = []
    for text in bad_texts(expression.pattern):
        seconds = seconds_for(expression, text.of_length(min(FIRST_LENGTH, length)))
        if seconds > SUSPICIOUS:
            suspects.append((seconds, text))
            if seconds > MAX_SECONDS:
                break
    worst = (0.0, "")
    for _, text in sorted(suspects, reverse=True)[:N_WORST]:
        long_text = text.of_length(length)
        seconds = seconds_for(expression, long_text)
        # Another process may have been given the processor's caches.
        if MAX_SECONDS < seconds < TOO_SLOW:
            seconds = min(seconds, seconds_for(expression, long_text))
        worst = max(worst, (seconds, repr(text)))
        if seconds > MAX_SECONDS:
            break
    return worst


def test_no_expression_is_slow_on_its_own_bad_texts() -> None:
    results = list(expressions())
    slow = {
        expression.name: (seconds, text)
        for expression in results
        for seconds, text in [slowness(expression)]
        if seconds > MAX_SECONDS
    }

    assert len(results) > 150
    assert {} == slow


@pytest.mark.parametrize(
    "pattern", [r"\s+$", r"(a+)+b", r"url\(\s*\w*\s*\)", r"<b>.*?</b>", r"(?:a|b|ab)*c"]
)
def test_slow_expressions_are_seen(pattern: str) -> None:
    assert slowness(Expression("control", re.compile(pattern), frozenset()))[0] > MAX_SECONDS


def test_what_is_used_at_the_beginning_only_is_judged_there() -> None:
    assert (
        slowness(Expression("control", re.compile(r"\s+\Z"), frozenset({"match"})))[0] < MAX_SECONDS
    )
