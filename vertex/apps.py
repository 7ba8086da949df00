"""The application as Django knows it."""

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig

from vertex.celery import app as celery_app


class VertexConfig(AppConfig):
    name = "vertex"
    celery_app = celery_app  # the one that jobs are rung by, in every process


class StaticFiles(StaticFilesConfig):
    """Static files without what comes along with a library and is never served."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "redoc", "hx-*.js"]
