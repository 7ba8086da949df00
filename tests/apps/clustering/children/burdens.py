"""What a page might do to the process that reads it: called in children, so without Django."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

from clustering.dom.links import read_links
from clustering.dom.page import parse_page
from clustering.services.clusters.observer_child import observe_bodies


def length(body: bytes, content_type: str = "", *, times: int = 1) -> list[object]:
    return [len(body) * times, content_type, os.getpid()]


def back(body: bytes) -> bytes:
    return body


def endless(body: bytes, _content_type: str = "") -> int:
    while body:
        pass
    return 0


def use_up_the_processor() -> None:
    """End the child as the kernel does when its seconds are over, but at once.

    `endless` waits for the kernel.
    """
    os.kill(os.getpid(), signal.SIGXCPU)


def heavy(_body: bytes, _content_type: str = "") -> None:
    use_up_the_processor()


def heavy_sheet(body: bytes, _content_type: str, _url: str) -> bytes:
    use_up_the_processor()
    return body


def endless_where_long(body: bytes) -> None:
    while len(body) > 100:
        pass


def waits(_body: bytes) -> None:
    signal.pause()


def greedy(body: bytes, _content_type: str = "") -> int:
    return len(body * 3 * 1024**3)


def confused(_body: bytes) -> None:
    """Raise what Python raises now and then where an allocation fails."""
    taken = []
    try:
        while True:
            taken.append(bytearray(1024**2))
    except MemoryError:
        raise TypeError("'frame' object is not callable") from None


def parses(n_elements: int) -> int:
    """Parse a page whose tree is larger than a child's memory."""
    tree = parse_page(b"<html><body>" + b"<p>1<i>2</i>" * n_elements).tree
    return 0 if tree is None else len(tree)


def crash(_body: bytes) -> None:
    os.abort()


def wrong(_body: bytes) -> None:
    raise LookupError("no such thing")


def talks(_body: bytes, size: int) -> str:
    return "x" * size


def lies(_body: bytes) -> None:
    """Claim an answer of more bytes than there are in the world."""
    os.write(1, b"\xff" * 8)
    signal.pause()


def writes(_body: bytes, path: str) -> None:
    Path(path).write_text("here")


def connects(_body: bytes, port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()


def read_links_unless_heavy(bodies: bytes, pages: list[tuple[int, str, str]]) -> list[Any]:
    """Read the links of pages; one that says that it is heavy uses up the processor instead."""
    if b"heavy" in bodies:
        use_up_the_processor()
    if b"odd" in bodies:
        raise LookupError("no such thing")
    return read_links(bodies, pages)


def heavy_whatever(_body: bytes, *_what: object) -> None:
    use_up_the_processor()


def lists_unless_heavy(body: bytes, *_what: object) -> tuple[list[Any], str]:
    """Find nothing; a page that says that it is heavy uses up the processor."""
    if b"heavy" in body:
        use_up_the_processor()
    return [], ""


def observe_unless_heavy(bodies: bytes, pages: Any, algorithm: Any, parameters: Any) -> bytes:
    """Observe pages, but for one that says that it is heavy, which uses up the processor."""
    if b"heavy" in bodies:
        use_up_the_processor()
    return observe_bodies(bodies, pages, algorithm, parameters)


def observe_what_is_light(bodies: bytes, pages: Any, algorithm: Any, parameters: Any) -> bytes:
    """Observe pages; whoever hands one over that is heavy has read it."""
    if b"heavy" in bodies:
        raise LookupError("a heavy page was read")
    return observe_bodies(bodies, pages, algorithm, parameters)
