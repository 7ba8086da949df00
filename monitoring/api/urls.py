"""Which address of the API leads where."""

from __future__ import annotations

from django.urls import URLPattern, path

from clustering.api.urls import SITE
from monitoring.api.checks import checks, schedules
from monitoring.api.notices import alerts, channels
from monitoring.api.repair import proposals
from monitoring.api.stream import kept_lists, stream

ALERT = "alerts/<id:pk>/"
CHANGE = "site-changes/<id:pk>/"
CHANNEL = "channels/<id:pk>/"
KEPT_LIST = "kept-lists/<id:pk>/"
PROPOSAL = "proposals/<id:pk>/"

urlpatterns: list[URLPattern] = [
    path("schedules/", schedules.Schedules.as_view(), name="schedules"),
    path(f"{SITE}schedule/", schedules.SiteSchedule.as_view(), name="schedule"),
    path(f"{SITE}slots/", schedules.SiteSlots.as_view(), name="slots"),
    path(f"{SITE}thresholds/", schedules.SiteThresholdsView.as_view(), name="thresholds"),
    path(f"{SITE}thresholds/hindsight/", schedules.ThresholdsHindsight.as_view(), name="hindsight"),
    path("checks/", checks.Checks.as_view(), name="checks"),
    path("checks/<id:pk>/", checks.CheckView.as_view(), name="check"),
    path(f"{SITE}state/", checks.SiteStateView.as_view(), name="site_state"),
    path(f"{SITE}check/", checks.SiteChecks.as_view(), name="check_site"),
    path(f"{SITE}coverage/", checks.SiteCoverage.as_view(), name="coverage"),
    path("site-changes/", checks.SiteChanges.as_view(), name="site_changes"),
    path(CHANGE, checks.SiteChangeView.as_view(), name="site_change"),
    path(f"{CHANGE}dismiss/", checks.DismissSiteChange.as_view(), name="dismiss_site_change"),
    path(f"{SITE}stream/", stream.SiteStreamView.as_view(), name="stream"),
    path(f"{SITE}chain/", stream.SiteChainView.as_view(), name="chain"),
    path(f"{SITE}kept-lists/", kept_lists.KeptLists.as_view(), name="kept_lists"),
    path(KEPT_LIST, kept_lists.KeptListView.as_view(), name="kept_list"),
    path(f"{KEPT_LIST}restore/", kept_lists.RestoreKeptList.as_view(), name="restore_kept_list"),
    path(f"{KEPT_LIST}visit/", kept_lists.VisitKeptList.as_view(), name="visit_kept_list"),
    path("alerts/", alerts.Alerts.as_view(), name="alerts"),
    path(ALERT, alerts.AlertView.as_view(), name="alert"),
    path(f"{ALERT}acknowledge/", alerts.AcknowledgeAlert.as_view(), name="acknowledge_alert"),
    path(f"{ALERT}snooze/", alerts.SnoozeAlert.as_view(), name="snooze_alert"),
    path(f"{ALERT}release/", alerts.ReleaseAlert.as_view(), name="release_alert"),
    path("channels/", channels.Channels.as_view(), name="channels"),
    path(f"{SITE}channels/", channels.SiteChannels.as_view(), name="site_channels"),
    path(CHANNEL, channels.ChannelView.as_view(), name="channel"),
    path(f"{CHANNEL}pause/", channels.PauseChannel.as_view(), name="pause_channel"),
    path(f"{CHANNEL}resume/", channels.ResumeChannel.as_view(), name="resume_channel"),
    path(f"{CHANNEL}notices/", channels.Notices.as_view(), name="notices"),
    path("proposals/", proposals.Proposals.as_view(), name="proposals"),
    path(PROPOSAL, proposals.ProposalView.as_view(), name="proposal"),
    path(f"{PROPOSAL}accept/", proposals.AcceptProposal.as_view(), name="accept_proposal"),
    path(f"{PROPOSAL}reject/", proposals.RejectProposal.as_view(), name="reject_proposal"),
    path(f"{SITE}heal/", proposals.SiteHealing.as_view(), name="heal_site"),
]
