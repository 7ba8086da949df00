"""Second factors of people: who needs one, who has which, and what is done where one is lost.

What people do with theirs is recorded where django-allauth tells of it: its views call no
service of ours.
"""

from __future__ import annotations

from typing import Final

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
    authenticator_used,
)
from django.conf import settings
from django.db import transaction
from django.dispatch import receiver

from vertex.core.models import Role, User
from vertex.core.services.people import audit

# Codes on paper are for the day on which the others are lost: they alone ask for nothing at
# a log-in.
ASKING: Final = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
WORDS: Final = {
    Authenticator.Type.TOTP: "app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


def is_missing(user: User) -> bool:
    """Return whether a person has to add a second factor before anything else."""
    if user.is_service or settings.SECOND_FACTOR == "OPTIONAL":
        return False
    if settings.SECOND_FACTOR == "ADMINISTRATORS" and not user.has_role_anywhere(
        Role.ADMINISTRATOR
    ):
        return False
    return not Authenticator.objects.filter(user=user, type__in=ASKING).exists()


def kinds_of(user: User) -> list[str]:
    """Return what a person has, in words, the same kind once."""
    types = Authenticator.objects.filter(user=user).values_list("type", flat=True)
    return sorted({WORDS[Authenticator.Type(kind)] for kind in types})


def reset_second_factor(*, user: User, actor: User | None) -> None:
    """Remove all that a person lost: the next log-in asks for the password alone."""
    with transaction.atomic():
        kinds = kinds_of(user)
        if not kinds:
            return
        Authenticator.objects.filter(user=user).delete()
        audit.record(
            actor=actor,
            action="second_factor.reset",
            subject=user.username,
            detail={"kinds": kinds},
        )


@receiver(authenticator_added)
def _record_added(user: User, authenticator: Authenticator, **_: object) -> None:
    _record(user, "second_factor.added", authenticator)


@receiver(authenticator_removed)
def _record_removed(user: User, authenticator: Authenticator, **_: object) -> None:
    _record(user, "second_factor.removed", authenticator)


@receiver(authenticator_reset)
def _record_renewed(user: User, authenticator: Authenticator, **_: object) -> None:
    _record(user, "second_factor.renewed", authenticator)


@receiver(authenticator_used)
def _record_used(user: User, authenticator: Authenticator, **_: object) -> None:
    """Record the use of a code on paper: whoever did not use it learns that somebody else did."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        _record(user, "second_factor.recovered", authenticator)


def _record(user: User, action: str, authenticator: Authenticator) -> None:
    kind = WORDS[Authenticator.Type(authenticator.type)]
    audit.record(actor=user, action=action, subject=user.username, detail={"kind": kind})
