"""What was observed of pages, kept in files."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import Settings

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.packed_observations import observe_packed
from clustering.models import Snapshot
from clustering.services.clusters import observer_processes
from clustering.services.clusters.observation_store import observation_store, sweep_observations
from clustering.services.clusters.observer_processes import (
    count_missing,
    observe_few,
    observe_stored,
)
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.demo_sites import cluster, clusters_of, shop
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db


def files() -> list[Path]:
    return sorted(path for path in settings.OBSERVATION_DIR.rglob("*") if path.is_file())


def test_a_page_is_observed_once_whichever_algorithm_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    site = shop()
    first = clusters_of(cluster(site))
    assert 12 == len(files())
    monkeypatch.setattr(observer_processes, "_ask", None)  # whoever calls it fails

    assert first == clusters_of(cluster(site))
    assert None not in clusters_of(cluster(site, algorithm="shingles")).values()
    assert 12 == len(observe_few(stored_pages(site)))
    with pytest.raises(TypeError):
        list(observe_stored(stored_pages(site), "path_shingles", 1))


@pytest.mark.parametrize("damage", [b"", b"no page", None])
def test_what_is_damaged_is_observed_again(damage: bytes | None) -> None:
    pages = stored_pages(shop())
    before = observe_few(pages)
    whole = files()[0].read_bytes()
    files()[0].write_bytes(whole[:-5] if damage is None else damage)

    assert [seen.vector for seen in before] == [seen.vector for seen in observe_few(pages)]
    assert whole == files()[0].read_bytes()


def test_one_flipped_bit_is_found() -> None:
    pages = stored_pages(shop(n=1))
    observe_few(pages)
    path = files()[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    store = observation_store()

    damaged = [page for page in pages if store.read(page.body, page.content_type) is None]
    assert [path.name.partition(".")[0]] == [page.body for page in damaged]


def test_a_page_whose_bytes_are_gone_is_not_stored_as_an_empty_one() -> None:
    pages = stored_pages(shop(n=1))
    body = page_store().read(pages[0].body)
    page_store().delete(pages[0].body)

    assert observe_few(pages)[0].vector is None
    assert 1 == count_missing(pages)
    page_store().put(body)
    assert observe_few(pages)[0].vector is not None


def test_a_full_disk_stores_nothing_and_hinders_nobody(settings: Settings) -> None:
    pages = stored_pages(shop(n=2))
    enough, settings.MIN_FREE_MB = settings.MIN_FREE_MB, 1 << 40

    assert 4 == len(observe_few(pages))
    assert [] == files()
    settings.MIN_FREE_MB = enough
    observe_few(pages)
    assert 4 == len(files())


def test_the_sweep_deletes_what_belongs_to_no_page_and_to_no_version() -> None:
    site = shop(n=2)
    pages = stored_pages(site)
    observe_few(pages)
    now = timezone.now()
    page_store().delete(pages[0].body)
    remaining = [path for path in files() if not path.name.startswith(pages[0].body)]
    old_version = remaining[0].with_name(f"{pages[1].body}.00000000-12345678.obs")
    unfinished, left_behind = (remaining[0].with_name(f"{name}.tmp") for name in ("a", "b"))
    for path in (old_version, unfinished, left_behind):
        path.write_bytes(b"")
    os.utime(left_behind, (0, (now - timedelta(days=2)).timestamp()))

    assert 3 == sweep_observations(now=now)
    assert sorted([*remaining, unfinished]) == files()
    assert 0 == sweep_observations(now=now)


def test_one_page_in_two_encodings_is_two() -> None:
    store = observation_store()
    body = Snapshot(body="ab" * 32).body
    packed = observe_packed([RawPage("https://shop.example/", b"<p>x")])[0]
    store.write(body, "text/html; charset=utf-8", packed)

    assert store.has(body, "text/html; charset=utf-8")
    assert not store.has(body, "text/html; charset=koi8-r")
