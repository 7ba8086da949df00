"""What workers do when rung for a job that reaches over all apps."""

from __future__ import annotations

from vertex.core.tasks import register
from vertex.site_import import IMPORT_SITE

register(IMPORT_SITE)
