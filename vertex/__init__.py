"""The composition root: settings, addresses, workers, pages that span all apps; at its bottom `core`."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
# One thread for linear algebra in each process: others are busy, and its matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Python would look for cycles after 700 new objects; a page is many thousand objects and hardly a cycle.
gc.set_threshold(50_000, 20, 20)
