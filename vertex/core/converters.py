"""The parts of addresses that stand for a site and for a row; registered by the application."""

MAX_ID = 2**63 - 1


class NameConverter:
    """A site's name."""

    regex = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}"  # as SITE_NAME has it; a test compares them

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class IdConverter:
    """A row's number, no larger than the database has."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if number > MAX_ID:
            raise ValueError(f"{number} is larger than any id")
        return number

    def to_url(self, value: int) -> str:
        return str(value)
