"""Keys for the API: shown once, kept as a hash, limited in time and scope."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from vertex.core.models import Scope, Token, User
from vertex.core.services.people import audit

KEY_BEGINS = "vtx_"  # lets scanners of public code recognise a lost key
PREFIX_LENGTH = 12
DEFAULT_DAYS = 90
MAX_DAYS = 365
USE_NOTED_EVERY = timedelta(minutes=1)


class BadScope(Exception):
    """A scope is unknown, or none is given."""

    def __init__(self, unknown: Iterable[str]) -> None:
        named = ", ".join(sorted(unknown))
        problem = f"Unknown scope: {named}." if named else "A token needs a scope."
        super().__init__(f"{problem} Scopes are {', '.join(Scope.values)}.")


class BadLifetime(Exception):
    """A token would live too long, or not at all."""

    def __init__(self, days: int) -> None:
        super().__init__(f"A token cannot be valid for {days} days. Choose 1 to {MAX_DAYS}.")


class AccountClosed(Exception):
    """A closed account gets neither roles nor passwords nor tokens."""

    def __init__(self, user: User) -> None:
        super().__init__(f"The account {user.username} is closed. Reopen it first.")


def create_token(
    *, user: User, name: str, scopes: Iterable[str], days: int = DEFAULT_DAYS, actor: User | None
) -> tuple[Token, str]:
    """Create a token and return it with its key, which nobody can read again.

    Raises BadScope, BadLifetime or AccountClosed.
    """
    wanted = set(scopes)
    if not wanted or wanted - set(Scope.values):
        raise BadScope(wanted - set(Scope.values))
    if not 1 <= days <= MAX_DAYS:
        raise BadLifetime(days)
    if not user.is_active:
        raise AccountClosed(user)
    key = KEY_BEGINS + secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        token = Token.objects.create(
            user=user,
            name=name[:100],
            prefix=key[:PREFIX_LENGTH],
            key_hash=hash_key(key),
            scopes=[scope for scope in Scope.values if scope in wanted],
            created_by=actor,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        detail = {"user": user.username, "scopes": token.scopes, "days": days}
        audit.record(actor=actor, action="token.created", subject=token, detail=detail)
    return token, key


def revoke_token(*, token: Token, actor: User | None) -> None:
    """Shut a token at once; a second time changes nothing."""
    with transaction.atomic():
        unrevoked = Token.objects.filter(pk=token.pk, revoked_at__isnull=True)
        if unrevoked.update(revoked_at=timezone.now()):
            detail = {"user": token.user.username}
            audit.record(actor=actor, action="token.revoked", subject=token, detail=detail)
    token.refresh_from_db()


def revoke_all(*, user: User) -> int:
    """Shut every token of an account that closes, and return how many were open."""
    return user.tokens.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())


def authenticate_token(key: str) -> Token | None:
    """Return the token of this key with its user, or None where it opens nothing.

    The row is found by the key's hash, so the time that takes tells nothing about the key.
    """
    now = timezone.now()
    token = Token.objects.usable(now).select_related("user").filter(key_hash=hash_key(key)).first()
    if token is not None:
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        Token.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)
    return token


def hash_key(key: str) -> str:
    """Return what is kept of a key; 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
