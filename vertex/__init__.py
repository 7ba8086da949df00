"""The composition root: settings, addresses, workers, pages of all apps; at its bottom `core`.

settings      all settings; what an installation may change is read by `environment`
urls          which address leads where
api           the whole API: each app's routes, and the schema made from them
middleware    what goes on around every request: sessions end, what is missing is asked for
celery        workers: their queues, and the few fixed ticks of the clock
forms         forms that reach over more than one app
site_import   the export of a site of another installation: what comes along, under which numbers
static_files  static files under names that hold their hash
wsgi          the web application that gunicorn serves

Headers such as the content security policy stand in `settings`; rates of callers in `core/api`.
"""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
# One thread for linear algebra in each process: others are busy, and its matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Python would look for cycles after 700 new objects; a page is many thousand objects and hardly
# a cycle.
gc.set_threshold(50_000, 20, 20)
