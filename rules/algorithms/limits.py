"""Run what people wrote in a child process that is stopped where it takes too long or too much.

Neither signals nor a job's own time limit interrupt XPath and XSLT, which run in C. The child reads questions
from its standard input and answers on its standard output, JSON both ways; it may use five seconds of
processor time a question and 1 GiB, and may write no file. After MOST_QUESTIONS it is replaced.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Self

import orjson
from lxml import etree

from clustering.dom.page import PageTooLarge, parse_page
from clustering.dom.paths import element_paths
from rules.algorithms.run_rule import StylesheetFailed, transform
from rules.algorithms.sandbox import Refused, check_xpath, read_stylesheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lxml.etree import _Element
    from lxml.html import HtmlElement

CPU_SECONDS = 5
WALL_SECONDS = 15.0
MEMORY = 1024**3
MOST_QUESTIONS = 200
MOST_NODES = 1_000  # that an XPath may select on a page
MOST_TEXT = 64 * 1024  # characters of an answer that is kept for a node
N_LENGTH = 8  # bytes that tell the length of what follows


class Stopped(Exception):
    """What was run took too long, too much memory, or crashed."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that an XPath selects: the path of its element, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """A page as it is stored."""

    body: bytes
    content_type: str = ""


class LimitedRuns:
    """One child process, started when first asked, and asked again and again; use it as a context."""

    def __init__(self, *, cpu_seconds: int = CPU_SECONDS, wall_seconds: float = WALL_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._n_questions = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()
            child.wait()

    def find_nodes(self, xpath: str, pages: Sequence[Body]) -> list[list[FoundNode]]:
        """Return what a hand-written XPath selects on each page.

        Raises Refused, Stopped.
        """
        check_xpath(xpath)
        answer = self._ask({"kind": "xpath", "text": xpath, "pages": _packed(pages)})
        return [[FoundNode(*node) for node in nodes] for nodes in answer]

    def transform(self, stylesheet: bytes, pages: Sequence[Body], *, provenance: bool = False) -> list[bytes]:
        """Return what a hand-written stylesheet makes of each page.

        Raises Refused, Stopped.
        """
        read_stylesheet(stylesheet)
        text = b64encode(stylesheet).decode()
        question = {"kind": "xslt", "text": text, "provenance": provenance, "pages": _packed(pages)}
        return [b64decode(one) for one in self._ask(question)]

    def _ask(self, question: Mapping[str, Any]) -> list[Any]:
        with self._lock:
            child = self._ready_child()
            self._n_questions += 1
            timer = threading.Timer(self._wall_seconds, child.kill)
            timer.start()
            try:
                answer = _exchange(child, orjson.dumps(question))
            except (BrokenPipeError, EOFError):
                raise Stopped(self._why_ended(child)) from None
            finally:
                timer.cancel()
        if "refused" in answer:
            raise Refused(answer["refused"])
        if "stopped" in answer:
            raise Stopped(answer["stopped"])
        found: list[Any] = answer["found"]
        return found

    def _ready_child(self) -> subprocess.Popen[bytes]:
        if self._n_questions >= MOST_QUESTIONS or (self._child and self._child.poll() is not None):
            self.close()
        if self._child is None:
            self._n_questions = 0
            self._child = subprocess.Popen(  # noqa: S603  # nothing that anyone typed is among the arguments
                [sys.executable, "-m", "rules.algorithms.limits", str(self._cpu_seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),  # noqa: PTH100,PTH120  # two levels above this package
                env={"PATH": os.environ.get("PATH", ""), "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8"},
            )
        return self._child

    def _why_ended(self, child: subprocess.Popen[bytes]) -> str:
        self.close()
        if child.returncode in {-signal.SIGKILL, -signal.SIGXCPU}:
            return (
                f"it ran longer than {self._cpu_seconds} seconds; look for recursion, and for //… within"
                " a predicate, which is evaluated anew for each node"
            )
        return f"it ended its process (status {child.returncode}), most likely for want of memory"


def _packed(pages: Sequence[Body]) -> list[tuple[str, str]]:
    return [(b64encode(page.body).decode(), page.content_type) for page in pages]


def _exchange(child: subprocess.Popen[bytes], question: bytes) -> dict[str, Any]:
    if child.stdin is None or child.stdout is None:
        raise EOFError
    _write(child.stdin, question)
    answer: dict[str, Any] = orjson.loads(_read(child.stdout))
    return answer


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(N_LENGTH, "big") + message)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    head = stream.read(N_LENGTH)
    if len(head) < N_LENGTH:
        raise EOFError
    message = stream.read(int.from_bytes(head, "big"))
    if len(message) < int.from_bytes(head, "big"):
        raise EOFError
    return message


# What follows runs in the child.


def serve(cpu_seconds: int) -> None:
    """Answer questions until the parent closes its end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            question = _read(questions)
        except EOFError:
            return
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime) + 1
        # The soft limit alone kills: nothing here handles its signal.
        resource.setrlimit(resource.RLIMIT_CPU, (used + cpu_seconds, resource.RLIM_INFINITY))
        _write(answers, orjson.dumps(answer_question(orjson.loads(question))))


