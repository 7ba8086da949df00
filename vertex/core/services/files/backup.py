"""Keep database and page store as one consistent set in a file, and bring them back.

The file is a tar archive: `backup.json` (when, which migrations, how many rows),
`rows/<app>.<model>.jsonl.zst` and `bodies/<name>.zst`. Rows are read from one state of the
database; the bodies they name cannot vanish meanwhile, because the page store is held. Nothing in
it depends on the make of the database: SQLite can be backed up and PostgreSQL restored.
"""

from __future__ import annotations

import base64
import fcntl
import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import zstandard
from django.apps import apps
from django.apps.registry import Apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from vertex.core.models import Installation, Site, User
from vertex.core.models.bodies import bodies_named
from vertex.core.storage import BodyDamaged, BodyMissing, PageStore, page_store

# The last two hold second factors, and who logs in by single sign-on.
OUR_APPS = ["core", "clustering", "annotation", "rules", "monitoring", "mfa", "socialaccount"]
FORMAT = 1
PARTIAL: Final = ".vertex-partial"  # ends the name of a backup that is being made
UNPACKED: Final = (
    "r:"  # how an archive is read: of one that is packed, a name could fill the memory
)
ROWS_AT_ONCE = 2_000
CHARACTERS_AT_ONCE = 64 * 1024 * 1024  # of rows that are restored together, or one row with more
MAX_BODY = 64 * 1024 * 1024
MAX_LINE = 256 * 1024 * 1024  # characters of a row
MAX_DESCRIPTION = 16 * 1024 * 1024  # bytes
MAX_WINDOW = 128 * 1024 * 1024  # bytes that a compressed file may ask for to be read
# What a tar archive with damaged contents raises on the way to the database.
DAMAGED = (tarfile.TarError, zstandard.ZstdError, EOFError, KeyError, ValueError)


class NotABackup(Exception):
    """The file is no backup that this version can read."""


class NotEmpty(Exception):
    """The installation already holds sites or people; a restore would mix them."""


def backup(file: Path, *, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Write everything into the file; return how much it was and which bodies were unreadable."""
    store = page_store()
    with (
        _written_beside(file) as stream,
        store.held(),
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        with consistent_reads():
            applied = sorted(MigrationExecutor(connection).loader.applied_migrations)
            rows = {name: _add_rows(archive, model) for name, model in _models(apps).items()}
            bodies = sorted(bodies_named())
        report(f"{sum(rows.values()):,} rows")
        damaged = [name for name in bodies if not _add_body(archive, store, name)]
        description = {
            "format": FORMAT,
            "made_at": timezone.now().isoformat(),
            "migrations": [key for key in applied if key[0] in OUR_APPS],
            "rows": rows,
            "n_bodies": len(bodies) - len(damaged),
            "damaged": damaged,
        }
        _add_bytes(archive, "backup.json", orjson.dumps(description, option=orjson.OPT_INDENT_2))
    return description


def restore(file: Path) -> dict[str, Any]:
    """Restore a backup into an empty installation and return what its `backup.json` says.

    The database is first brought to the state in which the backup was made, then upgraded.
    Raises NotEmpty and NotABackup; then the installation is still empty.
    """
    description = _description(file)
    call_command("migrate", verbosity=0)
    if User.objects.exists() or Site.objects.exists():
        raise NotEmpty("this installation already holds sites or people; restore into an empty one")
    state = _migrate_to(description["migrations"])
    try:
        with tarfile.open(file, UNPACKED) as archive:
            # The row that says whose the store is may have no table yet.
            _restore_bodies(archive, PageStore(page_store().folder))
        with tarfile.open(file, UNPACKED) as archive, transaction.atomic():
            _restore_rows(archive, state)
            _reset_sequences(state)
    except (*DAMAGED, TypeError, AttributeError, DataError, IntegrityError) as error:
        raise NotABackup(f"{file} is damaged: {type(error).__name__}: {error}") from None
    finally:
        call_command("migrate", verbosity=0)
    return description


@contextmanager
def _written_beside(file: Path) -> Iterator[BinaryIO]:
    """Give a file that takes the place of another one once all is written."""
    _remove_abandoned(file.parent)
    partial = file.with_name(f"{file.name}.{os.getpid()}{PARTIAL}")
    try:
        partial.touch(mode=0o600)  # it holds what passwords and tokens are checked against
        with partial.open("wb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)  # until it has its name, or its writer is dead
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove what backups to a folder left that were killed: nobody holds its lock."""
    for partial in folder.glob(f"*{PARTIAL}"):
        with suppress(OSError), partial.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()


@contextmanager
def consistent_reads() -> Iterator[None]:
    """Read one state of the database throughout, without holding up those who write."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")  # atomic() would take the write lock
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _models(registry: Apps) -> dict[str, type[models.Model]]:
    """Return our models by the name that their rows have in the archive.

    Which page store an installation has is its own: a restored one has another.
    """
    ours = (model for model in registry.get_models() if model._meta.app_label in OUR_APPS)
    own = Installation._meta.label_lower
    return {model._meta.label_lower: model for model in ours if model._meta.label_lower != own}


def _add_rows(archive: tarfile.TarFile, model: type[models.Model]) -> int:
    """Add a model's rows as compressed JSON lines and return how many they are."""
    fields = [field.attname for field in model._meta.concrete_fields]
    n_rows = 0
    with tempfile.TemporaryFile() as lines:
        with zstandard.ZstdCompressor(level=3).stream_writer(lines, closefd=False) as writer:
            rows = model._default_manager.order_by("pk").values(*fields)
            for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
                writer.write(orjson.dumps(row, default=_as_text) + b"\n")
                n_rows += 1
        _add_file(archive, f"rows/{model._meta.label_lower}.jsonl.zst", lines)
    return n_rows


def _as_text(value: object) -> str:
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} has no place in a backup")


