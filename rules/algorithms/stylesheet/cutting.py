"""Print how a stylesheet cuts the value out of a node's text; the paper's range pruner in XSLT 1.0.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE
            2011), section III-C.4.
Readings:   As `range_pruner.select_parts`, whose answers these templates give.
Cost:       Words and parts are counted one by one by recursion; a text of more than MAX_WORDS words
            has no value by word offsets.
"""

from __future__ import annotations

from typing import Final

from clustering.dom import visible
from rules.algorithms.rule.rule import Selection
from rules.algorithms.rule.xpaths import literal, shown_form

MAX_WORDS = 1_000  # libxslt stops a recursion at 3,000

BEFORE_LAST, WORDS, PARTS, SHOWN = "before-last", "words", "parts", "shown"
TEXTLESS: Final = " | ".join(sorted(visible.INVISIBLE_TAGS))
BLOCKS: Final = " | ".join(sorted(visible.BLOCKS))

TEMPLATES: Final = {
    SHOWN: f"""
  <!-- The text of an element as a reader sees it: no scripts, and a blank between blocks. -->
  <xsl:template match="{TEXTLESS}" mode="shown"/>
  <xsl:template match="{BLOCKS}" mode="shown">
    <xsl:text> </xsl:text><xsl:apply-templates mode="shown"/><xsl:text> </xsl:text>
  </xsl:template>
""",
    BEFORE_LAST: """
  <!-- The text before the last occurrence of a mark. -->
  <xsl:template name="before-last">
    <xsl:param name="text"/>
    <xsl:param name="mark"/>
    <xsl:value-of select="substring-before($text, $mark)"/>
    <xsl:variable name="rest" select="substring-after($text, $mark)"/>
    <xsl:if test="contains($rest, $mark)">
      <xsl:value-of select="$mark"/>
      <xsl:call-template name="before-last">
        <xsl:with-param name="text" select="$rest"/>
        <xsl:with-param name="mark" select="$mark"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>
""",
    WORDS: f"""
  <!-- Words of a text, counted from 1 at its beginning or from -1 at its end. -->
  <xsl:template name="words">
    <xsl:param name="text"/>
    <xsl:param name="first"/>
    <xsl:param name="last"/>
    <xsl:variable name="n" select="string-length($text) - string-length(translate($text, ' ', '')) + 1"/>
    <xsl:variable name="from" select="$first + ($first &lt; 0) * ($n + 1)"/>
    <xsl:variable name="to" select="$last + ($last &lt; 0) * ($n + 1)"/>
    <xsl:variable name="is-inside" select="1 &lt;= $from and $from &lt;= $to and $to &lt;= $n"/>
    <xsl:if test="$text != '' and $is-inside and $n &lt;= {MAX_WORDS}">
      <xsl:call-template name="some-words">
        <xsl:with-param name="text" select="concat($text, ' ')"/>
        <xsl:with-param name="skip" select="$from - 1"/>
        <xsl:with-param name="take" select="$to - $from + 1"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>

  <xsl:template name="some-words">
    <xsl:param name="text"/>
    <xsl:param name="skip"/>
    <xsl:param name="take"/>
    <xsl:if test="$skip = 0">
      <xsl:value-of select="substring-before($text, ' ')"/>
      <xsl:if test="$take > 1"><xsl:text> </xsl:text></xsl:if>
    </xsl:if>
    <xsl:if test="$skip > 0 or $take > 1">
      <xsl:call-template name="some-words">
        <xsl:with-param name="text" select="substring-after($text, ' ')"/>
        <xsl:with-param name="skip" select="$skip - ($skip > 0)"/>
        <xsl:with-param name="take" select="$take - ($skip = 0)"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>
""",
}


def templates_for(selection: Selection) -> set[str]:
    """Return the names of the shared templates that a selection needs."""
    names = set()
    if selection.suffix and selection.is_last_suffix:
        names.add(BEFORE_LAST)
    if (selection.first, selection.last) != (1, -1):
        names.add(WORDS)
    return names


def print_cut(selection: Selection, string: str) -> list[str]:
    """Return the lines that put a string expression's selected text into the variable `text`."""
    lines = [f'<xsl:variable name="shown" select="{quoted(shown_form(string))}"/>']
    source = "$shown"
    if selection.prefix:
        lines += _variable("behind", _after_prefix(selection, source))
        source = "$behind"
    if selection.suffix:
        lines += _variable("before", _before_suffix(selection, source))
        source = "$before"
    if (selection.first, selection.last) != (1, -1):
        lines += _variable("part", _words(selection, f"normalize-space({source})"))
        source = "$part"
    return [*lines, f'<xsl:variable name="text" select="normalize-space({source})"/>']


def _after_prefix(selection: Selection, source: str) -> list[str]:
    prefix = literal(selection.prefix)
    behind = f'<xsl:value-of select="{quoted(f"substring-after({source}, {prefix})")}"/>'
    return _where_found(selection, source, prefix, [behind])


def _before_suffix(selection: Selection, source: str) -> list[str]:
    suffix = literal(selection.suffix)
    if not selection.is_last_suffix:
        before = [f'<xsl:value-of select="{quoted(f"substring-before({source}, {suffix})")}"/>']
    else:
        before = _call(BEFORE_LAST, {"text": source, "mark": suffix})
    return _where_found(selection, source, suffix, before)


def _where_found(selection: Selection, source: str, mark: str, part: list[str]) -> list[str]:
    """Return the lines for a text that holds a mark; without it nothing, or all of it, is taken."""
    test = quoted(f"contains({source}, {mark})")
    if not selection.is_optional:
        return [f'<xsl:if test="{test}">', *indented(part), "</xsl:if>"]
    return [
        "<xsl:choose>",
        f'  <xsl:when test="{test}">',
        *indented(part, 2),
        "  </xsl:when>",
        f'  <xsl:otherwise><xsl:value-of select="{source}"/></xsl:otherwise>',
        "</xsl:choose>",
    ]


def _words(selection: Selection, source: str) -> list[str]:
    return _call(
        WORDS, {"text": source, "first": str(selection.first), "last": str(selection.last)}
    )


def _call(name: str, parameters: dict[str, str]) -> list[str]:
    given = [
        f'<xsl:with-param name="{parameter}" select="{quoted(xpath)}"/>'
        for parameter, xpath in parameters.items()
    ]
    return [f'<xsl:call-template name="{name}">', *indented(given), "</xsl:call-template>"]


def _variable(name: str, content: list[str]) -> list[str]:
    return [f'<xsl:variable name="{name}">', *indented(content), "</xsl:variable>"]


def indented(lines: list[str], n: int = 1) -> list[str]:
    """Return the lines, moved to the right by n steps."""
    return [f"{'  ' * n}{line}" for line in lines]


def quoted(text: str) -> str:
    """Return a text as it stands between the quotes of an XML attribute."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return "".join(
        character if character.isprintable() else f"&#{ord(character)};" for character in escaped
    )
