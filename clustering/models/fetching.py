"""How a site is fetched, where that differs from how all are."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from vertex.core.models.sites import Site


class SiteFetching(models.Model):
    """What a site is fetched with; `sealed` marks what only the installation itself can read."""

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="fetching")
    user_agent = models.CharField(max_length=300, blank=True)  # blank: the installation's
    headers = models.JSONField(default=dict, blank=True)  # sealed values, by name
    cookies = models.JSONField(default=dict, blank=True)  # sealed values, by name
    proxy = models.CharField(max_length=270, blank=True)  # host:port, one that the operator allows
    proxy_user = models.CharField(max_length=200, blank=True)
    proxy_password = models.TextField(blank=True)  # sealed
    log_in_url = models.TextField(blank=True)  # of the page with the form
    log_in_fields = models.JSONField(default=dict, blank=True)  # sealed values, by name
    # A text, #id or .class that a page shows to those only who are logged in.
    log_in_sign = models.CharField(max_length=200, blank=True)
    session = models.TextField(blank=True)  # sealed: the cookies since the last log-in
    logged_in_at = models.DateTimeField(null=True, blank=True)
    log_in_problem = models.CharField(max_length=300, blank=True)  # why the last log-in failed
    changed_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.site.name
