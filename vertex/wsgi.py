"""The web application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from vertex.running.logs import warn_of_allowed_networks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")

application = get_wsgi_application()
warn_of_allowed_networks()
