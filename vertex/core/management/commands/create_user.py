"""Let a person in from the command line."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from vertex.core.management.output import WorkCommand
from vertex.core.models import Role, Site, User
from vertex.core.models.people import reach_of_role
from vertex.core.services.people import people
from vertex.core.services.people.tokens import AccountClosed


class Command(WorkCommand):
    help = (
        "Create a user with a role, or give the role to a user who is there. "
        "Without --password-stdin a new "
        "user gets a random password, printed once and to be changed at the first log-in."
    )
    failures = (
        AccountClosed,
        people.BadUsername,
        people.LastAdministrator,
        people.NameTaken,
        people.NoPassword,
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument(
            "--site", metavar="SITE", help="the role counts at this site (default: all sites)"
        )
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from the first line of standard input; "
            "an existing user gets it too",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"]) if options["site"] else None
        password = self._read_password() if options["password_stdin"] else None
        user = User.objects.filter(username__iexact=options["name"]).first()
        if user is None:
            self._create(options["name"], Role(options["role"]), site, password)
        else:
            self._change(user, Role(options["role"]), site, password)

    def _create(self, name: str, role: Role, site: Site | None, password: str | None) -> None:
        generated_password = people.random_password()
        user = people.create_user(
            username=name,
            role=role,
            site=site,
            password=password or generated_password,
            must_change_password=password is None,
            actor=None,
        )
        self.notice(f"created {user.username}, {role.label.lower()} {reach_of_role(site)}")
        if password is None:
            self.notice("the password, shown only now and to be changed at the first log-in, is:")
            self.stdout.write(generated_password)

    @transaction.atomic  # no role is given where the password cannot be
    def _change(self, user: User, role: Role, site: Site | None, password: str | None) -> None:
        people.set_role(user=user, role=role, site=site, actor=None)
        if password is not None:
            people.set_password(user=user, password=password, actor=None)
        password_note = (
            "with a new password" if password is not None else "with the password as before"
        )
        self.notice(
            f"{user.username} is {role.label.lower()} {reach_of_role(site)}, {password_note}"
        )

    def _read_password(self) -> str:
        """Read one line; a weak password is taken on the operator's authority, and told."""
        password = sys.stdin.readline().rstrip("\r\n")
        if not password:
            raise CommandError("there is no password on standard input")
        try:
            people.check_password_strength(password)
        except people.WeakPassword as error:
            self.notice(f"the password is taken, but it is weak: {error}")
        return password
