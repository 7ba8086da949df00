"""Run what people wrote in a child process that is stopped where it takes too long or too much.

Neither signals nor a job's own time limit interrupt XPath and XSLT, which run in C. A limited child
answers questions by `limited_child`: it may use five seconds of processor time for each, less where
the question says so, and 1 GiB.
"""

from __future__ import annotations

import signal
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

from clustering.algorithms.grouping import RawPage
from clustering.services.children.limits import (
    CPU_SECONDS,
    MEMORY,
    PATIENCE_OF_JOBS,
    WALL_SECONDS,
    CallStopped,
    ChildrenBusy,
    LimitedChild,
    lent_child,
)
from rules.algorithms.by_hand.sandbox import StylesheetRefused, check_xpath, read_stylesheet
from rules.bundle.limited_child import answer_within, packed

RULES: Final = "rules"  # what these children are for: they keep nobody waiting who looks at a page


class RunStopped(Exception):
    """What was run took too long, too much memory, or crashed."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that an XPath selects: the path of its element, and its text."""

    path: str
    text: str


class LimitedRuns:
    """One child process, started when first asked, then asked again; use it as a context."""

    def __init__(
        self,
        *,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        memory: int = MEMORY,
        child: LimitedChild | None = None,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self.child = child or LimitedChild(
            cpu_seconds=cpu_seconds, wall_seconds=wall_seconds, memory=memory
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close()

    def find_nodes(self, xpath: str, pages: Sequence[RawPage]) -> list[list[FoundNode]]:
        """Return what a hand-written XPath selects on each page.

        Raises StylesheetRefused, RunStopped.
        """
        check_xpath(xpath)
        answer = self.ask({"kind": "xpath", "text": xpath, "pages": packed(pages)})
        return [[FoundNode(*node) for node in nodes] for nodes in answer]

    def transform(
        self, stylesheet: bytes, pages: Sequence[RawPage], *, provenance: bool = False
    ) -> list[bytes]:
        """Return what a hand-written stylesheet makes of each page.

        Raises StylesheetRefused, RunStopped.
        """
        read_stylesheet(stylesheet)
        text = b64encode(stylesheet).decode()
        question = {"kind": "xslt", "text": text, "provenance": provenance, "pages": packed(pages)}
        return [b64decode(result) for result in self.ask(question)]

    def ask(self, question: Mapping[str, Any]) -> list[Any]:
        """Return the child's answer, one for each page.

        Raises StylesheetRefused, RunStopped.
        """
        try:
            answer = self.child.call(answer_within, question, question.get("seconds") or 0)
        except CallStopped as stopped:
            raise RunStopped(self._why_stopped(stopped)) from None
        except ChildrenBusy:
            raise RunStopped("it did not come to an end in time") from None
        if "refused" in answer:
            raise StylesheetRefused(answer["refused"])
        if "stopped" in answer:
            self.child.close()  # the memory that it is left with may be too little for any page
            raise RunStopped(answer["stopped"])
        results: list[Any] = answer["found"]
        return results

    def _why_stopped(self, stopped: CallStopped) -> str:
        if stopped.status == -signal.SIGPROF:
            return "a learnt rule may run for one second on a page"
        if stopped.status in {-signal.SIGKILL, -signal.SIGXCPU}:
            return (
                f"it ran longer than {self._cpu_seconds} seconds; look for recursion, and for //… "
                "within a predicate, which is evaluated anew for each node"
            )
        return str(stopped)


@contextmanager
def borrowed_runs() -> Iterator[LimitedRuns]:
    """Lend a child of this process while the context lasts; wait where all are lent."""
    with lent_child(RULES, PATIENCE_OF_JOBS) as child:
        yield LimitedRuns(child=child)
