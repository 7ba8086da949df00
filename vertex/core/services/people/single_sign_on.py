"""Find the person whom an identity provider names, or add one without any role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import IntegrityError, transaction

from vertex.core.models import User
from vertex.core.services.people import audit
from vertex.core.texts import storable

LONGEST_NAME: Final = 140  # of a user name, before a number is added to it
N_NAMES_TRIED: Final = 100
PROVIDER: Final = "company"  # as the addresses of the log-in name it


class NobodyKnown(Exception):
    """The provider's word leads to no account here."""

    def __init__(self) -> None:
        super().__init__(
            "There is no open account with the e-mail address that you logged in with. Ask an "
            "administrator of this installation to add you, "
            "or to enter this address at your account anew."
        )


@transaction.atomic
def person_named_by(claims: Mapping[str, Any]) -> User:
    """Return the person with the address that the provider has verified. Raises NobodyKnown.

    The address must be one that an administrator entered, and one person's only. Where the
    installation says so, a person who is not known is added, without a role.
    """
    email = claims.get("email")
    # Some providers write "false".
    if not isinstance(email, str) or not email or claims.get("email_verified") is not True:
        raise NobodyKnown
    if email != storable(email):
        raise NobodyKnown
    if settings.OIDC_ADDS_PEOPLE:
        # One after the other: somebody who is added may come by two browsers at once.
        User.objects.order_by("pk").select_for_update(no_key=True).first()
    like_it = User.objects.filter(email__iexact=email)
    known = [person for person in like_it if _is_same_address(person.email, email)]
    if not known and settings.OIDC_ADDS_PEOPLE:
        return _add_person(email, claims)
    vouched = [person for person in known if person.has_vouched_email]
    if len(vouched) != 1:
        raise NobodyKnown
    person: User = vouched[0]
    if not person.is_active or person.is_service:
        raise NobodyKnown
    return person


def check_untied(person: User) -> None:
    """Raise NobodyKnown where a person logs in by another account of the provider already.

    The provider may give an address that somebody had to somebody else.
    """
    if SocialAccount.objects.filter(user=person).exists():
        raise NobodyKnown


def record_link(person: User) -> None:
    """Write into the audit trail that somebody logs in by the provider from now on."""
    audit.record(actor=person, action="single_sign_on.linked", subject=person.username)


def _is_same_address(one: str, other: str) -> bool:
    """Return whether two addresses are one, but for the case of plain letters.

    Databases take letters of other alphabets for those: somebody else's address for one's own.
    """
    if one.isascii() and other.isascii():
        return one.lower() == other.lower()
    return one == other


def _add_person(email: str, claims: Mapping[str, Any]) -> User:
    for username in _names(str(claims.get("preferred_username") or email)):
        person = User(
            username=username,
            first_name=storable(str(claims.get("given_name") or ""), 150),
            last_name=storable(str(claims.get("family_name") or ""), 150),
            email=email[:254],
            has_vouched_email=True,
        )
        person.set_unusable_password()
        if User.objects.filter(username__iexact=username).exists():
            continue
        try:
            with transaction.atomic():
                person.save(force_insert=True)
                detail = {"by": "single sign-on"}
                audit.record(actor=person, action="person.created", subject=username, detail=detail)
        except IntegrityError:  # somebody else took the name this moment
            continue
        return person
    raise NobodyKnown


def _names(wanted: str) -> Iterator[str]:
    """Yield user names like the one that is wanted, from the part before an @.

    >>> list(_names("Ada Lovelace@example.org"))[:2]
    ['Ada-Lovelace', 'Ada-Lovelace-2']
    """
    local_part = wanted.partition("@")[0]
    name = re.sub(r"[^\w.+-]+", "-", local_part)[:LONGEST_NAME].strip("-") or "person"
    yield name
    for number in range(2, N_NAMES_TRIED):
        yield f"{name}-{number}"
