"""A person of each role, with a password that the demo knows until somebody changes it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.conf import settings
from django.db.models.functions import Lower
from rich.console import Console
from rich.table import Table

from vertex.core.models import AuditEntry, Role, User
from vertex.core.services.people import people

PEOPLE = {
    "admin": Role.ADMINISTRATOR,
    "operator": Role.OPERATOR,
    "reviewer": Role.REVIEWER,
    "editor": Role.EDITOR,
    "viewer": Role.VIEWER,
}
PASSWORD_CHANGES = ("password.changed", "password.reset", "person.closed")


def let_people_in(console: Console) -> None:
    """Add a person of each role and print the log-ins, the passwords of earlier runs included."""
    known = {
        user.username.lower(): user
        for user in User.objects.annotate(name=Lower("username")).filter(name__in=PEOPLE)
    }
    missing = [name for name in PEOPLE if name not in known]
    # Written before they count: no password is lost, whenever the demo is cut off.
    logins = {name: people.random_password() for name in missing} | read_logins()
    write_logins(logins)
    for name in missing:
        people.create_user(username=name, role=PEOPLE[name], password=logins[name], actor=None)
    table = Table("log-in", "role", "password", box=None, header_style="dim")
    for name, role in PEOPLE.items():
        table.add_row(name, role.label, _password_shown(known.get(name), logins.get(name)))
    console.print(table)
    console.print(f"[dim]{len(missing)} people are new; the passwords stand in {logins_path()}[/]")


def _password_shown(user: User | None, password: str | None) -> str:
    """Return the password; of an older or changed account, only what is known of it."""
    if user is None:
        return password or ""
    if password is None:
        return "as it was: the account is not the demo's"
    changes = AuditEntry.objects.filter(subject=user.username, action__in=PASSWORD_CHANGES)
    return "changed since" if changes.exists() else password


def logins_path() -> Path:
    return Path(settings.VAR_DIR) / "demo-logins.txt"


def read_logins() -> dict[str, str]:
    """Return the passwords that the demo gave, by name."""
    try:
        lines = logins_path().read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def write_logins(logins: dict[str, str]) -> None:
    """Write the passwords to a file that only the installation's own user can read."""
    handle, part = tempfile.mkstemp(dir=settings.VAR_DIR, prefix=".demo-logins-")
    with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle, not a path
        file.write(
            "# Log-ins of the demo. Delete the file when the accounts have passwords "
            "of their own.\n"
        )
        file.writelines(f"{name} {password}\n" for name, password in logins.items())
    Path(part).replace(logins_path())
