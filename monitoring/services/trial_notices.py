"""Try whether notices arrive where a channel leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from clustering.fetching.client import open_fetcher
from clustering.services import audit
from monitoring.models import Alert, Notice
from monitoring.services.messages import Failure, Message, send_message

if TYPE_CHECKING:
    from clustering.fetching.client import Fetcher
    from clustering.models import Site, User
    from monitoring.models import Channel

TEXT = "This is a test: no site has changed. Notices of alerts come this way."


def send_trial(
    *, channel: Channel, site: Site, actor: User | None = None, fetcher: Fetcher | None = None
) -> str:
    """Send a message over a channel at once; return why it did not arrive, blank where it did."""
    now = timezone.now()
    alert = Alert(site=site, kind=Alert.Kind.WARNING, text=TEXT, raised_at=now)
    notice = Notice(alert=alert, channel=channel, event=Notice.Event.RAISED)
    with fetcher or open_fetcher() as client:
        answer = send_message(
            channel, Message(f"test-{channel.pk}-{now:%Y%m%d%H%M%S}", [notice], now), client
        )
    error = answer.error if isinstance(answer, Failure) else ""
    audit.record(
        actor=actor, action="channel.tried", subject=str(channel), site=channel.site, detail={"error": error}
    )
    return error
