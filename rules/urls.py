"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, path

from rules.views.learning import (
    annotation_cost,
    borrowed_rules,
    found_fields,
    hand_edits,
    panel,
    rule_changes,
    rules,
)
from rules.views.lists import tables
from rules.views.records import records, webhooks
from rules.views.review import policies, reviews

SITE = "sites/<name:name>"
CLUSTER = f"{SITE}/clusters/<slug:cluster_name>"
RULE = f"{SITE}/rules/<slug:cluster_name>"
VERSION = f"{RULE}/versions/<id:version>"
PAGE = f"{SITE}/pages/<id:pk>"

urlpatterns: list[URLPattern] = [
    path("new-table/", tables.new_table, name="new_table"),
    path(f"{SITE}/table-jobs/<id:pk>/", tables.table_job, name="table_job"),
    path(f"{PAGE}/table/", tables.page_table, name="page_table"),
    path(f"{PAGE}/table/download/", tables.download_table, name="download_table"),
    path(f"{PAGE}/table/images/", tables.fetch_table_images, name="fetch_table_images"),
    path(f"{PAGE}/crawl-list/", tables.crawl_list, name="crawl_list"),
    path(f"{PAGE}/accept-list/", tables.accept_list, name="accept_list"),
    path(f"{CLUSTER}/fields/", found_fields.found_fields, name="found_fields"),
    path(f"{SITE}/field-jobs/<id:pk>/", found_fields.field_job, name="field_job"),
    path(f"{SITE}/field-jobs/<id:pk>/undo/", found_fields.undo_fields, name="undo_fields"),
    path(f"{CLUSTER}/rule/", panel.rule_panel, name="rule_panel"),
    path(f"{CLUSTER}/prefill/<id:pk>/", panel.rule_prefill, name="rule_prefill"),
    path(f"{VERSION}/steps/<id:pk>/", panel.rule_steps, name="rule_steps"),
    path(f"{SITE}/rules/", rules.rules, name="rules"),
    path(f"{RULE}/", rules.rule, name="rule"),
    path(f"{RULE}/borrowed/", borrowed_rules.borrowed_rule, name="borrowed_rule"),
    path(
        f"{RULE}/borrowed/switch/",
        borrowed_rules.switch_borrowed_rule,
        name="switch_borrowed_rule",
    ),
    path(f"{RULE}/edit/", hand_edits.edit_rule, name="edit_rule"),
    path(f"{RULE}/edit/score/", hand_edits.score_edit, name="score_edit"),
    path(f"{VERSION}/places/<str:attribute>/", rules.place_picture, name="place_picture"),
    path(f"{VERSION}/stylesheet/", rules.stylesheet, name="stylesheet"),
    path("review/", reviews.review, name="review"),
    path(f"{VERSION}/review/", reviews.review_rule, name="review_rule"),
    path(f"{VERSION}/judge/", reviews.judge_page, name="judge_page"),
    path(f"{VERSION}/impact/", reviews.impact, name="impact"),
    path(f"{VERSION}/compare/", reviews.compare_rule, name="compare_rule"),
    path(f"{VERSION}/propose/", rule_changes.propose_rule, name="propose_rule"),
    path(f"{VERSION}/send-back/", rule_changes.send_back_rule, name="send_back_rule"),
    path(f"{SITE}/economics/", annotation_cost.economics, name="economics"),
    path(f"{SITE}/settings/review/", policies.review_policy, name="review_policy"),
    path(f"{SITE}/settings/webhooks/", webhooks.webhooks, name="webhooks"),
    path(f"{SITE}/settings/webhooks/<id:pk>/", webhooks.webhook, name="webhook"),
    path(
        f"{SITE}/settings/webhooks/<id:pk>/remove/", webhooks.remove_webhook, name="remove_webhook"
    ),
    path(
        f"{SITE}/settings/webhooks/<id:pk>/resume/", webhooks.resume_webhook, name="resume_webhook"
    ),
    path(
        f"{SITE}/settings/webhooks/<id:pk>/deliveries/<id:delivery_pk>/retry/",
        webhooks.retry_delivery,
        name="retry_delivery",
    ),
    path(f"{VERSION}/publish/", rule_changes.publish_rule, name="publish_rule"),
    path(f"{VERSION}/roll-back/", rule_changes.roll_back_rule, name="roll_back_rule"),
    path(f"{SITE}/learn/", rule_changes.learn_rules, name="learn_rules"),
    path(f"{SITE}/draft/", rule_changes.draft_rules, name="draft_rules"),
    path(f"{SITE}/extract/", rule_changes.extract_records, name="extract_records"),
    path(f"{SITE}/records/", records.records, name="records"),
    path(f"{SITE}/records/<id:pk>/", records.record, name="record"),
    path(f"{SITE}/download-records/", records.download_records, name="download_records"),
    path(f"{SITE}/export-records/", rule_changes.export_records, name="export_records"),
    path(f"{SITE}/record-files/<id:pk>/", records.record_file, name="record_file"),
]
