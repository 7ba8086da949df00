"""A file that is no backup is refused with a reason, in little memory, and nothing is restored."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test.utils import CaptureQueriesContext

from vertex.core.models import Site
from vertex.core.services.files import backup

pytestmark = pytest.mark.django_db(transaction=True)

MIGRATIONS = sorted(key for key in MigrationLoader(None).graph.nodes if key[0] in backup.OUR_APPS)
DESCRIPTION: dict[str, Any] = {
    "format": 1,
    "made_at": "2025-01-01T00:00:00",
    "migrations": MIGRATIONS,
    "rows": {"core.site": 1},
    "n_bodies": 1,
    "damaged": [],
}
ROWS = "rows/core.site.jsonl.zst"
BODY = f"bodies/{'0' * 64}.zst"


def tar(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "made-up.tar"
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def frame_that_claims(n_bytes: int) -> bytes:
    """Return a frame whose head says that so many bytes are in it."""
    return (
        b"\x28\xb5\x2f\xfd"
        + bytes([0b11000000, 0b01010000])
        + struct.pack("<Q", n_bytes)
        + b"\x01\x00\x00"
    )


def described(**changes: Any) -> bytes:
    """Return the description of a backup of this version, with changes."""
    return orjson.dumps(DESCRIPTION | changes)


def packed(content: bytes) -> bytes:
    return zstandard.compress(content)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"backup.json": b"[]"}, id="list for a description"),
        pytest.param({"backup.json": b"{}"}, id="empty description"),
        pytest.param({"backup.json": b'{"format": 1}'}, id="format only"),
        pytest.param({"backup.json": described(migrations=[1])}, id="number for a migration"),
        pytest.param({"backup.json": described(rows=[])}, id="list for counts of rows"),
        pytest.param({"backup.json": described(), ROWS: packed(b"[]\n")}, id="list for a row"),
        pytest.param({"backup.json": described(), ROWS: packed(b"{}\n")}, id="empty row"),
        pytest.param(
            {"backup.json": described(), ROWS: packed(b'{"id": []}\n')}, id="list for an id"
        ),
        pytest.param(
            {"backup.json": described(), "rows/core.nothing.jsonl.zst": packed(b"{}\n")},
            id="unknown model",
        ),
        pytest.param({"backup.json": described(), ROWS: b"no frame"}, id="rows not compressed"),
        pytest.param({"backup.json": described(), BODY: frame_that_claims(60 << 30)}, id="60 GB"),
        pytest.param({"backup.json": described(), BODY: packed(b"another body")}, id="other body"),
    ],
)
def test_a_made_up_backup_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(backup.NotABackup):
        backup.restore(tar(tmp_path, files))

    assert 0 == Site.objects.count()


def test_a_row_without_end_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "MAX_LINE", 1000)
    line = b'{"name": "' + b"x" * 100_000 + b'"}\n'

    with pytest.raises(backup.NotABackup, match="longer than any"):
        backup.restore(tar(tmp_path, {"backup.json": described(), ROWS: packed(line)}))


def test_a_packed_archive_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    whole = tar(tmp_path, {"backup.json": described()})
    packed_one = tmp_path / "packed.tar"
    packed_one.write_bytes(gzip.compress(whole.read_bytes()))

    with pytest.raises(backup.NotABackup, match="not a complete backup"):
        backup.restore(packed_one)


def test_long_rows_do_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("alpine", "boreas", "cobalt"):
        Site.objects.create(name=name, root_url=f"https://{name}.example/")
    lines = b"".join(orjson.dumps(row) + b"\n" for row in Site.objects.values())
    Site.objects.all().delete()
    monkeypatch.setattr(backup, "CHARACTERS_AT_ONCE", 10)

    with CaptureQueriesContext(connection) as asked:
        backup._insert(Site, io.TextIOWrapper(io.BytesIO(lines)))

    assert 3 == Site.objects.count()
    assert 3 == sum("INSERT" in query["sql"] for query in asked.captured_queries)
