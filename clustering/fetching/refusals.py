"""What all refusals of a fetch have in common."""


class FetchRefused(Exception):
    """A request was not made, or its answer was not accepted."""

    code = "refused"  # a word to group by
    is_transient = False  # whether trying again may help


class FetchStopped(FetchRefused):
    """The work was called off in mid-request."""

    code = "stopped"
