"""Events that more than one app raises and that the interface answers alike."""


class AlreadyExists(Exception):
    """What is to be made is there: a site of that name, an unfinished job for the same work."""


class TooBusy(Exception):
    """Nobody was free to do what was asked for; in a while somebody is."""

    may_be_saved = False  # whether what was asked for may have been done all the same
