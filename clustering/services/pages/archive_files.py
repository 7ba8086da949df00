"""Keep what an archive holds beside its pages: the style sheets, images and fonts of their looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils import timezone

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.models import Asset
from clustering.services.looks.asset_fetching import NoSuchFile, cleaned_file
from clustering.services.pages.source_pages import FoundFile
from vertex.core.models import Site
from vertex.core.storage import page_store


class PreparedFile(NamedTuple):
    """A file that is cleaned and in the page store."""

    file: FoundFile
    url: str  # normalised
    body: str
    content_type: str


def prepare_files(files: Sequence[FoundFile]) -> list[PreparedFile]:
    """Clean files and put them into the page store; those that no page can be drawn with are left out."""
    usable = []
    for file in files:
        try:
            url = normalise_url(file.url)
            body, content_type = cleaned_file(file.body, file.content_type, file.kind, url)
        except (BadAddress, NoSuchFile):
            continue
        usable.append((file, url, body, content_type))
    names = page_store().put_many([body for _, _, body, _ in usable]) if usable else []
    return [
        PreparedFile(file, url, name, content_type)
        for (file, url, _, content_type), name in zip(usable, names, strict=True)
    ]


def store_files(*, site: Site, prepared: Sequence[PreparedFile]) -> None:
    """Write down the files of an archive; those that are known already stay as they are."""
    now = timezone.now()
    Asset.objects.bulk_create(
        [
            Asset(
                site=site,
                url=url,
                url_hash=url_hash(url),
                kind=file.kind,
                body=body,
                n_bytes=len(file.body),
                content_type=content_type,
                is_from_archive=True,
                fetched_at=min(file.fetched_at or now, now),
            )
            for file, url, body, content_type in prepared
        ],
        ignore_conflicts=True,
    )
