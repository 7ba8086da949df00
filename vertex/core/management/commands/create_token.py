"""Make a key for the API from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from vertex.core.management.output import WorkCommand
from vertex.core.models import Role, Scope, User
from vertex.core.services.people import people, tokens

TOKEN_NAME = "command line"  # what the list of tokens calls it  # noqa: S105 - what the list of tokens calls it


class Command(WorkCommand):
    help = (
        "Print a new API token, alone on its line. NAME is a user; where there is none, "
        "a service of that "
        "name is made, a viewer of all sites. Every run makes another token."
    )
    failures = (
        people.BadUsername,
        people.NameTaken,
        tokens.AccountClosed,
        tokens.BadLifetime,
        tokens.BadScope,
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument(
            "--scope",
            action="extend",
            nargs="+",
            choices=Scope.values,
            metavar="SCOPE",
            help=f"what it may be used for: {', '.join(Scope.values)} "
            "(default: all that only read)",
        )
        parser.add_argument(
            "--days",
            type=int,
            default=tokens.DEFAULT_DAYS,
            help=f"how long it is valid, 1 to {tokens.MAX_DAYS} (default: {tokens.DEFAULT_DAYS})",
        )

    @transaction.atomic  # no service is left without a token where a scope or --days is wrong
    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["name"]).first()
        if user is None:
            user = people.create_user(
                username=options["name"], role=Role.VIEWER, is_service=True, actor=None
            )
            self.notice(f"created the service {user.username}, viewer of all sites")
        token, key = tokens.create_token(
            user=user,
            name=TOKEN_NAME,
            scopes=options["scope"] or Scope.reading(),
            days=options["days"],
            actor=None,
        )
        scopes = " ".join(token.scopes)
        self.notice(f"token for {user.username}, valid until {token.expires_at:%Y-%m-%d}: {scopes}")
        self.stdout.write(key)
