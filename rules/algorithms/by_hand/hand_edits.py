"""Change a stylesheet by hand: as a whole text, or the XPaths of single attributes.

An attribute whose XPaths are changed gets a template of its own that says where each value stands,
as learnt ones do; everything else stays as it is written. Of several XPaths the first that selects
something on a page serves it; the values of an attribute with several are what all of them select.
What the sandbox does not allow is refused, with the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from lxml import etree
from lxml.etree import _Element

from rules.algorithms.by_hand.sandbox import MAX_STYLESHEET, XSL, StylesheetRefused, read_stylesheet
from rules.algorithms.rule.rule import AttributeRule, ClusterRule, Selection
from rules.algorithms.rule.xpaths import shown_form
from rules.algorithms.stylesheet.cutting import (
    TEMPLATES,
    indented,
    print_cut,
    quoted,
    templates_for,
)
from rules.algorithms.stylesheet.list_template import comment
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.algorithms.stylesheet.union import print_union

MAX_XPATHS = 10  # of one attribute
PROVENANCE: Final = "provenance"

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
_ENCODING = re.compile(r"""\sencoding\s*=\s*(["'])[^"']*\1""")
_TEMPLATE: Final = f"{{{XSL}}}template"
_PLACE: Final = "place-of-value"
_PLACE_TEMPLATE: Final = """
  <!-- The path of the current element, text or attribute, with positions. -->
  <xsl:template name="place-of-value">
    <xsl:for-each select="ancestor-or-self::*">
      <xsl:value-of select="concat('/*[', count(preceding-sibling::*) + 1, ']')"/>
    </xsl:for-each>
    <xsl:choose>
      <xsl:when test="self::*"/>
      <xsl:when test="self::text()">
        <xsl:value-of select="concat('/text()[', count(preceding-sibling::text()) + 1, ']')"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="concat('/@', name())"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>
"""
_MADE: Final = "Made by a program; change the annotations and learn it again."
_CHANGED: Final = "Made by a program, then changed by hand."


@dataclass(frozen=True, slots=True)
class HandWritten:
    """The XPaths that somebody wrote for an attribute.

    The first that selects something serves a page; several values are what all of them select.
    """

    attribute: str
    xpaths: tuple[str, ...]
    is_multi: bool = False
    # The part of the text that each XPath takes; without one the whole text.
    selections: tuple[Selection, ...] = ()

    def selection(self, index: int) -> Selection:
        """Return the part of the text that an XPath takes."""
        return self.selections[index] if index < len(self.selections) else Selection()


class XPathCheck(Protocol):
    """Refuse XPaths that a rule may not have: `rules.bundle.xpath_checks.check_xpaths`."""

    def __call__(self, written: HandWritten, /, *, is_within_record: bool) -> None: ...


def stylesheet_text(given: bytes | str) -> str:
    """Return a stylesheet as it is stored: declared as UTF-8.

    Raises StylesheetRefused.
    """
    if isinstance(given, bytes):
        given = _decoded(given)
    text = given.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff\n ").rstrip() + "\n"
    if len(text.encode("utf-8", "replace")) > MAX_STYLESHEET:
        raise StylesheetRefused(f"the stylesheet is larger than {MAX_STYLESHEET:,} bytes")
    if not text.isprintable() and re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text
    ):
        raise StylesheetRefused(
            "the stylesheet holds characters that XML does not know; is it text?"
        )
    declared = _DECLARATION.match(text)
    if declared is None:
        return text
    return _ENCODING.sub(' encoding="UTF-8"', declared[0], count=1) + text[declared.end() :]


def _decoded(given: bytes) -> str:
    """Return the text of a file, in the encoding that it declares."""
    if len(given) > MAX_STYLESHEET:
        raise StylesheetRefused(
            f"the stylesheet has {len(given):,} bytes; at most {MAX_STYLESHEET:,} are allowed"
        )
    encoding = read_stylesheet(given).getroottree().docinfo.encoding or "UTF-8"
    try:
        return given.decode("utf-16" if encoding.upper().startswith("UTF-16") else encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise StylesheetRefused(
            f"the stylesheet is not the {encoding} that it declares: {error}"
        ) from None


def empty_stylesheet(names: Sequence[str], *, title: str = "") -> str:
    """Return a stylesheet that finds nothing yet, with a template for each attribute."""
    return stylesheet_of(ClusterRule(tuple(AttributeRule(name) for name in names)), title=title)


def tells_places(root: _Element) -> bool:
    """Return whether a stylesheet has the parameter that makes it emit where values stand."""
    parameters = root.iterchildren(f"{{{XSL}}}param")
    return any(parameter.get("name") == PROVENANCE for parameter in parameters)


def within_record(root: _Element, names: Sequence[str]) -> set[str]:
    """Return the attributes that are looked for within each record of a list."""
    within = set()
    for name in names:
        template = _template_of(root, name)
        if template is not None and _takes_record(template):
            within.add(name)
    return within


def same_templates(before: _Element, after: _Element, names: Sequence[str]) -> set[str]:
    """Return the attributes whose templates two stylesheets share, comments aside."""
    same = set()
    for name in names:
        old, new = _template_of(before, name), _template_of(after, name)
        if old is not None and new is not None and _canonical(old) == _canonical(new):
            same.add(name)
    return same


def _canonical(template: _Element) -> bytes:
    return etree.tostring(template, method="c14n", with_comments=False).strip()


def _template_of(root: _Element, attribute: str) -> _Element | None:
    name = f"attribute-{attribute}"
    for template in root.iterchildren(_TEMPLATE):
        if template.get("name") == name:
            return template
    return None


def with_xpaths(text: str, written: Sequence[HandWritten], *, check: XPathCheck) -> str:
    """Return a stylesheet in which some attributes are found by XPaths that somebody wrote.

    `check` is asked before an XPath is printed. Raises StylesheetRefused.
    """
    root = read_stylesheet(text.encode())
    lines = text.split("\n")
    changed: list[tuple[_Element, HandWritten]] = []
    new: list[HandWritten] = []
    for attribute in written:
        template = _template_of(root, attribute.attribute)
        if template is None:
            new.append(attribute)
        else:
            changed.append((template, attribute))
    # From the last line up: the lines of those before it stay where they are.
    for template, attribute in sorted(changed, key=lambda pair: _line(pair[0]), reverse=True):
        first, last = _span(lines, template)
        is_within_record = _takes_record(template)
        lines[first : last + 1] = _template(attribute, check, is_within_record=is_within_record)
    added: list[str] = []
    for attribute in new:
        is_within_record = _add_call(lines, root, attribute.attribute)
        added += ["", *_template(attribute, check, is_within_record=is_within_record)]
    names = {str(template.get("name")) for template in root.iterchildren(_TEMPLATE)}
    shared = {name: TEMPLATES[name] for name in sorted(_shared_by(written))}
    for name, text_of_template in (shared | {_PLACE: _PLACE_TEMPLATE}).items():
        if name not in names:
            added += text_of_template.rstrip("\n").split("\n")
    if not tells_places(root):
        added[:0] = ["", '  <xsl:param name="provenance" select="0"/>']
    result = "\n".join(_before_end(lines, added)).replace(_MADE, _CHANGED, 1)
    read_stylesheet(result.encode())
    return result


def _shared_by(written: Sequence[HandWritten]) -> set[str]:
    """Return the names of the templates by which the texts of some attributes are cut."""
    names: set[str] = set()
    for attribute in written:
        for index in range(len(attribute.xpaths)):
            names |= templates_for(attribute.selection(index))
    return names


def _span(lines: Sequence[str], template: _Element) -> tuple[int, int]:
    """Return the numbers of the first and last line of a template, with the comment on it before.

    Raises StylesheetRefused where it does not begin and end on lines of its own.
    """
    name = str(template.get("name"))
    first = _line(template) - 1
    begin = first
    if first and lines[first - 1].strip().startswith(f"<!-- {name.removeprefix('attribute-')} ("):
        begin = first - 1
    if 0 <= first < len(lines) and lines[first].lstrip().startswith("<xsl:template "):
        if lines[first].rstrip().endswith("/>"):
            return begin, first
        for number in range(first, len(lines)):
            if lines[number].rstrip().endswith("</xsl:template>"):
                return begin, number
    raise StylesheetRefused(
        f"the template {name} does not begin and end on lines of its own; "
        "change it in the stylesheet"
    )


def _line(template: _Element) -> int:
    line: Any = template.sourceline
    return int(line or 0)


def _takes_record(template: _Element) -> bool:
    return any(param.get("name") == "record" for param in template.iterchildren(f"{{{XSL}}}param"))


def _add_call(lines: list[str], root: _Element, attribute: str) -> bool:
    """Add the call of a new attribute's template to that of the record.

    Returns whether the call is within a record of a list.

    Raises StylesheetRefused.
    """
    ends = [n for n, line in enumerate(lines) if line.strip() == "</record>"]
    records = list(root.iter("record"))
    if len(ends) != 1 or len(records) != 1:
        raise StylesheetRefused(
            f"the stylesheet has no template attribute-{attribute}, and no single <record> that "
            "ends on a line of its own to call one from; write it in the stylesheet"
        )
    templates = list(records[0].iterancestors(_TEMPLATE))
    is_within_record = bool(templates) and _takes_record(templates[0])
    call = [f'<xsl:call-template name="attribute-{attribute}">']
    if is_within_record:
        call.append('  <xsl:with-param name="record" select="$record"/>')
    call.append("</xsl:call-template>")
    lines[ends[0] : ends[0]] = indented(call, 3)
    return is_within_record


def _before_end(lines: Sequence[str], added: Sequence[str]) -> list[str]:
    """Return the lines with some more before the end of the stylesheet."""
    if not added:
        return list(lines)
    for number in range(len(lines) - 1, -1, -1):
        if re.match(r"\s*</xsl:(stylesheet|transform)>", lines[number]):
            return [*lines[:number], *added, *lines[number:]]
    raise StylesheetRefused(
        "the stylesheet does not end with </xsl:stylesheet> on a line of its own"
    )


def _template(written: HandWritten, check: XPathCheck, *, is_within_record: bool) -> list[str]:
    """Return the template of an attribute. Raises StylesheetRefused."""
    check(written, is_within_record=is_within_record)
    values = "several values" if written.is_multi else "one value"
    content = ['<xsl:param name="record"/>'] if is_within_record else []
    emits = []
    for number, xpath in enumerate(written.xpaths, 1):
        nodes = f"$record/{xpath}" if is_within_record else f"({xpath})"
        content.append(_nodes(written, number, nodes))
        emits.append(_emit(written, number))
    if written.is_multi and len(emits) > 1:
        content += print_union(emits)
    else:
        for number, emit in enumerate(emits, 1):
            served = f"$nodes-{number}" if written.is_multi else f"$nodes-{number}[1]"
            content += [f'<xsl:for-each select="{served}">', *indented(emit), "</xsl:for-each>"]
    return [
        f'  <xsl:template name="attribute-{written.attribute}">',
        f"    <!-- {comment(f'{written.attribute}, {values}: written by hand.')} -->",
        *indented(content, 2),
        "  </xsl:template>",
    ]


def _nodes(written: HandWritten, number: int, nodes: str) -> str:
    """Return the variable of one of an attribute's XPaths, which are numbered from 1."""
    before = " | ".join(f"$nodes-{earlier}" for earlier in range(1, number))
    test = f"[{shown_form('.')}]"
    if before and not written.is_multi:
        test += f"[not({before})]"
    return f'<xsl:variable name="nodes-{number}" select="{quoted(nodes + test)}"/>'


def _emit(written: HandWritten, number: int) -> list[str]:
    """Return the lines that emit a node of an XPath, or the part of its text that is selected.

    Where the node's text has no such part, nothing is emitted.
    """
    selection = written.selection(number - 1)
    if selection.is_whole:
        return _value_lines(written.attribute, number, select=".")
    value = _value_lines(written.attribute, number, select="$text")
    return [*print_cut(selection, "."), '<xsl:if test="$text">', *indented(value), "</xsl:if>"]


def _value_lines(attribute: str, number: int, *, select: str) -> list[str]:
    return [
        f'<value name="{attribute}">',
        *indented(_provenance(number)),
        f'  <xsl:value-of select="{select}"/>',
        "</value>",
    ]


def _provenance(number: int) -> list[str]:
    return [
        '<xsl:if test="$provenance > 0">',
        f'  <xsl:attribute name="way">{number}</xsl:attribute>',
        (
            '  <xsl:attribute name="of"><xsl:value-of '
            f'select="count($nodes-{number})"/></xsl:attribute>'
        ),
        "</xsl:if>",
        '<xsl:if test="$provenance > 1">',
        f'  <xsl:attribute name="node"><xsl:call-template name="{_PLACE}"/></xsl:attribute>',
        "</xsl:if>",
    ]


def ways_of(
    figure: Mapping[str, object], learnt: Mapping[str, object]
) -> list[tuple[str, Selection]]:
    """Return the XPaths by which a version finds an attribute, each with the part it takes."""
    alternatives = figure.get("ways") or learnt.get("alternatives") or []
    assert isinstance(alternatives, list)  # noqa: S101 - both are lists of what was stored
    return [
        (alternative["xpath"], Selection.from_json(alternative.get("selection") or {}))
        for alternative in alternatives
    ]
