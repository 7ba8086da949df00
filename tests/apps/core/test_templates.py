"""What templates may not do, whatever page they are of."""

from __future__ import annotations

import re

from django.conf import settings

# Filters of `interface` that write an element: within a value of an attribute they would end it.
ELEMENT_WITHIN_VALUE = re.compile(r"""="[^"<>]*\{\{[^}"]*\|(?:at|ago|breakable)\b""")


def test_no_filter_that_writes_an_element_stands_in_an_attribute() -> None:
    broken = [
        f"{path.name}:{number}"
        for path in settings.BASE_DIR.glob("templates/**/*.html")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ELEMENT_WITHIN_VALUE.search(line)
    ]

    assert [] == broken
