"""The application as Django knows it."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
