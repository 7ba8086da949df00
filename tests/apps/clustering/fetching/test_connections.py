"""What a host sends is read without holding up the others of the loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from clustering.fetching.connections import MAX_SILENCE, Connection, _Wire

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
N_PIECES = 40_000


@dataclass
class Neighbour:
    """Somebody else on the loop, who counts the turns that it gets."""

    n_turns: int = 0

    async def count(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.n_turns += 1


async def read_beside(neighbour: Neighbour, come: bytes) -> bytes:
    """Return the body of an answer that has come as a whole: nobody waits for any of it."""
    wire = _Wire()
    wire.data_received(come)
    connection = Connection(wire, MAX_SILENCE)
    counting = asyncio.create_task(neighbour.count())
    try:
        await connection.ask("GET", "/", [("Host", "shop.example")], b"")
        neighbour.n_turns = 0
        return b"".join([piece async for piece in connection.body()])
    finally:
        counting.cancel()


def test_a_body_of_tiny_pieces_leaves_others_their_turns() -> None:
    neighbour = Neighbour()

    answer = HEAD + b"1\r\nx\r\n" * N_PIECES + b"0\r\n\r\n"
    with ThreadPoolExecutor(1) as other_thread:  # this one may have a loop already, the browser's
        body = other_thread.submit(lambda: asyncio.run(read_beside(neighbour, answer))).result()

    assert b"x" * N_PIECES == body
    assert neighbour.n_turns > 1
