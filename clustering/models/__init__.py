"""Sites and their pages, jobs, people."""

from clustering.models.jobs import Heartbeat, Job
from clustering.models.people import AuditEntry, LogInAttempt, Membership, Role, Scope, Token, User
from clustering.models.sites import Host, Link, Page, Refusal, SearchClick, Site, Snapshot

__all__ = [
    "AuditEntry",
    "Heartbeat",
    "Host",
    "Job",
    "Link",
    "LogInAttempt",
    "Membership",
    "Page",
    "Refusal",
    "Role",
    "Scope",
    "SearchClick",
    "Site",
    "Snapshot",
    "Token",
    "User",
]