def answer_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found, or why it was refused or stopped."""
    run: Callable[[Mapping[str, Any], Body], object]
    run = _run_xpath if question["kind"] == "xpath" else _run_stylesheet
    try:
        return {"found": [run(question, Body(b64decode(body), kind)) for body, kind in question["pages"]]}
    except Refused as refused:
        return {"refused": str(refused)}
    except (MemoryError, RecursionError):
        return {"stopped": f"it needs more than {MEMORY / 2**30:g} GiB of memory"}
    except (etree.XPathError, etree.XSLTError) as error:
        return {"stopped": f"it fails while it runs: {error}"}


def _run_xpath(question: Mapping[str, Any], page: Body) -> list[tuple[str, str]]:
    tree = _tree_of(page)
    found = check_xpath(question["text"])(tree) if tree is not None else []
    if not isinstance(found, list):
        raise Refused(f"{question['text']!r} gives a {type(found).__name__}, not nodes")
    return [_told(node) for node in found[:MOST_NODES]]


def _tree_of(page: Body) -> HtmlElement | None:
    try:
        return parse_page(page.body, page.content_type).tree
    except PageTooLarge as error:
        raise Refused(f"a page is too large: {error}") from None


def _told(node: Any) -> tuple[str, str]:  # noqa: ANN401  # XPath selects elements, texts and attributes
    """Return the path of a node and its text."""
    if isinstance(node, str):
        owner: _Element = node.getparent()  # type: ignore[attr-defined]  # lxml's string knows its parent
        return _path_of_string(node, owner), node[:MOST_TEXT]
    return element_paths([node])[0], str(node.xpath("string()"))[:MOST_TEXT]


def _path_of_string(node: Any, owner: _Element) -> str:  # noqa: ANN401  # lxml's string
    if node.is_attribute:
        return f"{element_paths([owner])[0]}/@{node.attrname}"
    element = owner.getparent() if node.is_tail else owner
    if element is None:
        return ""
    number = 1 + len(list(_texts_before(owner, element))) if node.is_tail else 1
    return f"{element_paths([element])[0]}/text()[{number}]"


def _texts_before(sibling: _Element, parent: _Element) -> Iterator[str]:
    """Yield the text nodes of the parent that come before the tail of one of its children."""
    if parent.text:
        yield parent.text
    for child in sibling.itersiblings(preceding=True):
        if child.tail:
            yield child.tail


def _run_stylesheet(question: Mapping[str, Any], page: Body) -> str:
    tree = _tree_of(page)
    if tree is None:
        return b64encode(b"<record/>").decode()
    stylesheet = b64decode(question["text"]).decode("utf-8", "replace")
    try:
        result = transform(stylesheet, tree, nodes=question["provenance"])
    except StylesheetFailed as error:
        raise Refused(str(error)) from None
    return b64encode(bytes(result)).decode()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
