"""Sites, people, jobs, what was refused, and what all outgoing messages have in common."""

from vertex.core.models.installation import Installation
from vertex.core.models.jobs import Heartbeat, Job, Refusal
from vertex.core.models.people import AuditEntry, LogInAttempt, Membership, Role, Scope, Token, User
from vertex.core.models.sites import Site

__all__ = [
    "AuditEntry",
    "Heartbeat",
    "Installation",
    "Job",
    "LogInAttempt",
    "Membership",
    "Refusal",
    "Role",
    "Scope",
    "Site",
    "Token",
    "User",
]
