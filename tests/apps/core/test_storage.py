"""Page bodies are kept whole under any kill, once each, and never handed out damaged."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.installation import PATIENCE
from vertex.core.models import Installation
from vertex.core.storage import (
    OWNER_FILE,
    BodyDamaged,
    BodyMissing,
    DiskFull,
    PageStore,
    StoreAway,
    page_store,
    read_owner,
    write_owner,
)

BODY = b"<p>A page.</p>" * 100
DAY = timedelta(days=1)


@pytest.fixture
def store(tmp_path: Path) -> PageStore:
    return PageStore(tmp_path / "pages")


def file_of(store: PageStore, name: str) -> Path:
    return store.folder / name[0] / f"{name}.zst"


def make_old(path: Path, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


class TestOwner:
    """A store that is not there, or another installation's, is told from one that lost a body."""

    @pytest.fixture
    def owned(self, store: PageStore) -> PageStore:
        write_owner(store.folder, "ours")
        return PageStore(store.folder, lambda _: "ours")

    def test_a_body_that_is_not_in_our_store_is_missing(self, owned: PageStore) -> None:
        with pytest.raises(BodyMissing):
            owned.read("0" * 64)

    @pytest.mark.parametrize("owner", ["", "theirs"])
    def test_in_no_store_or_theirs_nothing_is_missing_and_nothing_is_written(
        self, owned: PageStore, owner: str
    ) -> None:
        (owned.folder / OWNER_FILE).unlink()
        if owner:
            write_owner(owned.folder, owner)
        with pytest.raises(StoreAway):
            owned.read("0" * 64)
        with pytest.raises(StoreAway):
            owned.put(BODY)
        assert not owned.has(sha256(BODY).hexdigest())

    @pytest.mark.django_db
    def test_the_first_store_is_given_an_id_which_lasts(self, settings: Settings) -> None:
        name = page_store().put(BODY)

        assert Installation.objects.get().store == read_owner(settings.PAGE_STORE_DIR)
        assert BODY == page_store().read(name)

    @pytest.mark.django_db
    def test_a_store_that_is_older_than_the_row_keeps_its_id(self, settings: Settings) -> None:
        write_owner(settings.PAGE_STORE_DIR, "old")
        page_store().put(BODY)

        assert "old" == Installation.objects.get().store

    @pytest.mark.django_db
    def test_a_store_that_was_replaced_can_be_adopted(self, settings: Settings) -> None:
        page_store().put(BODY)
        shutil.rmtree(settings.PAGE_STORE_DIR)
        with pytest.raises(StoreAway):
            page_store().put(BODY)

        call_command("adopt_store")

        assert BODY == page_store().read(page_store().put(BODY))


class TestKeeping:
    def test_returns_what_was_put_under_its_hash(self, store: PageStore) -> None:
        name = store.put(BODY)
        assert sha256(BODY).hexdigest() == name
        assert BODY == store.read(name)
        assert store.has(name)
        assert file_of(store, name).stat().st_size < len(BODY) / 4

    @hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.binary(max_size=50)))
    def test_returns_many_in_order(self, store: PageStore, bodies: list[bytes]) -> None:
        names = store.put_many(bodies)
        assert bodies == [store.read(name) for name in names]

    def test_keeps_a_body_once(self, store: PageStore) -> None:
        names = store.put_many([BODY, b"other", BODY])
        assert names[0] == names[2] == store.put(BODY)
        assert sorted(set(names)) == list(store.names())

    def test_is_that_of_the_installation(self, settings: Settings, tmp_path: Path) -> None:
        settings.PAGE_STORE_DIR = tmp_path / "here"
        assert tmp_path / "here" == page_store().folder

    def test_takes_the_same_body_from_many_at_once(self, store: PageStore) -> None:
        with ThreadPoolExecutor(8) as writers:
            names = set(writers.map(store.put, [BODY] * 64))
        assert {sha256(BODY).hexdigest()} == names
        assert BODY == store.read(names.pop())
        assert [] == leftovers(store)


class TestDamage:
    @pytest.mark.parametrize("name", ["0" * 64, "", "../secret", "0" * 63 + "G", "a" * 65])
    def test_missing_body_has_a_name(self, store: PageStore, name: str) -> None:
        with pytest.raises(BodyMissing, match="restore a backup"):
            store.read(name)
        assert not store.has(name)

    @pytest.mark.parametrize(
        "content",
        [b"", b"rubbish", b"\x28\xb5\x2f\xfd\xa4\xff\xff\xff\xff\x00\x00", "half", "other"],
    )
    def test_is_told_and_mended_by_the_next_put(
        self, store: PageStore, content: bytes | str
    ) -> None:
        name = store.put(BODY)
        whole = file_of(store, name).read_bytes()
        other = file_of(store, store.put(b"other")).read_bytes()
        file_of(store, name).write_bytes(
            content if isinstance(content, bytes) else {"half": whole[:-9], "other": other}[content]
        )
        with pytest.raises(BodyDamaged, match=name):
            store.read(name)
        assert name == store.put(BODY)
        assert BODY == store.read(name)


