#!/usr/bin/env python
"""Run a management command."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    from django.core.management import execute_from_command_line

    from vertex.running.known_services import connect_to_known_services_only

    connect_to_known_services_only()
    execute_from_command_line(sys.argv)
