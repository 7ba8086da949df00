"""Times as rows carry them: the text that the database writes."""

from __future__ import annotations

from typing import Any

from django.db.models import Func, TextField


class IsoTime(Func):
    """A time as the database writes it: a thousand datetime objects cost more than all the rest."""

    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **_: Any) -> Any:
        form = """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"""
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', {form})"
        return self.as_sql(compiler, connection, template=template)

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="replace(%(expressions)s, ' ', 'T') || 'Z'"
        )
