"""The application as Django knows it."""

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class VertexConfig(AppConfig):
    name = "vertex"


class StaticFiles(StaticFilesConfig):
    """Static files without what comes along with a library and is never served."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "redoc", "hx-*.js"]
