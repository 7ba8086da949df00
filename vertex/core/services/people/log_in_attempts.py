"""Check a password or the code after it, and make guessing slow without shutting its owner out.

Every failure is a row, so that all web processes count together. After a few failures an attempt
has to wait, longer each time, and an attempt that comes too early is neither tried nor counted.
Failures count three ways:

- by user name, whether there is such a user or not;
- by address, an IPv6 address by its /64 network;
- by device: a browser in which the person logged in before counts on its own. Whoever fills up the
  count of somebody's name from elsewhere therefore cannot keep that person out.

Codes of a second factor are counted in the same way and apart from passwords: whoever has the
password cannot set the count of codes back by entering it again.
"""

from __future__ import annotations

import ipaddress
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.core import signing
from django.core.cache import cache
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from vertex.core.models import LogInAttempt, User

FREE_BY_NAME = 5
FREE_BY_ADDRESS = 20
FIRST_WAIT = timedelta(seconds=15)
LONGEST_WAIT = timedelta(minutes=15)
COUNTED_FOR = timedelta(days=1)
DEVICE_KNOWN_FOR = timedelta(days=180)
DEVICE_SALT = "clustering.known_device"
BEGINS_BY_ADDRESS = 30  # log-ins by passkey or provider that one network begins
BEGINS_COUNTED_FOR = 60  # seconds
BEGUN_FOR = 600  # seconds that a log-in which was begun is kept
DEVICE_COOKIE = "vertex_device"


class WrongPassword(Exception):
    """No open account has this name and password; which of them is wrong is not told."""

    def __init__(self) -> None:
        super().__init__(
            "The user name or the password is wrong, or the account is closed. "
            "Passwords tell upper and lower case apart."
        )


class WrongCode(Exception):
    """The code is not one of the person's second factor."""

    def __init__(self) -> None:
        super().__init__("This code is wrong, or it was used before. Take the one shown now.")


class TooManyAttempts(Exception):
    """The next attempt has to wait."""

    def __init__(self, wait: timedelta) -> None:
        self.seconds = max(1, math.ceil(wait.total_seconds()))
        super().__init__(
            f"Too many failed attempts. Wait {_in_words(self.seconds)}, then try again."
        )


@dataclass(frozen=True, slots=True)
class LogInOrigin:
    """Where an attempt comes from."""

    address: str = ""
    device: str = ""


def check_log_in(*, username: str, password: str, origin: LogInOrigin) -> User:
    """Return the user whose name and password these are.

    Raises TooManyAttempts before the password is looked at, and WrongPassword after.
    """
    attempt = _begin(username=username, origin=origin)
    user = authenticate(username=username, password=password)
    if not isinstance(user, User):
        _forget_old_failures()
        raise WrongPassword
    _forget_own_failures(attempt)
    return user


def check_code(*, user: User, is_right: Callable[[], bool], origin: LogInOrigin) -> None:
    """Ask `is_right` for a code of the person's second factor, as patiently as for a password.

    Raises TooManyAttempts before it asks, and WrongCode after.
    """
    attempt = _begin(username=user.username, origin=origin, is_second_step=True)
    if not is_right():
        _forget_old_failures()
        raise WrongCode
    _forget_own_failures(attempt)


def _begin(*, username: str, origin: LogInOrigin, is_second_step: bool = False) -> LogInAttempt:
    """Count an attempt and return it. Raises TooManyAttempts."""
    now = timezone.now()
    # The row comes first: of many attempts at the same time each one sees those before it.
    attempt = LogInAttempt.objects.create(
        username=_counted_name(username),
        address=origin.address,
        device=origin.device,
        is_second_step=is_second_step,
        attempted_at=now,
    )
    wait = _wait_before(attempt, now)
    if wait > timedelta(0):
        attempt.delete()
        raise TooManyAttempts(wait)
    return attempt


def origin_of(request: HttpRequest, username: str) -> LogInOrigin:
    """Return where an attempt at somebody's account comes from."""
    device = known_device(request.COOKIES.get(DEVICE_COOKIE, ""), username)
    return LogInOrigin(address=network_of(request.META.get("REMOTE_ADDR", "")), device=device)


