"""Show a stored page: its rendering, and short-lived addresses of what it is drawn with.

The frame has no origin of its own and therefore no session: whoever fetches an asset shows a
signature over snapshot, body and time instead. A token, made for each time that a frame is shown,
lets its script run and tells its messages from all others.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.core.signing import BadSignature, TimestampSigner
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from lxml.html.builder import E

from clustering.dom.frame.rendering import FrameScript, render_body, render_page
from clustering.dom.page import PageTooLarge
from clustering.models import Asset, Snapshot, SnapshotAssets
from clustering.services.children.limits import ChildrenBusy
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.looks.asset_fetching import sheet_text
from clustering.services.looks.assets import unfinished_job
from vertex.core.models import Job, Role, User
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

MAX_TOKEN_AGE: Final = timedelta(hours=12)
MIN_SIGNATURE_AGE: Final = timedelta(hours=1)  # signatures last at least that, at most twice
_SIGNER: Final = "clustering.frame"


class FrameView(NamedTuple):
    """A page as the frame gets it."""

    body: bytes
    problem: str = ""


class FrameLine(NamedTuple):
    """The line below a frame: what it is drawn with."""

    site: str
    snapshot: int
    assets: SnapshotAssets | None
    has_files: bool  # whether anything came
    job: Job | None  # that is to fetch the assets
    may_fetch: bool


class AssetFile(NamedTuple):
    """An asset as it is handed out."""

    body: bytes
    content_type: str


class StoredFiles(NamedTuple):
    """The files that a page names, as they are stored."""

    assets: list[Asset]
    addresses: dict[str, tuple[str, str]]  # of the frame, with the kind, by URL

    def address_of(self, url: str, kind: str) -> str | None:
        """Return where the frame gets a file of this kind."""
        stored_kind, address = self.addresses.get(url, ("", ""))
        return address if stored_kind == kind else None

    def read_sheets(self) -> dict[str, str]:
        """Return the cleaned style sheets by URL."""
        sheets = {}
        for asset in self.assets:
            with suppress(BodyMissing, BodyDamaged):
                text = sheet_text(asset)
                if text is not None:
                    sheets[asset.url] = text
        return sheets


def make_token(snapshot: Snapshot) -> str:
    """Return a token for one showing of a snapshot."""
    return TimestampSigner(salt=_SIGNER).sign(f"{snapshot.pk}.{secrets.token_urlsafe(12)}")


def is_token_of(snapshot: Snapshot, token: str) -> bool:
    """Return whether a token was made for this snapshot, not long ago."""
    try:
        value = TimestampSigner(salt=_SIGNER).unsign(token, max_age=MAX_TOKEN_AGE)
    except BadSignature:
        return False
    return value.partition(".")[0] == str(snapshot.pk)


def line_of(snapshot: Snapshot, user: User) -> FrameLine:
    """Return the line below the frame of a snapshot."""
    site = snapshot.page.site
    assets = SnapshotAssets.objects.filter(snapshot=snapshot).first()
    return FrameLine(
        site=site.name,
        snapshot=snapshot.pk,
        assets=assets,
        has_files=assets is not None and assets.has_files,
        job=unfinished_job(snapshot),
        may_fetch=user.has_role(Role.EDITOR, site),
    )


def show_page(snapshot: Snapshot, *, script: FrameScript | None, now: datetime) -> FrameView:
    """Return the rendering of a snapshot; where it cannot be shown, a page that says why."""
    files = files_of(snapshot, now=now)
    try:
        body = call_on_page(
            snapshot,
            render_body,
            base_url=snapshot.final_url,
            addresses=files.addresses,
            sheets=files.read_sheets(),
            script=script,
        )
    except (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy, ChildrenBusy) as error:
        return _instead(str(error), script)
    return FrameView(body) if body else _instead("There is nothing on this page.", script)


def files_of(snapshot: Snapshot, *, now: datetime) -> StoredFiles:
    """Return what was stored of the files that a snapshot names."""
    snapshot_assets = SnapshotAssets.objects.filter(snapshot=snapshot).first()
    pks = snapshot_assets.assets if snapshot_assets is not None else []
    assets = list(Asset.objects.filter(pk__in=pks).exclude(body=""))
    addresses = {
        asset.url: (asset.kind, asset_address(snapshot.pk, asset.body, now=now)) for asset in assets
    }
    return StoredFiles(assets, addresses)


def asset_address(snapshot: int, body: str, *, now: datetime) -> str:
    """Return where the frame gets an asset; the same for an hour, so that browsers keep it."""
    period = int(MIN_SIGNATURE_AGE.total_seconds())
    expires = (int(now.timestamp()) // period + 2) * period
    return reverse(
        "frame_asset", args=[snapshot, expires, signature(snapshot, body, expires), body]
    )


def signature(snapshot: int, body: str, expires: int) -> str:
    """Return what lets a frame without session fetch an asset."""
    return salted_hmac(_SIGNER, f"{snapshot}:{body}:{expires}", algorithm="sha256").hexdigest()[:40]


def is_signed(snapshot: int, body: str, expires: int, signed: str, *, now: datetime) -> bool:
    """Return whether an asset may be handed out to whoever shows this."""
    return expires > now.timestamp() and constant_time_compare(
        signed, signature(snapshot, body, expires)
    )


def find_asset(snapshot: int, body: str) -> AssetFile | None:
    """Return an asset of a snapshot's site, None where it is gone."""
    asset = Asset.objects.filter(site__pages__snapshots=snapshot, body=body).first()
    if asset is None:
        return None
    try:
        return AssetFile(page_store().read(asset.body), asset.content_type)
    except (BodyMissing, BodyDamaged):
        return None


def _instead(problem: str, script: FrameScript | None) -> FrameView:
    tree = E.HTML(E.BODY(E.P(f"This page cannot be shown: {problem}")))
    return FrameView(render_page(tree, base_url="http://localhost/", script=script), problem)
