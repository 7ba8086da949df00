"""The web application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from vertex.running.known_services import connect_to_known_services_only
from vertex.running.lock_patience import wait_shortly_for_locks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")

connect_to_known_services_only()
wait_shortly_for_locks()
django_application = get_wsgi_application()

from vertex.running.logs import (  # noqa: E402
    warn_of_allowed_networks,
    warn_of_old_python,
)
from vertex.running.page_requests import PageRequests  # noqa: E402 - it needs the models, which are there now

application = PageRequests(django_application)
application.start()
warn_of_allowed_networks()
warn_of_old_python()
