"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, path

from monitoring.views.checks import checks, history, overview, site_changes, sites, watching
from monitoring.views.notices import alert_changes
from monitoring.views.repair import repairs
from monitoring.views.stream import kept_lists, site_stream

SITE = "sites/<name:name>"
ALERT = f"{SITE}/alerts/<id:pk>"
CHANGE = f"{SITE}/site-changes/<id:pk>"
PROPOSAL = f"{SITE}/proposals/<id:pk>"
CHANNEL = f"{SITE}/monitoring/channels/<id:pk>"
KEPT_LIST = f"{SITE}/kept-lists/<id:pk>"

urlpatterns: list[URLPattern] = [
    path("monitoring/", overview.monitoring, name="monitoring"),
    path("monitoring/course/", overview.coverage_chart, name="coverage_chart"),
    path("monitoring/work/", overview.work, name="monitoring_work"),
    path("monitoring/site-changes/", site_changes.site_changes, name="site_changes"),
    path("monitoring/history/", history.history, name="monitoring_history"),
    path(f"{SITE}/monitoring/", sites.site_monitoring, name="site_monitoring"),
    path(f"{SITE}/monitoring/bellwethers/", sites.bellwethers, name="bellwethers"),
    path(f"{SITE}/monitoring/check/", checks.check_site, name="check_site"),
    path(f"{SITE}/monitoring/repair/", repairs.repair_site, name="repair_site"),
    path(f"{SITE}/stream/", site_stream.site_stream, name="site_stream"),
    path(f"{SITE}/stream/goal/", site_stream.save_goal, name="save_goal"),
    path(f"{SITE}/stream/step/", site_stream.switch_step, name="switch_step"),
    path(f"{SITE}/kept-lists/", kept_lists.kept_lists, name="kept_lists"),
    path(f"{SITE}/kept-lists/add/", kept_lists.add_kept_list, name="add_kept_list"),
    path(f"{KEPT_LIST}/", kept_lists.change_kept_list, name="kept_list"),
    path(f"{KEPT_LIST}/switch/", kept_lists.switch_kept_list, name="switch_kept_list"),
    path(f"{KEPT_LIST}/visit/", kept_lists.visit_kept_list, name="visit_kept_list"),
    path(f"{KEPT_LIST}/drop/", kept_lists.drop_kept_list, name="drop_kept_list"),
    path(f"{KEPT_LIST}/restore/", kept_lists.restore_kept_list, name="restore_kept_list"),
    path(f"{SITE}/checks/<id:pk>/", checks.check, name="check"),
    path(f"{SITE}/monitoring/settings/", watching.watching, name="watching"),
    path(f"{SITE}/monitoring/schedule/", watching.save_schedule, name="save_schedule"),
    path(f"{SITE}/monitoring/thresholds/", watching.choose_thresholds, name="choose_thresholds"),
    path(
        f"{SITE}/monitoring/thresholds/usual/", watching.reset_thresholds, name="reset_thresholds"
    ),
    path(f"{SITE}/monitoring/hindsight/", watching.what_if_thresholds, name="what_if_thresholds"),
    path(f"{SITE}/monitoring/channels/", watching.add_channel, name="add_channel"),
    path(f"{CHANNEL}/switch/", watching.switch_channel, name="switch_channel"),
    path(f"{CHANNEL}/remove/", watching.remove_channel, name="remove_channel"),
    path(f"{CHANNEL}/try/", watching.try_channel, name="try_channel"),
    path(f"{ALERT}/acknowledge/", alert_changes.acknowledge_alert, name="acknowledge_alert"),
    path(f"{ALERT}/snooze/", alert_changes.snooze_alert, name="snooze_alert"),
    path(f"{ALERT}/release/", alert_changes.release_alert, name="release_alert"),
    path(f"{CHANGE}/", site_changes.site_change, name="site_change"),
    path(f"{CHANGE}/dismiss/", repairs.dismiss_change, name="dismiss_change"),
    path(f"{CHANGE}/repair/", repairs.run_repair, name="run_repair"),
    path(f"{PROPOSAL}/decide/", repairs.decide_value, name="decide_value"),
    path(f"{PROPOSAL}/accept/", repairs.accept_proposal, name="accept_proposal"),
    path(f"{PROPOSAL}/annotate/", repairs.annotate_instead, name="annotate_instead"),
]
