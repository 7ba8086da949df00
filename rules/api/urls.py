"""Which address of the API leads where."""

from __future__ import annotations

from django.urls import URLPattern, path

import annotation.api  # noqa: F401 - its converter of verticals' names is used below
from clustering.api.urls import SITE
from rules.api.learning import borrowed_rules, hand_edits, rules
from rules.api.lists import tables
from rules.api.records import records, webhooks

RULE = "rules/<id:pk>/"
WEBHOOK = f"{SITE}webhooks/<id:pk>/"

urlpatterns: list[URLPattern] = [
    path("tables/", tables.Tables.as_view(), name="tables"),
    path("pages/<id:pk>/tables/", tables.PageTables.as_view(), name="page_tables"),
    path("snapshots/<id:pk>/tables/", tables.SnapshotTables.as_view(), name="snapshot_tables"),
    path("snapshots/<id:pk>/tables/rows/", tables.TableRows.as_view(), name="table_rows"),
    path("records/", records.Records.as_view(), name="records"),
    path("records/export/", records.RecordExport.as_view(), name="record_export"),
    path("records/<id:pk>/", records.RecordView.as_view(), name="record"),
    path(
        "verticals/<name_of_vertical:name>/schema/",
        records.VerticalSchema.as_view(),
        name="vertical_schema",
    ),
    path("rules/", rules.Rules.as_view(), name="rules"),
    path(RULE, rules.RuleView.as_view(), name="rule"),
    path(f"{RULE}publish/", rules.PublishRule.as_view(), name="publish_rule"),
    path(f"{RULE}propose/", rules.ProposeRule.as_view(), name="propose_rule"),
    path(f"{RULE}send-back/", rules.SendBackRule.as_view(), name="send_back_rule"),
    path(f"{RULE}impacts/", rules.RuleImpacts.as_view(), name="rule_impacts"),
    path(f"{RULE}roll-back/", rules.RollBackRule.as_view(), name="roll_back_rule"),
    path(f"{SITE}rule-checks/", hand_edits.RuleChecks.as_view(), name="rule_checks"),
    path(f"{SITE}rule-drafts/", hand_edits.RuleDrafts.as_view(), name="rule_drafts"),
    path(f"{SITE}draft/", rules.SiteDrafting.as_view(), name="draft_rules"),
    path(f"{SITE}borrowed-rules/", borrowed_rules.BorrowedRules.as_view(), name="borrowed_rules"),
    path(
        f"{SITE}borrowed-rules/<cluster:cluster>/",
        borrowed_rules.BorrowedRuleView.as_view(),
        name="borrowed_rule",
    ),
    path(f"{SITE}learn/", rules.SiteLearning.as_view(), name="learn_rules"),
    path(f"{SITE}extract/", rules.SiteExtraction.as_view(), name="extract_records"),
    path(f"{SITE}record-exports/", records.SiteRecordExports.as_view(), name="record_exports"),
    path(f"{SITE}webhooks/", webhooks.SiteWebhooks.as_view(), name="webhooks"),
    path(WEBHOOK, webhooks.WebhookView.as_view(), name="webhook"),
    path(f"{WEBHOOK}resume/", webhooks.ResumeWebhook.as_view(), name="resume_webhook"),
    path(f"{WEBHOOK}deliveries/", webhooks.Deliveries.as_view(), name="deliveries"),
]
