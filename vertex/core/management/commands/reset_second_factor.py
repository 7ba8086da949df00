"""Let a person in whose second factor is lost."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from vertex.core.management.output import WorkCommand
from vertex.core.models import User
from vertex.core.services.people import second_factors


class Command(WorkCommand):
    help = (
        "Remove the apps, passkeys and recovery codes of a person who lost them. "
        "The next log-in asks for "
        "the password alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["name"]).first()
        if user is None:
            raise CommandError(f"there is no account “{options['name']}”")
        kinds = second_factors.kinds_of(user)
        second_factors.reset_second_factor(user=user, actor=None)
        if kinds:
            self.notice(
                f"{user.username} has no second factor any more; removed: {', '.join(kinds)}"
            )
        else:
            self.notice(f"{user.username} had none")
