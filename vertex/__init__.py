"""The composition root: settings, addresses, workers, pages that span all apps; at its bottom `core`."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
# One thread for linear algebra in each process: others are busy, and its matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
