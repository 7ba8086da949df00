"""What is watched: schedules, checks, coverage, changes, alerts with notices, repairs, the stream."""

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
from monitoring.models.stream import (
    ChainStep,
    FreshnessGoal,
    FreshnessGoalQuerySet,
    Revisit,
    RevisitQuerySet,
)

__all__ = [
    "Alert",
    "AlertQuerySet",
    "ChainStep",
    "Channel",
    "ChannelQuerySet",
    "Check",
    "CheckQuerySet",
    "CheckedPage",
    "Coverage",
    "CoverageMark",
    "ErrorPage",
    "FetchedPage",
    "FreshnessGoal",
    "FreshnessGoalQuerySet",
    "Notice",
    "NoticeQuerySet",
    "Proposal",
    "ProposalQuerySet",
    "Revisit",
    "RevisitQuerySet",
    "SavedPlan",
    "Schedule",
    "ScheduleQuerySet",
    "SiteChange",
    "SiteChangeQuerySet",
    "SiteThresholds",
    "Slot",
    "SlotQuerySet",
]
