"""The child process of `limits`: it answers questions about pages until its parent closes the pipe.

It runs what people wrote, so it has little memory, may write no file, and is ended from outside.
"""

from __future__ import annotations

import resource
import signal
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson
from lxml import etree
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import PageTooLarge, parse_page
from clustering.dom.paths import element_paths
from rules.algorithms.by_hand.sandbox import StylesheetRefused, check_xpath, read_stylesheet
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import StylesheetFailed, extract_here, transform
from rules.algorithms.running.value_looks import ValueLooks
from rules.bundle.limits import MAX_ANSWER_BYTES, read_message, unpacked, write_message

MAX_NODES = 1_000  # that an XPath may select on a page
MAX_TEXT_CHARS = 64 * 1024  # of a node


def serve(cpu_seconds: int, memory: int) -> None:
    """Answer questions until the parent closes the pipe."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        # These go to the parent's whole group; the page at work would count as one that cannot be run.
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            question = read_message(questions)
        except EOFError:
            return
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime) + 1
        # The soft limit alone kills: nothing here handles its signal.
        resource.setrlimit(resource.RLIMIT_CPU, (used + cpu_seconds, resource.RLIM_INFINITY))
        form = orjson.loads(question)
        # A shorter limit of the question itself: its signal kills, too.
        signal.setitimer(signal.ITIMER_PROF, form.get("seconds") or 0)
        answer = orjson.dumps(answer_question(form))
        signal.setitimer(signal.ITIMER_PROF, 0)
        if len(answer) > MAX_ANSWER_BYTES:
            why = (
                f"what it makes of the page has {len(answer):,} bytes; "
                f"at most {MAX_ANSWER_BYTES:,} are taken"
            )
            answer = orjson.dumps({"stopped": why})
        write_message(answers, answer)


def answer_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found, or why it was refused or stopped."""
    run: Callable[[Mapping[str, Any], RawPage], object] = _RUNS[question["kind"]]
    try:
        return {"found": [run(question, page) for page in unpacked(question["pages"])]}
    except StylesheetRefused as refused:
        return {"refused": str(refused)}
    except (MemoryError, RecursionError):
        return {"stopped": "it needs more memory than it may have"}
    except (etree.XPathError, etree.XSLTError) as error:
        return {"stopped": f"it fails while it runs: {error}"}


def _run_xpath(question: Mapping[str, Any], page: RawPage) -> list[tuple[str, str]]:
    tree = _tree_of(page)
    if tree is None:
        return []
    nodes = check_xpath(question["text"])(tree)
    if not isinstance(nodes, list):
        raise StylesheetRefused(
            f"{question['text']!r} gives a {type(nodes).__name__.lstrip('_')}, not nodes"
        )
    return [_path_and_text(node) for node in nodes[:MAX_NODES]]


def _tree_of(page: RawPage) -> HtmlElement | None:
    try:
        return parse_page(page.body, page.content_type).tree
    except PageTooLarge as error:
        raise StylesheetRefused(f"a page is too large: {error}") from None


def _path_and_text(node: Any) -> tuple[str, str]:  # XPath selects elements, texts and attributes
    """Return the path of a node and its text."""
    if isinstance(node, str):
        owner: _Element = node.getparent()  # type: ignore[attr-defined]  # lxml's string knows its parent
        return _path_of_string(node, owner), node[:MAX_TEXT_CHARS]
    return element_paths([node])[0], str(node.xpath("string()"))[:MAX_TEXT_CHARS]


def _path_of_string(node: Any, owner: _Element) -> str:  # lxml's string
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


def _run_stylesheet(question: Mapping[str, Any], page: RawPage) -> str:
    tree = _tree_of(page)
    if tree is None:
        return b64encode(b"<record/>").decode()
    stylesheet = b64decode(question["text"]).decode("utf-8", "replace")
    try:
        result = transform(stylesheet, tree, nodes=question["provenance"])
    except StylesheetFailed as error:
        raise StylesheetRefused(str(error)) from None
    return b64encode(bytes(result)).decode()


def _extract(question: Mapping[str, Any], page: RawPage) -> Extracted:
    """Return the records of a page by a rule that somebody wrote."""
    form = question["rule"]
    attributes = [AttributeType.from_json(entry) for entry in form["attributes"]]
    looks = {name: ValueLooks.from_json(of_name) for name, of_name in form["looks"].items()}
    rule = RunnableRule(**form | {"attributes": attributes, "is_by_hand": False, "looks": looks})
    _check(rule.stylesheet)
    return extract_here(page, rule, nodes=question["nodes"], votes=question["votes"])


@lru_cache(maxsize=64)
def _check(stylesheet: str) -> None:
    """Check a stylesheet by the sandbox, once. Raises StylesheetRefused."""
    read_stylesheet(stylesheet.encode())


_RUNS: dict[str, Callable[[Mapping[str, Any], RawPage], object]] = {
    "xpath": _run_xpath,
    "xslt": _run_stylesheet,
    "extract": _extract,
}


def _refuse_connections(event: str, _arguments: tuple[Any, ...]) -> None:
    """Refuse whatever would reach out of the process: a rule needs nothing but its page."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        raise PermissionError("a rule connects to nothing")


if __name__ == "__main__":
    sys.addaudithook(_refuse_connections)
    serve(int(sys.argv[1]), int(sys.argv[2]))