def _add_body(archive: tarfile.TarFile, store: PageStore, name: str) -> bool:
    """Add a body after checking it; say whether it could be read."""
    try:
        body = store.read(name)
    except (BodyMissing, BodyDamaged):
        return False
    _add_bytes(archive, f"bodies/{name}.zst", zstandard.compress(body, 3))
    return True


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    _add_file(archive, name, io.BytesIO(content))


def _add_file(archive: tarfile.TarFile, name: str, file: Any) -> None:
    member = tarfile.TarInfo(name)
    member.size = file.seek(0, os.SEEK_END)
    member.mtime = int(datetime.now(UTC).timestamp())
    file.seek(0)
    archive.addfile(member, file)


def _description(file: Path) -> dict[str, Any]:
    try:
        with tarfile.open(file, UNPACKED) as archive:
            member = archive.extractfile("backup.json")
            description: dict[str, Any] = orjson.loads(
                member.read(MAX_DESCRIPTION) if member else b""
            )
            migrations = [(str(app), str(name)) for app, name in description["migrations"]]
            description |= {
                "migrations": migrations,
                "made_at": str(description["made_at"]),
                "n_bodies": int(description["n_bodies"]),
                "rows": {str(name): int(n) for name, n in description["rows"].items()},
            }
    except (*DAMAGED, TypeError, AttributeError) as error:
        raise NotABackup(f"{file} is not a complete backup: {error}") from None
    if description.get("format") != FORMAT:
        raise NotABackup(
            f"{file} has format {description.get('format')}; this version reads format {FORMAT}"
        )
    return description


def _migrate_to(migrations: list[list[str]]) -> Apps:
    """Migrate the empty database to the state of the backup and return the models of that state."""
    executor = MigrationExecutor(connection)
    wanted = {(app, name) for app, name in migrations}
    unknown = wanted - set(executor.loader.graph.nodes)
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in sorted(unknown))
        raise NotABackup(
            f"the backup was made by a later version: this one has no migration {names}"
        )
    last = [
        node
        for node in sorted(wanted)
        if not any(child.key in wanted for child in _children(executor, node))
    ]
    executor.migrate(last)
    return MigrationExecutor(connection).loader.project_state(last).apps


def _children(executor: MigrationExecutor, node: tuple[str, str]) -> list[Any]:
    return [
        child for child in executor.loader.graph.node_map[node].children if child.key[0] == node[0]
    ]


def _restore_bodies(archive: tarfile.TarFile, store: PageStore) -> None:
    for member in archive:
        if member.name.startswith("bodies/") and (file := archive.extractfile(member)):
            name = member.name.removeprefix("bodies/").removesuffix(".zst")
            body = _unpacked(file.read(MAX_BODY + 1))
            if store.put(body) != name:
                raise NotABackup(f"the body {name} in the backup is damaged")


def _unpacked(packed: bytes) -> bytes:
    """Unpack a body. Raises ZstdError where it is damaged or claims to be larger than any."""
    if zstandard.frame_content_size(packed) > MAX_BODY:
        raise zstandard.ZstdError("a body is larger than any page")
    return zstandard.decompress(packed, max_output_size=MAX_BODY)


def _restore_rows(archive: tarfile.TarFile, state: Apps) -> None:
    """Write all rows in one transaction: foreign keys are checked at its end."""
    models_by_name = _models(state)
    for member in archive:
        if member.name.startswith("rows/") and (file := archive.extractfile(member)):
            name = member.name.removeprefix("rows/").removesuffix(".jsonl.zst")
            with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(
                file
            ) as lines:
                _insert(
                    models_by_name[name], io.TextIOWrapper(lines, encoding="utf-8", newline="\n")
                )


def _insert(model: type[models.Model], lines: io.TextIOWrapper) -> None:
    batch: list[models.Model] = []
    n_characters = 0
    while line := lines.readline(MAX_LINE):
        if len(line) == MAX_LINE:
            raise NotABackup("a row in the backup is longer than any")
        batch.append(model(**_row(model, orjson.loads(line))))
        n_characters += len(line)
        if len(batch) == ROWS_AT_ONCE or n_characters > CHARACTERS_AT_ONCE:
            model._default_manager.bulk_create(batch)
            batch, n_characters = [], 0
    model._default_manager.bulk_create(batch)


def _row(model: type[models.Model], written: dict[str, Any]) -> dict[str, Any]:
    """Turn a written row back into values that the model takes."""
    row = {}
    for field in model._meta.concrete_fields:
        value = written[field.attname]
        if isinstance(field, models.BinaryField) and value is not None:
            value = base64.b64decode(value)
        elif isinstance(field, models.DateTimeField) and value is not None:
            value = datetime.fromisoformat(value)
        row[field.attname] = value
    return row


def _reset_sequences(state: Apps) -> None:
    """Set the sequences so that new rows get numbers after those restored.

    Tables of later versions are not there yet.
    """
    ours = list(_models(state).values())
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), ours):
            cursor.execute(statement)
