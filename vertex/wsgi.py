"""The web application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from vertex.running.known_services import connect_to_known_services_only
from vertex.running.logs import warn_of_allowed_networks, warn_of_old_python

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")

connect_to_known_services_only()
application = get_wsgi_application()
warn_of_allowed_networks()
warn_of_old_python()
