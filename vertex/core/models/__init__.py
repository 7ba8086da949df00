"""Sites, people, jobs, what was refused, and what all outgoing messages have in common.

sites         a site, to which pages, people and jobs belong
people        people and services, what they may do and what they did
jobs          work as rows; what was refused on the way
outbox        what all messages have in common that are sent until they arrive
bodies        the name of a body in the page store, as a column
search        search by words, as every list of the interface does
installation  what an installation knows of itself
"""

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
