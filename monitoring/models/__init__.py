"""What is watched: schedules, checks, coverage, changes, alerts with notices, repairs, the stream.

schedules   when something begins; when a site is checked; a slot is one time that is due
kept_lists  lists of addresses that are visited at certain times
checks      checks with their pages, error pages, thresholds
changes     site changes, from the finding until they are over
coverage    what the rules make of all that comes in, day by day
alerts      alerts, channels, notices
proposals   how a cluster may be served after a site change
stream      visits to pages again, goals of freshness, steps of the chain
"""

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
from monitoring.models.kept_lists import KeptList, KeptListQuerySet
from monitoring.models.proposals import Proposal, ProposalQuerySet, SavedPlan
from monitoring.models.schedules import (
    Schedule,
    ScheduleQuerySet,
    Slot,
    SlotQuerySet,
    Timetable,
)
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
    "KeptList",
    "KeptListQuerySet",
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
    "Timetable",
]
