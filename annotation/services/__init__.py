"""All writes of this app; those of verticals can be called from here."""

from annotation.services.verticals.verticals import (
    MAX_ATTRIBUTES,
    MAX_DESCRIPTION,
    MAX_REGEX,
    BadVertical,
    ChangedMeanwhile,
    VerticalInUse,
    VerticalPlan,
    assign_vertical,
    check_vertical,
    delete_vertical,
    describe,
    problem_of_regex,
    problems_of,
    read_vertical,
    ready_made_verticals,
    save_vertical,
)

__all__ = [
    "MAX_ATTRIBUTES",
    "MAX_DESCRIPTION",
    "MAX_REGEX",
    "BadVertical",
    "ChangedMeanwhile",
    "VerticalInUse",
    "VerticalPlan",
    "assign_vertical",
    "check_vertical",
    "delete_vertical",
    "describe",
    "problem_of_regex",
    "problems_of",
    "read_vertical",
    "ready_made_verticals",
    "save_vertical",
]
