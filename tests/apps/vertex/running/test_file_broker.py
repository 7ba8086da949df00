"""The folder of messages: each is read whole, by one worker, and none is lost between many."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from vertex.running import file_broker


def channel_of(folder: Path) -> Any:
    options = file_broker.use_folder(folder)
    return Connection("filesystem://var", transport_options=options).default_channel


def take_all(channel: Any, queue: str) -> list[Any]:
    results = []
    while True:
        try:
            results.append(channel._get(queue))
        except Empty:
            return results


def test_messages_come_in_the_order_in_which_they_went(tmp_path: Path) -> None:
    channel = channel_of(tmp_path)
    for n in range(20):
        channel._put("keep", {"n": n})

    assert take_all(channel, "keep") == [{"n": n} for n in range(20)]


def test_each_queue_has_its_own_messages(tmp_path: Path) -> None:
    channel = channel_of(tmp_path)
    channel._put("keep", {"n": 1})
    channel._put("fetch", {"n": 2})

    assert (channel._size("keep"), channel._size("fetch")) == (1, 1)
    assert take_all(channel, "fetch") == [{"n": 2}]


def test_a_folder_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    channel = channel_of(tmp_path / "broker")
    shutil.rmtree(tmp_path / "broker")

    assert take_all(channel, "keep") == []
    channel._put("keep", {"n": 1})
    assert take_all(channel, "keep") == [{"n": 1}]


def test_a_message_that_was_cut_off_is_dropped_and_the_next_one_read(tmp_path: Path) -> None:
    channel = channel_of(tmp_path)
    channel._put("keep", {"n": 1})
    (cut_off,) = tmp_path.glob("*.msg")
    cut_off.write_text('{"n"')
    channel._put("keep", {"n": 2})

    assert take_all(channel, "keep") == [{"n": 2}]
    assert list(tmp_path.glob("*.*")) == []


def test_leftovers_of_a_crash_go_at_the_next_start(tmp_path: Path) -> None:
    old, young = tmp_path / "1_a.keep.unwritten", tmp_path / "2_b.keep.unwritten"
    old.write_text("")
    young.write_text("")
    now = time.time()
    os.utime(old, (now - 3600, now - 3600))
    os.utime(young, (now, now))

    file_broker.use_folder(tmp_path)

    assert (old.exists(), young.exists()) == (False, True)


def put_many(folder: Path, first: int, n: int) -> None:
    channel = channel_of(folder)
    for number in range(first, first + n):
        channel._put("keep", {"n": number})
        # The readers wait for each: what a kombu of its own shows them is empty at times.
        time.sleep(0.0005)


def read_many(folder: Path, numbers: Any, is_over: Any) -> None:
    channel = channel_of(folder)
    while not is_over.is_set():
        for message in take_all(channel, "keep"):
            numbers.put(message["n"])


@pytest.mark.slow
def test_between_many_workers_no_message_is_lost_or_read_twice(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("fork")
    numbers, is_over = processes.Queue(), processes.Event()
    writers = [
        processes.Process(target=put_many, args=(tmp_path, first, 400)) for first in (0, 400)
    ]
    readers = [
        processes.Process(target=read_many, args=(tmp_path, numbers, is_over)) for _ in range(3)
    ]
    for process in (*readers, *writers):
        process.start()
    try:
        read = sorted(numbers.get(timeout=60) for _ in range(800))
    finally:
        is_over.set()
        for process in (*readers, *writers):
            process.join()

    assert read == list(range(800))
    assert numbers.empty()
