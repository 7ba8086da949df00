"""Let people in, say what they may do, and close their accounts without losing their work."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from vertex.core.models import LogInAttempt, Membership, Role, Site, User
from vertex.core.services.people import audit, tokens
from vertex.core.services.people.tokens import AccountClosed

# Letters and digits that nobody takes for one another: 20 of them are 98 bits.
LEGIBLE = "abcdefghjkmnpqrstuvwxyz23456789"
EVERYWHERE = "all sites"
CHANGEABLE = ("first_name", "last_name", "email", "time_zone")


class BadUsername(Exception):
    """The name cannot be used for an account."""


class NameTaken(Exception):
    """Somebody has that name already, perhaps in other letter case."""

    def __init__(self, username: str) -> None:
        super().__init__(f"There is already an account “{username}”. Choose another name.")


class WeakPassword(Exception):
    """The password is too easy to guess."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class LastAdministrator(Exception):
    """Nobody would be left who can let others in."""

    def __init__(self, user: User) -> None:
        super().__init__(
            f"{user.username} is the last administrator for all sites. "
            "Make somebody else one first."
        )


class NoPassword(Exception):
    """A service has no password: it only holds tokens."""

    def __init__(self, user: User) -> None:
        super().__init__(f"{user.username} is a service and logs in with tokens only.")


def keeps_sites_apart() -> bool:
    """Return whether somebody may see some sites only.

    What is known of one site must not be shown at another then.
    """
    return Membership.objects.exclude(site=None).exists()


