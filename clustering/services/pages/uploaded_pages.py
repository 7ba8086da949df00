"""Take what people upload from the browser and let a job import it as one source."""

from __future__ import annotations

import struct
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from django.conf import settings
from django.core.files import uploadedfile

from clustering.services.pages import archives, importing
from vertex.core.models import Job, Site, User
from vertex.core.services.files import uploads
from vertex.core.services.files.files import UnreadableFile
from vertex.core.services.jobs.requests import enqueue

UploadedFile: TypeAlias = "uploadedfile.UploadedFile[Any]"

MANIFEST_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
CHUNK = 1024 * 1024


class UnfitUploads(Exception):
    """The files cannot be imported together."""


def import_uploads(
    *, site: Site, files: Sequence[UploadedFile], base_url: str, actor: User | None
) -> Job:
    """Keep the files and create the job that imports them.

    One archive is taken as it is; a manifest and a zip become one zip; pages become a zip of pages.
    Raises UnfitUploads, UploadTooLarge, BadAddress, JobExists.
    """
    source = _kept(files)
    try:
        return enqueue(
            importing.import_request(site=site, source=source, base_url=base_url), actor=actor
        )
    except BaseException:  # no job will read the upload: it must not stay
        uploads.drop_upload(source)
        raise


def _kept(files: Sequence[UploadedFile]) -> Path:
    manifests = [file for file in files if _name(file).lower().endswith(MANIFEST_ENDINGS)]
    archives = [file for file in files if _is_archive(file)]
    if len(files) == 1 and archives:
        return _keep(archives[0])
    if len(manifests) == len(archives) == 1 and len(files) == len(manifests + archives):
        return _keep_with_manifest(archives[0], manifests[0])
    if archives:
        raise UnfitUploads("Hand in one archive at a time; only a manifest may come with it.")
    return _keep_together(files)


def _keep(file: UploadedFile) -> Path:
    return uploads.keep_upload(chunks=file.chunks(), name=_name(file))


def _keep_with_manifest(archive: UploadedFile, manifest: UploadedFile) -> Path:
    """Put the manifest into the zip that it speaks of."""
    path = _keep(archive)
    try:
        _add_manifest(path, manifest)
    except UnreadableFile as error:
        uploads.drop_upload(path)
        raise UnfitUploads(f"{error}.") from None
    except (zipfile.BadZipFile, ValueError, RuntimeError, OverflowError, struct.error):
        uploads.drop_upload(path)
        raise UnfitUploads(
            f"{_name(archive)} is not a zip: a manifest can only come with a zip."
        ) from None
    except BaseException:
        uploads.drop_upload(path)
        raise
    return path


def _add_manifest(path: Path, manifest: UploadedFile) -> None:
    if not zipfile.is_zipfile(path):  # one would be begun at the end of whatever it is
        raise zipfile.BadZipFile
    with path.open("rb") as raw:
        archives.check_directory(
            raw,
            path.name,
            max_entries=archives.MAX_ENTRIES,
            max_directory=archives.MAX_DIRECTORY,
        )
    with zipfile.ZipFile(path, "a") as whole:
        if any(PurePosixPath(name).name.startswith("manifest.jsonl") for name in whole.namelist()):
            raise UnfitUploads("The zip has a manifest already. Hand it in alone.")
        _write(whole, manifest, _manifest_name(manifest))


def _keep_together(files: Sequence[UploadedFile]) -> Path:
    """Keep pages, and perhaps their manifest, as one zip."""
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=settings.UPLOAD_DIR) as stream:
        with zipfile.ZipFile(stream, "w") as whole:
            for file in files:
                is_manifest = _name(file).lower().endswith(MANIFEST_ENDINGS)
                name = _manifest_name(file) if is_manifest else _name(file)
                if name in whole.namelist():
                    raise UnfitUploads(
                        f"Two of the files are named {name}. Hand them in one by one."
                    )
                _write(whole, file, name)
        stream.seek(0)
        label = _name(files[0]) if len(files) == 1 else f"{len(files)}-files"
        return uploads.keep_upload(chunks=_chunks(stream), name=f"{label}.zip")


def _write(whole: zipfile.ZipFile, file: UploadedFile, name: str) -> None:
    with whole.open(name, "w", force_zip64=True) as entry:
        for chunk in file.chunks():
            entry.write(chunk)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _is_archive(file: UploadedFile) -> bool:
    """Return whether a file is an archive, by its first bytes or, if compressed, by its name."""
    file.seek(0)
    first = file.read(8)
    file.seek(0)
    name = _name(file).lower()
    is_warc = first.startswith(b"WARC/") or name.endswith((".warc", ".warc.gz", ".warc.zst"))
    return is_warc or first.startswith(b"PK")


def _name(file: UploadedFile) -> str:
    return file.name or "upload"


def _manifest_name(manifest: UploadedFile) -> str:
    ending = next(end for end in MANIFEST_ENDINGS if _name(manifest).lower().endswith(end))
    return f"manifest{ending}"
