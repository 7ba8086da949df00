"""Print how a stylesheet says to which entry of a nested list a value belongs.

Notation:   `$entries-of-LIST` is a text of the ids and numbers of the elements that begin entries,
            in the order of the page: `|id1 1|id2 2|`. XSLT 1.0 compares no places; in this text a
            value looks up its nearest entry.
Readings:   Each value of such a list has the attribute `item`, the number of its entry on the page
            or in the record. A value in no entry has none.
Cost:       Of a value its depth, and of an entry that is a run the siblings before it, each with a
            look into a text of at most MAX_ENTRIES entries.
"""

from __future__ import annotations

from rules.algorithms.rule.rule import NestedList
from rules.algorithms.stylesheet.cutting import quoted
from rules.algorithms.stylesheet.fast_paths import element_test

MAX_ENTRIES = 1_000  # of a list that are told apart


def entries_variable(nested: NestedList) -> str:
    """Return the name of the variable with the entries of a list."""
    return f"entries-of-{nested.name}"


def declare_entries(nested: NestedList, nodes: str) -> list[str]:
    """Return the lines that declare a list's entries; `nodes` is the XPath of where they begin."""
    return [
        f'<xsl:variable name="{entries_variable(nested)}">',
        f'  <xsl:for-each select="{quoted(f"({nodes})[position() <= {MAX_ENTRIES}]")}">',
        "    <xsl:value-of select=\"concat('|', generate-id(), ' ', position())\"/>",
        "  </xsl:for-each>",
        "  <xsl:text>|</xsl:text>",
        "</xsl:variable>",
    ]


def emit_item(nested: NestedList) -> list[str]:
    """Return the lines that add to the value of the current node the number of its entry."""
    entries = f"${entries_variable(nested)}"
    is_entry = f"contains({entries}, concat('|', generate-id(), ' '))"
    entry = f"ancestor-or-self::*[{is_entry}][1]"
    if nested.is_run:
        test = element_test(nested.first.features)
        before = f"ancestor-or-self::*/preceding-sibling::*[{test}]"
        entry = f"(ancestor-or-self::*[{test}] | {before})[{is_entry}][last()]"
    number = (
        f"substring-before(substring-after({entries}, concat('|', generate-id($entry), ' ')), '|')"
    )
    return [
        f'<xsl:variable name="entry" select="{quoted(entry)}"/>',
        '<xsl:if test="$entry">',
        f'  <xsl:attribute name="item"><xsl:value-of select="{quoted(number)}"/></xsl:attribute>',
        "</xsl:if>",
    ]
