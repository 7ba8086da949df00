"""The application as Django knows it."""

from django.apps import AppConfig


class ClusteringConfig(AppConfig):
    name = "clustering"
