"""Send messages to addresses that people gave, until they arrive.

A message is one row or several of a model that inherits `OutgoingMessage`. A tick of whoever owns
the model goes through those that are due by `send_in_time`, and for each of them:

1. claims its rows by `claim`, so that no other worker sends it;
2. sends it: by `post_signed`, or in a way of its own;
3. stores what came of that by `store_outcome`, which postpones a failure or gives the receiver up.

A message whose worker dies between is sent again once the claim is over.
"""

from __future__ import annotations

import base64
import hmac
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from clustering.fetching.client import Fetcher
from clustering.fetching.refusals import FetchRefused
from vertex.core.models.outbox import MessageState, OutgoingMessage
from vertex.core.texts import storable

MAX_TRIES: Final = 9  # over about a day
FIRST_WAIT: Final = timedelta(seconds=30)  # tripled with each failure
MAX_WAIT: Final = timedelta(hours=8)
LEASE: Final = timedelta(minutes=2)  # how long sending may take before another worker sends
MAX_SENDING_SECONDS: Final = 40.0  # of one tick
MAX_SECONDS_OF_SITE: Final = 5.0  # after which the others of the site wait for the next tick
MAX_ANSWER_SECONDS: Final = 15.0
MAX_ANSWER_BYTES: Final = 4096
MAX_ERROR_CHARS: Final = 300
GOOD, GONE = range(200, 300), 410

Message = TypeVar("Message")


class Arrival(NamedTuple):
    """A message that arrived."""

    status: int | None = None  # of HTTP, where the message was posted


class DeliveryFailure(NamedTuple):
    """A message that did not arrive."""

    error: str
    status: int | None = None
    is_hopeless: bool = False  # trying again would not help


def send_in_time(
    messages: Iterable[Message],
    send: Callable[[Message], bool],
    site_of: Callable[[Message], int | None],
) -> int:
    """Send messages for less than a minute; return how many arrived.

    `send` returns whether a message arrived. Those that are left wait for the next tick: also those
    of a site whose receivers are slow, so that the messages of other sites and the jobs of the
    queue have their turn.
    """
    until = monotonic() + MAX_SENDING_SECONDS
    seconds_by_site: defaultdict[int | None, float] = defaultdict(float)
    n_arrived = 0
    for message in messages:
        begun_at, site = monotonic(), site_of(message)
        if begun_at > until:
            break
        if seconds_by_site[site] > MAX_SECONDS_OF_SITE:
            continue
        n_arrived += send(message)
        seconds_by_site[site] += monotonic() - begun_at
    return n_arrived


def claim(row: OutgoingMessage, **columns: str) -> bool:
    """Claim a row for the time that sending may last; return whether nobody else did.

    The columns that are given are stored with the claim.
    """
    as_seen = type(row)._default_manager.filter(
        pk=row.pk, state=MessageState.DUE, next_try_at=row.next_try_at
    )
    n_claimed = as_seen.update(
        next_try_at=timezone.now() + LEASE, n_tries=F("n_tries") + 1, **columns
    )
    row.n_tries += n_claimed
    return bool(n_claimed)


def signing_key(salt: str, secret: str) -> bytes:
    """Return the key that signs what a receiver is sent.

    It follows from the installation's secret key and is in no table, so that no export holds it.
    """
    return salted_hmac(salt, secret, algorithm="sha256").digest()


def written_key(key: bytes) -> str:
    """Return a key as people hand it to the software that checks signatures.

    >>> written_key(b"key")
    'whsec_a2V5'
    """
    return "whsec_" + base64.b64encode(key).decode()


def signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message as Standard Webhooks have it.

    >>> signature(b"key", "msg_1", 1700000000, b"{}")
    'v1,XaXLFEFQ69Q4+demDWPEv5ydXczDW2mM5crCUEFcFBA='
    """
    signed = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, "sha256")
    return "v1," + base64.b64encode(signed).decode()


def post_signed(
    client: Fetcher, *, url: str, key: bytes, message_id: str, at: datetime, body: bytes
) -> Arrival | DeliveryFailure:
    """Post a message as Standard Webhooks have it; redirects are not followed."""
    timestamp = int(at.timestamp())
    try:
        answer = client.fetch(
            url,
            method="POST",
            headers={
                "Content-Type": "application/json",
                "webhook-id": message_id,
                "webhook-timestamp": str(timestamp),
                "webhook-signature": signature(key, message_id, timestamp, body),
            },
            content=body,
            max_redirects=0,
            max_bytes=MAX_ANSWER_BYTES,
            is_cut=True,
            seconds=MAX_ANSWER_SECONDS,
        )
    except FetchRefused as error:
        return DeliveryFailure(str(error))
    if answer.status in GOOD:
        return Arrival(answer.status)
    return DeliveryFailure(
        f"It answered with status {answer.status}.",
        status=answer.status,
        is_hopeless=answer.status == GONE,
    )


def store_outcome(
    rows: Sequence[OutgoingMessage], outcome: Arrival | DeliveryFailure, *, receiver: QuerySet[Any]
) -> bool:
    """Store what came of sending the claimed rows of a message; return whether it arrived.

    A failure postpones the rows. Where it is hopeless, or the last of many, they have failed, and
    the receiver is sent nothing more until a person resumes it. Rows that somebody else ended
    meanwhile stay as they are.
    """
    first, now = rows[0], timezone.now()
    due = type(first)._default_manager.filter(
        pk__in=[row.pk for row in rows], state=MessageState.DUE
    )
    if isinstance(outcome, Arrival):
        due.update(state=MessageState.DELIVERED, status=outcome.status, error="", finished_at=now)
        return True
    answer: dict[str, Any] = {
        "status": outcome.status,
        "error": storable(outcome.error, MAX_ERROR_CHARS),
    }
    if not outcome.is_hopeless and first.n_tries < MAX_TRIES:
        due.update(next_try_at=now + wait_after(first.n_tries), **answer)
        return False
    with transaction.atomic():
        due.update(state=MessageState.FAILED, finished_at=now, **answer)
        receiver.update(is_active=False)
    return False


def wait_after(n_tries: int) -> timedelta:
    """Return how long a message waits after so many tries.

    >>> [str(wait_after(n)) for n in (1, 2, 9)]
    ['0:00:30', '0:01:30', '8:00:00']
    """
    wait: timedelta = min(FIRST_WAIT * 3 ** (n_tries - 1), MAX_WAIT)
    return wait


def send_again(rows: QuerySet[Any]) -> int:
    """Make rows due now, as if they had never been tried; return how many."""
    return rows.update(
        state=MessageState.DUE, n_tries=0, next_try_at=timezone.now(), finished_at=None
    )
