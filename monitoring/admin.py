"""The stock admin, for superusers to look up what monitoring keeps; it is changed elsewhere."""

from __future__ import annotations

from clustering.admin import ReadOnlyAdmin, site
from monitoring.models import Alert, Check, Notice, Proposal, Schedule, SiteChange


class AlertAdmin(ReadOnlyAdmin):
    list_display = ("id", "site", "kind", "raised_at", "ended_at")
    list_filter = ("kind",)
    search_fields = ("site__name", "text")


class CheckAdmin(ReadOnlyAdmin):
    list_display = ("id", "site", "made_at", "site_changed", "paper_verdict", "n_reachable", "n_pages")
    search_fields = ("site__name",)


class SiteChangeAdmin(ReadOnlyAdmin):
    list_display = ("id", "site", "cluster", "found_at", "ended_at", "end")
    search_fields = ("site__name", "reason")


class NoticeAdmin(ReadOnlyAdmin):
    list_display = ("id", "alert", "event", "state", "n_tries", "error")


class ProposalAdmin(ReadOnlyAdmin):
    list_display = ("id", "site", "name", "decision", "state", "made_at")
    search_fields = ("site__name", "name")


class ScheduleAdmin(ReadOnlyAdmin):
    list_display = ("site", "every", "unit", "time_zone", "is_active", "next_at")
    search_fields = ("site__name",)


site.register(Alert, AlertAdmin)
site.register(Check, CheckAdmin)
site.register(SiteChange, SiteChangeAdmin)
site.register(Notice, NoticeAdmin)
site.register(Proposal, ProposalAdmin)
site.register(Schedule, ScheduleAdmin)
