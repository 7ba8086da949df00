"""The application as Django knows it."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"
