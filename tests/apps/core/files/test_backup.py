"""A backup brings back every row and every body, on an installation that was empty."""

from __future__ import annotations

import hashlib
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from clustering.models import Page, Snapshot
from vertex.core.models import Installation, Site, User
from vertex.core.services.files import backup
from vertex.core.storage import page_store

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def installation(settings: Settings, tmp_path: Path) -> None:
    """An installation with a person, a site, and a page whose snapshot points back to it."""
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    User.objects.create_user("ada", password="correct horse battery")
    site = Site.objects.create(
        name="shop", root_url="http://shop.example/", extra_hosts=["img.shop.example"]
    )
    url = "http://shop.example/ä"
    digest = hashlib.sha256(url.encode()).digest()[:16]
    page = Page.objects.create(site=site, url=url, given_url=url, url_hash=digest)
    page.latest_snapshot = Snapshot.objects.create(
        page=page,
        body=page_store().put(b"<p>kept</p>"),
        n_bytes=11,
        requested_url=url,
        final_url=url,
        fetched_at=timezone.now(),
        seen_at=timezone.now(),
    )
    page.save()


def all_rows() -> dict[str, list[dict[str, Any]]]:
    """Return all rows but the installation's: a backup does not say which page store is its own."""
    ours = [model for model in apps.get_models() if model._meta.app_label in backup.OUR_APPS]
    ours.remove(Installation)
    return {
        model._meta.label: [plain(row) for row in model._default_manager.order_by("pk").values()]
        for model in ours
    }


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: bytes(value) if isinstance(value, memoryview) else value
        for name, value in row.items()
    }


def wipe(settings: Settings, tmp_path: Path) -> None:
    call_command("flush", interactive=False, verbosity=0)
    settings.PAGE_STORE_DIR = tmp_path / "new"


def test_every_row_and_body_comes_back(
    installation: None, settings: Settings, tmp_path: Path
) -> None:
    before = all_rows()
    backup.backup(tmp_path / "all.tar")
    wipe(settings, tmp_path)
    assert Site.objects.count() == 0

    backup.restore(tmp_path / "all.tar")

    assert before == all_rows()
    assert page_store().read(Snapshot.objects.get().body) == b"<p>kept</p>"


def test_new_rows_get_new_numbers_after_a_restore(
    installation: None, settings: Settings, tmp_path: Path
) -> None:
    backup.backup(tmp_path / "all.tar")
    wipe(settings, tmp_path)
    backup.restore(tmp_path / "all.tar")

    assert (
        Site.objects.create(name="next", root_url="http://next.example/").pk
        > Site.objects.get(name="shop").pk
    )


def test_a_restore_never_mixes_with_what_is_there(installation: None, tmp_path: Path) -> None:
    backup.backup(tmp_path / "all.tar")
    before = all_rows()

    with pytest.raises(backup.NotEmpty):
        backup.restore(tmp_path / "all.tar")
    assert before == all_rows()


def test_a_cut_off_backup_is_refused_before_anything_changes(
    installation: None, settings: Settings, tmp_path: Path
) -> None:
    backup.backup(tmp_path / "all.tar")
    whole = (tmp_path / "all.tar").read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 2])
    wipe(settings, tmp_path)

    with pytest.raises(backup.NotABackup):
        backup.restore(tmp_path / "cut.tar")
    assert Site.objects.count() == 0


def test_a_lost_body_is_told_and_the_rest_is_saved(installation: None, tmp_path: Path) -> None:
    page_store().delete(Snapshot.objects.get().body)

    result = backup.backup(tmp_path / "all.tar")

    assert result["damaged"] == [Snapshot.objects.get().body]
    assert result["rows"]["core.site"] == 1


def test_rows_of_one_state_are_read_while_others_write(installation: None) -> None:
    def write() -> None:
        Site.objects.create(name="later", root_url="http://later.example/")
        connection.close()

    with backup.consistent_reads():
        n_sites = Site.objects.count()
        with ThreadPoolExecutor(1) as others:
            others.submit(write).result(10)
        assert Site.objects.count() == n_sites
    assert Site.objects.count() == n_sites + 1


def test_a_failed_backup_leaves_the_last_one(
    installation: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.backup(tmp_path / "all.tar")
    before = (tmp_path / "all.tar").read_bytes()

    def full(*_: object) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_add_body", full)
    with pytest.raises(OSError, match="No space left"):
        backup.backup(tmp_path / "all.tar")
    assert before == (tmp_path / "all.tar").read_bytes()
    assert [path.name for path in tmp_path.glob("*partial")] == []
    assert tarfile.is_tarfile(tmp_path / "all.tar")


def test_what_a_killed_backup_left_goes_with_the_next_one(
    installation: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "yesterday.tar.17.vertex-partial"
    killed.write_bytes(b"half")
    others = tmp_path / "film.partial"
    others.write_bytes(b"half")
    add_body = backup._add_body
    seen: list[bool] = []

    def back_up_beside(*arguments: Any) -> bool:
        if not seen:
            seen.append(killed.exists())
            backup.backup(tmp_path / "other.tar")
        return add_body(*arguments)

    monkeypatch.setattr(backup, "_add_body", back_up_beside)
    backup.backup(tmp_path / "all.tar")

    assert seen == [False]
    assert others.exists()
    assert tarfile.is_tarfile(tmp_path / "all.tar"), "one that is being made stays"
    assert tarfile.is_tarfile(tmp_path / "other.tar")


def test_only_its_owner_may_read_a_backup(installation: None, tmp_path: Path) -> None:
    backup.backup(tmp_path / "all.tar")

    assert (tmp_path / "all.tar").stat().st_mode & 0o777 == 0o600


def test_a_damaged_body_is_told_and_leaves_an_empty_installation(
    installation: None, settings: Settings, tmp_path: Path
) -> None:
    backup.backup(tmp_path / "all.tar")
    with tarfile.open(tmp_path / "all.tar") as archive:
        body = next(member for member in archive if member.name.startswith("bodies/"))
    damaged = bytearray((tmp_path / "all.tar").read_bytes())
    damaged[body.offset_data : body.offset_data + body.size] = bytes(body.size)
    (tmp_path / "all.tar").write_bytes(damaged)
    wipe(settings, tmp_path)

    with pytest.raises(backup.NotABackup, match="is damaged"):
        backup.restore(tmp_path / "all.tar")
    assert not User.objects.exists()
