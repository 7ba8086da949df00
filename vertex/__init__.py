"""The composition root: settings, addresses, workers and the pages that span all apps."""

import os

# One thread for linear algebra in each process: others are busy, and its matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from vertex.celery import app as celery_app

__all__ = ["celery_app"]
