"""The application as Django knows it."""

from django.apps import AppConfig
from django.urls import register_converter

from vertex.core import converters


class CoreConfig(AppConfig):
    name = "vertex.core"

    def ready(self) -> None:
        """Register the converters that addresses of every app use."""
        register_converter(converters.NameConverter, "name")
        register_converter(converters.IdConverter, "id")