def begins_too_often(request: HttpRequest) -> bool:
    """Count what a network begins without a password, and return whether it is too much.

    Each beginning is a session. Where the cache is away, nobody is refused.
    """
    minute = int(time.time()) // BEGINS_COUNTED_FOR
    key = f"begun-{network_of(request.META.get('REMOTE_ADDR', ''))}-{minute}"
    cache.add(key, 0, 2 * BEGINS_COUNTED_FOR)
    try:
        return cache.incr(key) > BEGINS_BY_ADDRESS
    except ValueError:  # it expired this moment
        return False


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, an IPv6 network; blank if unknown."""
    try:
        parsed = ipaddress.ip_address(address.strip())
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))


def name_device(user: User) -> str:
    """Return what a browser keeps so that it is known at this user's next log-in."""
    return signing.dumps([user.pk, secrets.token_hex(8)], salt=DEVICE_SALT)


def known_device(cookie: str, username: str) -> str:
    """Return the device's name if the browser was used by that user before, else nothing."""
    try:
        pk, device = signing.loads(cookie, salt=DEVICE_SALT, max_age=DEVICE_KNOWN_FOR)
    except signing.BadSignature:
        return ""
    is_theirs = User.objects.filter(pk=pk, username__iexact=username).exists()
    return str(device) if is_theirs else ""


def _wait_before(attempt: LogInAttempt, now: datetime) -> timedelta:
    """Return how long this attempt still has to wait: the longest of its counts decides."""
    other_attempts = LogInAttempt.objects.filter(
        attempted_at__gt=now - COUNTED_FOR, is_second_step=attempt.is_second_step
    ).exclude(pk=attempt.pk)
    if attempt.device:
        counts = [(Q(device=attempt.device, username=attempt.username), FREE_BY_NAME)]
    else:
        counts = [(Q(username=attempt.username, device=""), FREE_BY_NAME)]
        if attempt.address:
            counts.append((Q(address=attempt.address, device=""), FREE_BY_ADDRESS))
    return max(_wait_of(other_attempts.filter(counted), n_free, now) for counted, n_free in counts)


def _wait_of(failures: QuerySet[LogInAttempt], n_free: int, now: datetime) -> timedelta:
    counted = failures.aggregate(n=Count("pk"), last=Max("attempted_at"))
    return _wait_after(n=counted["n"], last=counted["last"], n_free=n_free, now=now)


def _wait_after(*, n: int, last: datetime | None, n_free: int, now: datetime) -> timedelta:
    """Return what is left of the wait after n failures: none at first, then double each time.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2025, 1, 1, tzinfo=UTC)
    >>> [_wait_after(n=n, last=now, n_free=5, now=now).seconds for n in (4, 5, 6, 99)]
    [0, 15, 30, 900]
    >>> _wait_after(n=5, last=now, n_free=5, now=now - timedelta(days=1)).seconds
    900
    """
    if last is None or n < n_free:
        return timedelta(0)
    wait: timedelta = FIRST_WAIT * 2 ** min(n - n_free, 10)
    left = last + min(wait, LONGEST_WAIT) - now
    # Where the clock was set back, the last failure is still to come.
    return min(left, LONGEST_WAIT)


def _forget_own_failures(attempt: LogInAttempt) -> None:
    """Drop the failures of whoever just got in; those of others at the same name stay counted."""
    own = Q(pk=attempt.pk) | Q(username=attempt.username, address=attempt.address)
    if attempt.device:
        own |= Q(username=attempt.username, device=attempt.device)
    LogInAttempt.objects.filter(own, is_second_step=attempt.is_second_step).delete()


def _forget_old_failures() -> None:
    LogInAttempt.objects.filter(attempted_at__lt=timezone.now() - COUNTED_FOR).delete()


def _counted_name(username: str) -> str:
    return User.normalize_username(username).lower()[:150]


def _in_words(seconds: int) -> str:
    """Write a wait as a person says it.

    >>> _in_words(1), _in_words(59), _in_words(61)
    ('1 second', '59 seconds', '2 minutes')
    """
    if seconds < 60:  # seconds of a minute
        return f"{seconds} second{'s' * (seconds != 1)}"
    return f"{math.ceil(seconds / 60)} minutes"
