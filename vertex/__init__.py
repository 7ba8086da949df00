"""The composition root: settings, addresses, workers and the pages that span all apps."""

from vertex.celery import app as celery_app

__all__ = ["celery_app"]
