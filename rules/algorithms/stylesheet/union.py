"""Print how a stylesheet emits the values of several sets of nodes in the order of the page.

Cost:       A look at the nodes of each set for each node: lists are short.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules.algorithms.stylesheet.cutting import indented


def print_union(emits: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines that emit the nodes of $nodes-1, $nodes-2 and so on, each in its own way.

    A node that several of them have is emitted once, in the way of the first.
    """
    names = [f"$nodes-{number}" for number in range(1, len(emits) + 1)]
    lines = [f'<xsl:for-each select="{" | ".join(names)}">', "  <xsl:choose>"]
    for name, emit in zip(names[:-1], emits, strict=False):
        lines += [
            f'    <xsl:when test="count(. | {name}) = count({name})">',
            *indented(list(emit), 3),
            "    </xsl:when>",
        ]
    return [
        *lines,
        "    <xsl:otherwise>",
        *indented(list(emits[-1]), 3),
        "    </xsl:otherwise>",
        "  </xsl:choose>",
        "</xsl:for-each>",
    ]
