"""The application as Django knows it."""

from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "rules"
    known_values = "rules.services.records.known_records.known_from_records"  # for suggestions
