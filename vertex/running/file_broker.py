"""The broker that needs no server: a folder of messages that several workers share.

Kombu's own transport shows a message before it is written: of 3,000 messages that three idle
workers waited for, 144 were read empty and lost, each with an error. It also routes by a table of
its own that goes when the folder is emptied. Here messages appear complete and name their queue.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import Connection
from kombu.transport import TRANSPORT_ALIASES, filesystem

WRITTEN, UNWRITTEN, TAKEN = ".msg", ".unwritten", ".taken"
# Seconds after which a message is removed that a crash left half written or half read.
LEFT_AFTER = 60.0


class FolderChannel(filesystem.Channel):
    """Messages as files, written under another name first; renaming lets one worker take each."""

    def _put(self, queue: str, payload: dict[str, Any], **_options: object) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}_{secrets.token_hex(8)}.{queue}"
        unwritten = folder / f"{name}{UNWRITTEN}"
        unwritten.write_text(json.dumps(payload))
        unwritten.rename(folder / f"{name}{WRITTEN}")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002 - never waits
        for path in self._messages(queue):
            claimed_path = path.with_suffix(TAKEN)
            try:
                path.rename(claimed_path)
                written = claimed_path.read_text()
            except FileNotFoundError:
                continue  # another worker was faster, or somebody emptied the folder
            claimed_path.unlink(missing_ok=True)
            with contextlib.suppress(ValueError):  # cut off by a crash of the machine
                payload: dict[str, Any] = json.loads(written)
                return payload
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._messages(queue))

    def _purge(self, queue: str) -> int:
        messages = self._messages(queue)
        for path in messages:
            path.unlink(missing_ok=True)
        return len(messages)

    def _queue_bind(self, *_arguments: object) -> None:
        """Keep no table of routes: a message goes to the queue that it names."""

    def get_table(self, *_arguments: object) -> list[Any]:
        return []

    def _delete(self, queue: str, *_arguments: object, **_options: object) -> None:
        self._purge(queue)

    def _messages(self, queue: str) -> list[Path]:
        """Return a queue's messages, the oldest first."""
        folder, ending = Path(self.data_folder_in), f".{queue}{WRITTEN}"
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(folder)  # noqa: PTH208 - read many times a second
            return [folder / name for name in sorted(names) if name.endswith(ending)]
        return []


class Transport(filesystem.Transport):
    Channel = FolderChannel
    polling_interval = 0.05  # seconds

    def drain_events(self, connection: Connection, timeout: float | None = None) -> None:  # type: ignore[override]
        """Wait briefly for a message: only in between does a worker notice that it is to stop."""
        super().drain_events(connection, timeout=timeout and min(timeout, self.polling_interval))


def use_folder(folder: Path) -> dict[str, str]:
    """Register this transport as `filesystem://`; return its options for messages in a folder."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*folder.glob(f"*{UNWRITTEN}"), *folder.glob(f"*{TAKEN}")]:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - LEFT_AFTER:
                path.unlink()
    return {
        "data_folder_in": str(folder),
        "data_folder_out": str(folder),
        "control_folder": str(folder / "control"),
    }
