"""What is watched: schedules, checks, coverage, site changes, alerts with their notices, and repairs."""

from monitoring.models.alerts import (
    Alert,
    AlertQuerySet,
    Channel,
    ChannelQuerySet,
    Notice,
    NoticeQuerySet,
)
from monitoring.models.changes import SiteChange, SiteChangeQuerySet
from monitoring.models.checks import (
    Check,
    CheckedPage,
    CheckQuerySet,
    ErrorPage,
    FetchedPage,
    SiteThresholds,
)
from monitoring.models.coverage import Coverage, CoverageMark
from monitoring.models.proposals import Proposal, ProposalQuerySet, SavedPlan
from monitoring.models.schedules import Schedule, ScheduleQuerySet, Slot, SlotQuerySet

__all__ = [
    "Alert",
    "AlertQuerySet",
    "Channel",
    "ChannelQuerySet",
    "Check",
    "CheckQuerySet",
    "CheckedPage",
    "Coverage",
    "CoverageMark",
    "ErrorPage",
    "FetchedPage",
    "Notice",
    "NoticeQuerySet",
    "Proposal",
    "ProposalQuerySet",
    "SavedPlan",
    "Schedule",
    "ScheduleQuerySet",
    "SiteChange",
    "SiteChangeQuerySet",
    "SiteThresholds",
    "Slot",
    "SlotQuerySet",
]
