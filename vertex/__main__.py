"""The command `vertex` of an installed package: what `manage.py` is in a checkout."""

from __future__ import annotations

import sys

from django.core.management import execute_from_command_line

from vertex.running.known_services import connect_to_known_services_only


def main() -> None:
    """Run a management command."""
    connect_to_known_services_only()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
