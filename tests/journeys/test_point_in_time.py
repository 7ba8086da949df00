"""PostgreSQL's own tools bring an installation back to a moment, as the documents say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests import servers
from tests.installation import MIGRATED_DATABASE, Installation, new_installation, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def documented(heading: str, number: int) -> dict[str, str]:
    """Return the settings of PostgreSQL in the block of that number below a heading."""
    _, _, section = OPERATIONS.read_text().partition(f"### {heading}\n")
    block = re.findall(r"```ini\n(.*?)```", section, re.DOTALL)[number]
    return dict(re.findall(r"(?m)^(\w+) = '?(.*?)'?$", block))


def all_rows(address: str) -> dict[str, list[tuple[Any, ...]]]:
    with psycopg.connect(address) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
        return {
            name: sorted(
                connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))),
                key=repr,
            )
            for (name,) in tables
        }


def test_the_moment_before_an_accident_comes_back_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MIGRATED_DATABASE, raising=False)  # it is of another server
    with servers.own_postgres() as server:
        log, base = server.folder / "log", server.folder / "base"
        run = servers._command_runner(server.folder)
        run(["mkdir", log])
        keep_log(server, log)
        with new_installation(tmp_path / "var", database_url=server.address) as installation:
            add_site(installation, "before")
            address = installation.database_url
            connect = ["--host", "127.0.0.1", "--port", server.port, "--username", "vertex"]
            run(
                [
                    server.binaries / "pg_basebackup",
                    *connect,
                    "--checkpoint",
                    "fast",
                    "--pgdata",
                    base,
                ]
            )
            add_site(installation, "wanted")
            wanted = all_rows(address)
            (moment,) = ask(address, "SELECT clock_timestamp()::text")
            installation.manage("delete_site", "wanted", "--yes")
            archive_all(address)
            assert wanted != all_rows(address)
            server.stop()

            restored_folder = server.folder / "restored"
            run(["mkdir", restored_folder])
            run(["cp", "--archive", base, restored_folder / "data"])
            restored = servers.PostgresServer(server.binaries, restored_folder, server.port)
            recover(restored, log, str(moment), run)
            try:
                wait_until(
                    lambda: ask(address, "SELECT pg_is_in_recovery()") == (False,), "the moment"
                )
                assert wanted == all_rows(address)
                add_site(installation, "after")
            finally:
                restored.stop()


def keep_log(server: servers.PostgresServer, log: Path) -> None:
    """Switch on what the documents say, with a folder of the test."""
    with psycopg.connect(server.address, autocommit=True) as connection:
        for name, value in documented("Back to a moment", 0).items():
            value_here = value.replace("/backup/log", str(log))
            statement = sql.SQL("ALTER SYSTEM SET {} = {}")
            connection.execute(statement.format(sql.Identifier(name), sql.Literal(value_here)))
    server.stop()
    server.start()


def recover(restored: servers.PostgresServer, log: Path, moment: str, run: Any) -> None:
    settings = documented("Back to a moment", 1) | {"recovery_target_time": moment}
    own = restored.folder / "data" / "postgresql.auto.conf"
    lines = [f"{name} = '{value}'" for name, value in settings.items()]
    own.write_text("\n".join([own.read_text(), *lines, ""]).replace("/backup/log", str(log)))
    run(["touch", restored.folder / "data" / "recovery.signal"])
    restored.start()


def add_site(installation: Installation, name: str) -> None:
    installation.manage("add_site", name, "--url", f"http://{name}.example/")


def ask(address: str, query: str) -> tuple[Any, ...]:
    with psycopg.connect(address, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return tuple(row)


def archive_all(address: str) -> None:
    """Close the part of the log that is being written, and wait until it is kept."""
    (last,) = ask(address, "SELECT pg_walfile_name(pg_current_wal_lsn())")
    ask(address, "SELECT pg_switch_wal()")
    query = "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver"
    wait_until(lambda: ask(address, query)[0] >= last, "the log to be kept")
