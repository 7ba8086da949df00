"""Which address leads where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path

import clustering.urls  # noqa: F401 - its converters are used below
from rules.views import records, rule_changes, rules

if TYPE_CHECKING:
    from django.urls import URLPattern

SITE = "sites/<name:name>"
RULE = f"{SITE}/rules/<slug:cluster_name>"
VERSION = f"{RULE}/versions/<id:version>"

urlpatterns: list[URLPattern] = [
    path(f"{SITE}/rules/", rules.rules, name="rules"),
    path(f"{RULE}/", rules.rule, name="rule"),
    path(f"{VERSION}/stylesheet/", rules.stylesheet, name="stylesheet"),
    path(f"{VERSION}/publish/", rule_changes.publish_rule, name="publish_rule"),
    path(f"{VERSION}/roll-back/", rule_changes.roll_back_rule, name="roll_back_rule"),
    path(f"{SITE}/learn/", rule_changes.learn_rules, name="learn_rules"),
    path(f"{SITE}/extract/", rule_changes.extract_records, name="extract_records"),
    path(f"{SITE}/records/", records.records, name="records"),
    path(f"{SITE}/records/<id:pk>/", records.record, name="record"),
    path(f"{SITE}/download-records/", records.download_records, name="download_records"),
    path(f"{SITE}/export-records/", rule_changes.export_records, name="export_records"),
    path(f"{SITE}/record-files/<id:pk>/", records.record_file, name="record_file"),
]