class TestDeleting:
    def test_removes_a_body(self, store: PageStore) -> None:
        name = store.put(BODY)
        assert store.delete(name)
        assert not store.delete(name)
        assert not store.has(name)

    def test_leaves_what_is_young(self, store: PageStore) -> None:
        name = store.put(BODY)
        assert not store.delete(name, older_than=DAY)
        make_old(file_of(store, name), days=2)
        assert store.delete(name, older_than=DAY)

    def test_leaves_what_was_put_again(self, store: PageStore) -> None:
        name = store.put(BODY)
        make_old(file_of(store, name), days=2)
        store.put(BODY)
        assert not store.delete(name, older_than=DAY)

    def test_never_takes_a_body_that_a_writer_counts_on(self, store: PageStore) -> None:
        def sweep() -> None:
            while not is_over.is_set():
                for name in names:
                    if store.delete(name, older_than=DAY):
                        has_deleted.set()

        bodies = [b"%d" % number for number in range(20)]
        names = store.put_many(bodies)
        has_deleted, is_over = threading.Event(), threading.Event()
        with ThreadPoolExecutor(1) as sweeper:
            sweeping = sweeper.submit(sweep)
            try:
                for _ in range(20):
                    has_deleted.clear()
                    for name in names:
                        make_old_if_there(file_of(store, name))
                    assert has_deleted.wait(PATIENCE)  # the sweeper is in the middle of them
                    store.put_many(bodies)
                    assert all(store.has(name) for name in names)
            finally:
                is_over.set()
            sweeping.result()

    def test_waits_for_writers(self, store: PageStore) -> None:
        name = store.put(BODY)
        make_old(file_of(store, name), days=2)
        with ThreadPoolExecutor(1) as sweeper:
            with store._locked("writing"):
                deletion = sweeper.submit(store.delete, name, older_than=DAY)
                time.sleep(0.2)
                assert not deletion.done()
                os.utime(file_of(store, name))  # what the writer does to a body that is there
            assert not deletion.result()
        assert store.has(name)

    def test_waits_where_the_store_is_held(self, store: PageStore) -> None:
        def hold_exclusively() -> str:
            with store.held(exclusively=True):
                return "swept"

        with ThreadPoolExecutor(1) as sweeper:
            with store.held(), store.held():
                sweep = sweeper.submit(hold_exclusively)
                store.put(BODY)  # a writer goes on
                time.sleep(0.2)
                assert not sweep.done()
            assert "swept" == sweep.result()


class TestLeftovers:
    def test_of_killed_processes_go_after_a_day(self, store: PageStore) -> None:
        folder = file_of(store, store.put(BODY)).parent
        old, young = folder / "old.tmp", folder / "young.tmp"
        old.write_bytes(b"x")
        young.write_bytes(b"x")
        make_old(old, days=1.1)
        assert [sha256(BODY).hexdigest()] == list(store.names())
        assert [young] == leftovers(store)

    def test_of_a_failed_write_go_at_once(
        self, store: PageStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_descriptor: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            store.put(BODY)
        assert [] == leftovers(store)


class TestFullDisk:
    def test_ends_a_put_before_it_writes(self, store: PageStore, settings: Settings) -> None:
        settings.MIN_FREE_MB = store.n_free() // 2**20 + 10_000
        with pytest.raises(DiskFull, match="lower VERTEX_MIN_FREE_MB"):
            store.put(BODY)
        assert [] == list(store.names())
        settings.MIN_FREE_MB = 1
        assert store.read(store.put(BODY))

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
    def test_has_its_own_exception_and_breaks_nothing(
        self, settings: Settings, tmp_path: Path
    ) -> None:
        settings.MIN_FREE_MB = 0
        (folder := tmp_path / "small").mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "vertex", folder], check=False
        ).returncode:
            pytest.skip("this machine lets nothing be mounted")
        try:
            store = PageStore(folder)
            remaining = [store.put(os.urandom(300_000))]
            with pytest.raises(DiskFull, match="small"):
                store.put_many([os.urandom(300_000) for _ in range(5)])
            assert set(remaining) <= set(store.names())
            assert all(store.read(name) for name in store.names())
            assert [] == leftovers(store)
        finally:
            subprocess.run(["umount", folder], check=True)


WRITER = """
import os, random, sys
from pathlib import Path
import django
django.setup()
from vertex.core.storage import PageStore
store, seed = PageStore(Path(sys.argv[1])), int(sys.argv[2])
numbers = random.Random(seed)
while True:
    names = store.put_many([numbers.randbytes(200_000) for _ in range(8)])
    print(*names, sep="\\n", flush=True)
"""


def test_kill_in_the_middle_of_writing_breaks_nothing(store: PageStore, tmp_path: Path) -> None:
    """Every name that a writer told stands for a whole body, and so does every other name."""
    environment = os.environ | {
        "VERTEX_VAR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "vertex.settings",
    }
    results: list[str] = []
    n_half_written = n_kills = 0
    while n_kills < 3 or (n_half_written == 0 and n_kills < 20):
        command = [sys.executable, "-c", WRITER, str(store.folder), str(n_kills)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as writer:
            assert writer.stdout is not None
            results.append(writer.stdout.readline().strip())  # it is at work
            await_half_written(store, seconds=2)
            os.kill(writer.pid, signal.SIGKILL)
            results += writer.stdout.read().split()
        n_kills += 1
        n_half_written += len(leftovers(store))
    names = list(store.names())
    assert set(results) <= set(names)
    assert len(results) >= n_kills
    assert n_half_written > 0, "no writer was killed in mid-write; the test shows nothing"
    assert all(name == sha256(store.read(name)).hexdigest() for name in names)


def await_half_written(store: PageStore, *, seconds: float) -> None:
    """Return as soon as the writer is in the middle of a file, or after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not leftovers(store):
        pass


def leftovers(store: PageStore) -> list[Path]:
    return sorted(store.folder.rglob("*.tmp"))


def make_old_if_there(path: Path) -> None:
    with suppress(FileNotFoundError):
        make_old(path, days=2)


@pytest.fixture(autouse=True)
def small_reserve(settings: Settings) -> None:
    settings.MIN_FREE_MB = 1
