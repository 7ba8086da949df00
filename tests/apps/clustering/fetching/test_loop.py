"""What takes long holds up nothing of another kind."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

from clustering.fetching.loop import MAX_BROWSERS, do_in_thread, do_with_browser, wait_for

N_PAGES = 40  # more than there are threads for anything


def test_pages_that_browsers_draw_hold_up_no_other_work() -> None:
    is_over, lock = threading.Event(), threading.Lock()
    n_at_once: list[int] = []
    under_way: set[int] = set()

    def draw(page: int) -> None:
        with lock:
            under_way.add(page)
            n_at_once.append(len(under_way))
        is_over.wait(60)
        with lock:
            under_way.discard(page)

    async def read_a_page_meanwhile() -> str:
        drawing = [
            asyncio.create_task(do_with_browser(partial(draw, page))) for page in range(N_PAGES)
        ]
        read = await do_in_thread(lambda: "waits for browsers" if is_over.is_set() else "read")
        is_over.set()
        await asyncio.gather(*drawing)
        return read

    assert wait_for(read_a_page_meanwhile()) == "read"
    assert len(n_at_once) == N_PAGES
    assert max(n_at_once) <= MAX_BROWSERS
