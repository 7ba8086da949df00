"""The application as Django knows it."""

from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "rules"
