"""Stored snapshots as pages and as trees."""

from __future__ import annotations

import pytest

from clustering.models import Snapshot
from clustering.services.pages.stored_trees import read_snapshot, read_tree
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db


def snapshot_of(body: bytes) -> Snapshot:
    page = page_of(site_of("shop"), body=body)
    assert page.latest_snapshot is not None
    return page.latest_snapshot


def test_a_snapshot_is_read_with_its_address() -> None:
    snapshot = snapshot_of(b"<p>Rope</p>")
    page = read_snapshot(snapshot)
    tree = read_tree(snapshot)

    assert page is not None
    assert tree is not None
    assert (snapshot.page.url, b"<p>Rope</p>") == (page.url, page.body)
    assert ["Rope"] == tree.xpath("//p/text()")


def test_a_snapshot_whose_bytes_are_gone_is_none() -> None:
    snapshot = snapshot_of(b"<p>Cord</p>")
    page_store().delete(snapshot.body)

    assert read_snapshot(snapshot) is None
    assert read_tree(snapshot) is None


def test_an_empty_snapshot_has_no_tree() -> None:
    assert read_tree(snapshot_of(b"")) is None