def create_user(
    *,
    username: str,
    actor: User | None,
    role: Role | None = None,
    site: Site | None = None,
    password: str | None = None,
    must_change_password: bool = False,
    is_service: bool = False,
    first_name: str = "",
    last_name: str = "",
    email: str = "",
) -> User:
    """Create an account; without a password it cannot log in until one is set.

    Raises BadUsername or NameTaken. The password is taken as it is: check it with
    `check_password_strength`.
    """
    user = User(
        username=AbstractUser.normalize_username(username),
        first_name=first_name,
        last_name=last_name,
        email=email,
        has_vouched_email=bool(email),
        is_service=is_service,
        must_change_password=must_change_password and not is_service,
    )
    _check_username(user)
    user.set_password(None if is_service else password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            action = "service.created" if is_service else "person.created"
            audit.record(actor=actor, action=action, subject=user.username)
            if role is not None:
                set_role(user=user, role=role, site=site, actor=actor)
    except IntegrityError:
        if User.objects.filter(username__iexact=user.username).exists():
            raise NameTaken(user.username) from None
        raise
    return user


def change_user(*, user: User, actor: User | None, **changes: str) -> None:
    """Change what CHANGEABLE lists, and record what it was.

    An address counts as somebody's own only where somebody else entered it. Then nobody logs in as
    this person by an account of the identity provider any more, until it verifies that address.
    """
    given = {name: changes[name] for name in CHANGEABLE if name in changes}
    changed = {name: value for name, value in given.items() if value != getattr(user, name)}
    if not changed:
        return
    detail = {name: {"was": getattr(user, name), "now": value} for name, value in changed.items()}
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(**changed)
        if "email" in changed:
            User.objects.filter(pk=user.pk).update(has_vouched_email=actor != user)
            if actor != user:
                SocialAccount.objects.filter(user=user).delete()
        user.refresh_from_db()
        audit.record(actor=actor, action="person.changed", subject=user.username, detail=detail)


def set_role(*, user: User, role: Role, site: Site | None = None, actor: User | None) -> Membership:
    """Give a role at a site or everywhere, in place of the one held there.

    Raises AccountClosed, or LastAdministrator where nobody else would be left.
    """
    with _keeping_an_administrator(user):
        if not user.is_active:
            raise AccountClosed(user)
        before = user.memberships.filter(site=site).first()
        if before is not None and before.role == role:
            return before
        membership, _ = Membership.objects.update_or_create(
            user=user, site=site, defaults={"role": role}
        )
        _record_role(user, site, actor, old_role=before.role if before else None, new_role=role)
    return membership


def remove_role(*, user: User, site: Site | None = None, actor: User | None) -> None:
    """Remove the role at a site or everywhere; nothing happens where there is none.

    Raises LastAdministrator.
    """
    with _keeping_an_administrator(user):
        before = user.memberships.filter(site=site).first()
        if before is not None:
            before.delete()
            _record_role(user, site, actor, old_role=before.role, new_role=None)


def set_superuser(*, user: User, is_superuser: bool, actor: User | None) -> None:
    """Make a person administrator of the installation, or no longer. Raises LastAdministrator.

    One has every role at every site, whatever roles are given or taken away.
    """
    with _keeping_an_administrator(user):
        if user.is_superuser == is_superuser:
            return
        user.is_superuser = user.is_staff = is_superuser
        user.save(update_fields=["is_superuser", "is_staff"])
        detail = {"is_superuser": {"was": not is_superuser, "now": is_superuser}}
        audit.record(actor=actor, action="person.changed", subject=user.username, detail=detail)


def close_user(*, user: User, actor: User | None) -> None:
    """Shut a person or service out at once; what they made stays, with their name.

    Sessions end because the password goes, tokens are revoked, roles are kept for a return.
    Raises LastAdministrator.
    """
    with _keeping_an_administrator(user):
        if not user.is_active:
            return
        user.is_active, user.closed_at = False, timezone.now()
        user.set_unusable_password()
        user.save(update_fields=["is_active", "closed_at", "password"])
        detail = {"tokens_revoked": tokens.revoke_all(user=user)}
        audit.record(actor=actor, action="person.closed", subject=user.username, detail=detail)


def reopen_user(*, user: User, actor: User | None) -> str:
    """Reopen an account and return its new password; a service gets none and needs new tokens."""
    with _locked(user):
        if user.is_active:
            return ""
        user.is_active, user.closed_at = True, None
        user.save(update_fields=["is_active", "closed_at"])
        audit.record(actor=actor, action="person.reopened", subject=user.username)
        return "" if user.is_service else _renew_password(user)


def reset_password(*, user: User, actor: User | None) -> str:
    """Set a new random password, to be changed at the next log-in, and return it.

    All sessions of the person end. Raises AccountClosed or NoPassword.
    """
    with _locked(user):
        _check_can_have_password(user)
        password = _renew_password(user)
        audit.record(actor=actor, action="password.reset", subject=user.username)
    return password


def change_password(*, user: User, password: str, actor: User | None) -> None:
    """Set a password that the person chose; other sessions end.

    Raises AccountClosed, NoPassword or WeakPassword.
    """
    check_password_strength(password, user)
    set_password(user=user, password=password, actor=actor)


def set_password(*, user: User, password: str, actor: User | None) -> None:
    """Set a password by an administrator's word, even weak. Raises AccountClosed or NoPassword."""
    with _locked(user):
        _check_can_have_password(user)
        _set_password(user, password)
        audit.record(actor=actor, action="password.changed", subject=user.username)


def check_password_strength(password: str, user: User | None = None) -> None:
    """Raise WeakPassword with every reason why the password is too easy to guess."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise WeakPassword(error.messages) from None


def random_password() -> str:
    """Return a password that can be read out: four groups of five, 98 bits."""
    return "-".join("".join(secrets.choice(LEGIBLE) for _ in range(5)) for _ in range(4))


def _check_username(user: User) -> None:
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as error:
        raise BadUsername(f"“{user.username}” cannot be used: {' '.join(error.messages)}") from None
    if User.objects.filter(username__iexact=user.username).exists():
        raise NameTaken(user.username)


def _check_can_have_password(user: User) -> None:
    if not user.is_active:
        raise AccountClosed(user)
    if user.is_service:
        raise NoPassword(user)


def _renew_password(user: User) -> str:
    """Set a new random password and forget failed attempts: the person has waited enough."""
    LogInAttempt.objects.filter(username=user.username.lower()).delete()
    password = random_password()
    _set_password(user, password, must_change=True)
    return password


def _set_password(user: User, password: str, *, must_change: bool = False) -> None:
    user.set_password(password)
    user.must_change_password = must_change
    user.save(update_fields=["password", "must_change_password"])


@contextmanager
def _locked(user: User) -> Iterator[None]:
    """Hold the user's row and read it anew."""
    with transaction.atomic():
        list(User.objects.filter(pk=user.pk).select_for_update(no_key=True).values_list("pk"))
        user.refresh_from_db()
        yield


@contextmanager
def _keeping_an_administrator(user: User) -> Iterator[None]:
    """Undo a change that leaves nobody who can let others in, and raise LastAdministrator.

    The administrators' rows are held meanwhile: two of them cannot demote each other at
    the same time.
    """
    administrators = User.objects.administrators()
    locked = administrators.order_by("pk").select_for_update(no_key=True).values_list("pk")
    try:
        with transaction.atomic():
            had_some = bool(list(locked))
            user.refresh_from_db()
            yield
            if had_some and not administrators.exists():
                raise LastAdministrator(user)  # raised inside, so that the change is undone  # noqa: TRY301 - raised inside, so that the change is undone
    except LastAdministrator:
        user.refresh_from_db()
        raise


def _record_role(
    user: User, site: Site | None, actor: User | None, *, old_role: str | None, new_role: str | None
) -> None:
    detail: dict[str, Any] = {
        "role": {"was": old_role, "now": new_role},
        "at": site.name if site else EVERYWHERE,
    }
    audit.record(
        actor=actor, action="role.changed", subject=user.username, site=site, detail=detail
    )
