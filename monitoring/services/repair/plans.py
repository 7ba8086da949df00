"""How a new cluster is to be served: by an old rule, by a new one, or by nothing yet."""

from __future__ import annotations

from dataclasses import dataclass

from monitoring.algorithms.rule_reuse import NewCluster, Reuse
from monitoring.models import Proposal
from monitoring.services.repair.relearning import Relearnt
from rules.models import Rule


@dataclass(slots=True)
class RepairPlan:
    """How a new cluster is to be served."""

    new: NewCluster
    reuse: Reuse
    rule: Rule | None = None  # that of the old cluster
    relearnt: Relearnt | None = None

    @property
    def decision(self) -> str:
        if self.reuse.from_cluster is not None:
            return Proposal.Decision.REUSED.value
        if self.relearnt is not None:
            return Proposal.Decision.PROPOSED.value
        return Proposal.Decision.NEEDS_ANNOTATION.value

    @property
    def may_be_published(self) -> bool:
        """Say whether the field test lets the rule serve the cluster."""
        return self.relearnt is not None and self.relearnt.verdict.has_passed

    @property
    def why(self) -> list[str]:
        told = list(self.reuse.why)
        if self.relearnt is not None:
            told.append(f"New rule: {self.relearnt.verdict.why}")
        return told
