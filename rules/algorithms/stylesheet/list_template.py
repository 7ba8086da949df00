"""Print the outer template of a list's stylesheet: one record for each element that begins one.

Readings:   A record of one element is that element. One that goes on collects its siblings, step
            by step, until the next record begins or a sibling is unlike all that its own are
            known to be like. What the page says once, such as its heading, is found once and
            stands in each record.
Departures: With the parameter `links` a record emits its first links, from which its key
            may be made.
Cost:       Linear in the elements and their siblings; a record has at most MAX_NODES
            elements and texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import OF_PAGE, AttributeRule, Boundary
from rules.algorithms.rule.xpaths import any_of
from rules.algorithms.stylesheet.cutting import indented, quoted
from rules.algorithms.stylesheet.fast_paths import element_test

MAX_NODES = 800  # of a record that is a run; libxslt stops a recursion at 3,000
MAX_LINKS = 8  # of a record that are emitted

LINKS: Final = [
    "<!-- 1 tells the first links of each record of a list. -->",
    '<xsl:param name="links" select="0"/>',
]
_RECORD_NODES: Final = [
    '<xsl:if test="$provenance > 1">',
    '  <xsl:attribute name="node">',
    '    <xsl:for-each select="$record[self::*]">',
    '      <xsl:call-template name="path"/><xsl:text> </xsl:text>',
    "    </xsl:for-each>",
    "  </xsl:attribute>",
    "</xsl:if>",
]
_RECORD_LINKS: Final = [
    '<xsl:if test="$links > 0">',
    (
        '  <xsl:for-each select="($record/descendant-or-self::a[@href])[position() '
        f'&lt;= {MAX_LINKS}]">'
    ),
    '    <link><xsl:value-of select="@href"/></link>',
    "  </xsl:for-each>",
    "</xsl:if>",
]


def of_page(rules: Iterable[AttributeRule]) -> list[AttributeRule]:
    """Return the rules of what a list page says once."""
    return [rule for rule in rules if rule.scope == OF_PAGE]


def list_template(
    boundary: Boundary, nodes: str, variables: Sequence[str], rules: Sequence[AttributeRule]
) -> list[str]:
    """Return the templates of a list; `nodes` is the XPath of the elements that begin records."""
    name = "run" if boundary.is_run else "record"
    call = [f'<xsl:call-template name="{name}">', '  <xsl:with-param name="record" select="."/>']
    main = [
        f"<!-- {comment(_description(boundary))} -->",
        '<xsl:template match="/">',
        *indented(list(variables)),
        "  <records>",
        f'    <xsl:for-each select="{quoted(nodes)}">',
        *indented([*call, "</xsl:call-template>"], 3),
        "    </xsl:for-each>",
        "  </records>",
        "</xsl:template>",
    ]
    run = _run_template(boundary) if boundary.is_run else []
    return indented([*_page_values(of_page(rules)), *main, *run, *_record_template(rules)])


def template_name(rule: AttributeRule) -> str:
    """Return the name of the template that emits an attribute's values."""
    return f"attribute-{rule.attribute}"


def comment(text: str) -> str:
    """Return a text as it may stand in an XML comment.

    >>> comment("a -- b")
    'a - - b'
    """
    shown = "".join(letter if letter.isprintable() else f"U+{ord(letter):04X}" for letter in text)
    return shown.replace("--", "- -").removesuffix("-")


def _description(boundary: Boundary) -> str:
    begins = f"A record begins at {boundary.first.xpath}"
    if not boundary.is_run:
        return f"{begins} and has no other element."
    like = " or ".join(map(_kind, boundary.further)) if boundary.further else "anything"
    siblings = (
        f"to {boundary.n_siblings} elements like {like}"
        if boundary.n_siblings > 1
        else "no element"
    )
    texts = " and all texts" if boundary.has_text else ""
    return f"{begins} and takes up {siblings}{texts} behind it, until the next begins."


def _kind(features: Sequence[Feature]) -> str:
    return element_test(features).removeprefix("self::")


def _page_values(rules: Sequence[AttributeRule]) -> list[str]:
    if not rules:
        return []
    calls = [f'<xsl:call-template name="{template_name(rule)}"/>' for rule in rules]
    return [
        "<!-- What the page says once and each record has. -->",
        '<xsl:variable name="of-page">',
        *indented(calls),
        "</xsl:variable>",
        "",
    ]


def _run_template(boundary: Boundary) -> list[str]:
    """Return the template that adds to a record the sibling behind it, and goes on from there."""
    is_further = "true()"
    if boundary.further:
        is_further = any_of(element_test(kind) for kind in boundary.further)
    first = element_test(boundary.first.features)
    goes_on = f"count($record[self::*]) < {boundary.n_siblings} and ({is_further}) and not({first})"
    step = "node()[1][not(self::*) or " if boundary.has_text else "*[1]["
    siblings = f"$last/following-sibling::{step}{goes_on}][count($record) < {MAX_NODES}]"
    return [
        "",
        "<!-- Add to a record the siblings behind it that are its own. -->",
        '<xsl:template name="run">',
        '  <xsl:param name="record"/>',
        '  <xsl:param name="last" select="$record"/>',
        f'  <xsl:variable name="next" select="{quoted(siblings)}"/>',
        "  <xsl:choose>",
        '    <xsl:when test="$next">',
        '      <xsl:call-template name="run">',
        '        <xsl:with-param name="record" select="$record | $next"/>',
        '        <xsl:with-param name="last" select="$next"/>',
        "      </xsl:call-template>",
        "    </xsl:when>",
        "    <xsl:otherwise>",
        '      <xsl:call-template name="record">',
        '        <xsl:with-param name="record" select="$record"/>',
        "      </xsl:call-template>",
        "    </xsl:otherwise>",
        "  </xsl:choose>",
        "</xsl:template>",
    ]


def _record_template(rules: Sequence[AttributeRule]) -> list[str]:
    """Return the template that emits a record of some nodes."""
    calls: list[str] = []
    for rule in rules:
        if rule.scope == OF_PAGE:
            continue
        calls += [
            f'<xsl:call-template name="{template_name(rule)}">',
            '  <xsl:with-param name="record" select="$record"/>',
            "</xsl:call-template>",
        ]
    of_the_page = ['<xsl:copy-of select="$of-page"/>'] if of_page(rules) else []
    return [
        "",
        '<xsl:template name="record">',
        '  <xsl:param name="record"/>',
        "  <record>",
        *indented([*_RECORD_NODES, *of_the_page, *calls, *_RECORD_LINKS], 2),
        "  </record>",
        "</xsl:template>",
    ]
