"""Turn a cluster's rule into an XSLT 1.0 stylesheet that people can read and any processor runs.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE
            2011), section III-C.
Readings:   The first alternative that selects a node on a page serves it, and of its nodes the
            first in document order is taken; of an attribute with several values all alternatives
            have their part. Naive Bayes is arithmetic: of the candidates with a score above 0 the
            highest, by xsl:sort, which keeps the order of equals.
Departures: Blank text nodes are kept (`fast_paths` says why). Scores are compared in
            ten-thousandths, the precision of the weights.
Cost:       Linear in the rule. No extension functions.

The output is `<record><value name="ATTRIBUTE">…</value></record>`, within `<records>` where the
rule has a record boundary (`list_template`). The parameter `provenance` adds to each value: at 1
which alternative served it, how many nodes it selected, how many losers select something and how
many of them agree; at 2 also the path of the node. A value of a nested list has the number of its
entry, see `entries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rules.algorithms.rule.rule import (
    ELEMENT_TARGET,
    HTML,
    NAIVE_BAYES,
    OF_PAGE,
    TEXT_TARGET,
    Alternative,
    AttributeRule,
    ClusterRule,
    NestedList,
)
from rules.algorithms.rule.xpaths import literal, shown_form
from rules.algorithms.stylesheet.cutting import (
    SHOWN,
    TEMPLATES,
    indented,
    print_cut,
    quoted,
    templates_for,
)
from rules.algorithms.stylesheet.entries import declare_entries, emit_item, entries_variable
from rules.algorithms.stylesheet.fast_paths import (
    Steps,
    fast_path,
    keys_worth_building,
    path_within,
)
from rules.algorithms.stylesheet.list_template import (
    LINKS,
    comment,
    list_template,
    of_page,
    template_name,
)
from rules.algorithms.stylesheet.union import print_union

SCALE = 10_000  # of scores
MAX_PAGES_NAMED = 5  # in a comment

_NAMESPACE: Final = 'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
_PLACES: Final = """
  <!-- What provenance tells of a value. -->
  <xsl:template name="provenance">
    <xsl:param name="way"/>
    <xsl:param name="n"/>
    <xsl:param name="rivals" select="0"/>
    <xsl:param name="agree" select="0"/>
    <xsl:attribute name="way"><xsl:value-of select="$way"/></xsl:attribute>
    <xsl:attribute name="of"><xsl:value-of select="$n"/></xsl:attribute>
    <xsl:attribute name="rivals"><xsl:value-of select="$rivals"/></xsl:attribute>
    <xsl:attribute name="agree"><xsl:value-of select="$agree"/></xsl:attribute>
  </xsl:template>

  <!-- The path of the current node, with positions. -->
  <xsl:template name="path">
    <xsl:for-each select="ancestor-or-self::*">
      <xsl:value-of select="concat('/*[', count(preceding-sibling::*) + 1, ']')"/>
    </xsl:for-each>
    <xsl:if test="not(self::*)">
      <xsl:value-of select="concat('/text()[', count(preceding-sibling::text()) + 1, ']')"/>
    </xsl:if>
  </xsl:template>
"""


@dataclass(slots=True)
class _Printer:
    """What has been printed so far, and what that needs."""

    is_list: bool
    nested_lists: Sequence[NestedList] = ()
    steps: Steps = field(default_factory=Steps)
    shared: set[str] = field(default_factory=set)  # templates
    # Attributes whose text is split, and the number of the alternative, by the name of
    # the template.
    splits: dict[str, tuple[AttributeRule, int]] = field(default_factory=dict)

    def is_within_record(self, rule: AttributeRule) -> bool:
        return self.is_list and rule.scope != OF_PAGE

    def nested_list_of(self, rule: AttributeRule) -> NestedList | None:
        """Return the nested list that an attribute is a field of, where its entries are known."""
        for nested in self.nested_lists:
            if nested.name == rule.list_name and nested.scope == rule.scope:
                return nested
        return None

    def nodes_of(self, rule: AttributeRule, alternative: Alternative) -> str:
        """Return the XPath of the nodes of an alternative; of "@name" the owners."""
        if self.is_within_record(rule):
            nodes = path_within("$record", alternative.target, alternative.features, self.steps)
            nodes += f"[{alternative.target}]" if alternative.target.startswith("@") else ""
        else:
            nodes = fast_path(alternative.target, alternative.features, self.steps)
        if alternative.kind == NAIVE_BAYES:
            return f"{nodes}[{score_of(alternative)} > 0]"
        if alternative.position:
            return f"({nodes})[{_position(alternative.position)}]"
        return nodes


def stylesheet_of(rule: ClusterRule, *, title: str = "") -> str:
    """Return the stylesheet of a cluster's rule; `title` says in its head what it is for."""
    is_list = rule.boundary is not None
    on_whole_page = of_page(rule.attributes) if is_list else rule.attributes
    features = [
        feature
        for attribute in on_whole_page
        for alternative in attribute.alternatives
        for feature in alternative.features
    ]
    printer = _Printer(is_list, rule.nested_lists, Steps(keys_worth_building(features)))
    main = _record_template(rule, printer)
    entries = _entries_of_page(printer)
    templates: list[str] = []
    for attribute in rule.attributes:
        templates += _attribute_template(attribute, printer)
    for attribute, number in printer.splits.values():
        templates += _split_template(attribute, number, printer)
    shared = "".join(TEMPLATES[name] for name in sorted(printer.shared))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        *_head(rule, title),
        f'<xsl:stylesheet version="1.0" {_NAMESPACE}>',
        '  <xsl:output method="xml" encoding="UTF-8"/>',
        "  <!-- 1 tells how each value was found, 2 also where. -->",
        '  <xsl:param name="provenance" select="0"/>',
        *indented(LINKS if is_list else []),
        *indented(printer.steps.declarations()),
        *indented(entries),
        "",
        *main,
        *templates,
    ]
    return "\n".join(lines) + "\n" + shared + _PLACES + "</xsl:stylesheet>\n"


def score_of(alternative: Alternative) -> str:
    """Return the score of a candidate in ten-thousandths, as arithmetic."""
    terms = [alternative.bias]
    for weight in alternative.weights:
        terms.append(f"boolean({weight.test}) * {weight.if_true}")
        if float(weight.if_false):
            terms.append(f"not({weight.test}) * {weight.if_false}")
    return f"round(({' + '.join(terms)}) * {SCALE})"


def _position(position: int) -> str:
    if position > 0:
        return str(position)
    return "last()" if position == -1 else f"last() - {-position - 1}"


def _head(rule: ClusterRule, title: str) -> list[str]:
    from_pages = ", ".join(rule.learnt_from[:MAX_PAGES_NAMED]) or "no page"
    more = len(rule.learnt_from) - MAX_PAGES_NAMED
    lines = [
        (
            f"{title or 'Rule of a cluster'}. Made by a program; "
            "change the annotations and learn it again."
        ),
        (
            f"Learner: {rule.learner}. Annotated: "
            f"{from_pages}{f' and {more} more' if more > 0 else ''}."
        ),
        f"Pages that gave support without annotations: {rule.n_unannotated}.",
    ]
    return ["<!--", *(f"  {comment(line)}" for line in lines), "-->"]


def _record_template(rule: ClusterRule, printer: _Printer) -> list[str]:
    if rule.boundary is not None:
        first = rule.boundary.first
        nodes = fast_path(first.target, first.features, printer.steps)
        return list_template(rule.boundary, nodes, _undeclared_variables(printer), rule.attributes)
    names = [template_name(attribute_rule) for attribute_rule in rule.attributes]
    calls = [f'<xsl:call-template name="{name}"/>' for name in names]
    return [
        '  <xsl:template match="/">',
        "    <record>",
        *indented(calls, 3),
        "    </record>",
        "  </xsl:template>",
    ]


def _entries_of_page(printer: _Printer) -> list[str]:
    """Return the lines that find once where the entries of the page's nested lists begin."""
    lines: list[str] = []
    for nested in printer.nested_lists:
        if printer.is_list and nested.scope != OF_PAGE:
            continue  # each record has entries of its own
        nodes = fast_path(nested.first.target, nested.first.features, printer.steps)
        lines += [*_undeclared_variables(printer), *declare_entries(nested, nodes)]
    return lines


def _entries_of_record(rule: AttributeRule, printer: _Printer) -> list[str]:
    """Return the lines that find where the entries of an attribute's list begin in a record."""
    nested = printer.nested_list_of(rule)
    if nested is None or not printer.is_within_record(rule):
        return []
    nodes = path_within("$record", nested.first.target, nested.first.features, printer.steps)
    return [*_undeclared_variables(printer), *declare_entries(nested, nodes)]


def _attribute_template(rule: AttributeRule, printer: _Printer) -> list[str]:
    """Return the named template that emits an attribute's values."""
    lines = [
        "",
        f"  <!-- {comment(_title(rule))} -->",
        f'  <xsl:template name="{template_name(rule)}">',
    ]
    if printer.is_within_record(rule):
        lines.append('    <xsl:param name="record"/>')
    lines += indented(_entries_of_record(rule, printer), 2)
    emitted = _united(rule, printer) if rule.is_union else _alternatives(rule, 1, printer)
    lines += indented(emitted, 2)
    return [*lines, "  </xsl:template>"]


def _united(rule: AttributeRule, printer: _Printer) -> list[str]:
    """Return the lines for two alternatives or more, of which each adds to the values of a page."""
    declarations: list[str] = []
    emits: list[list[str]] = []
    for number, alternative in enumerate(rule.alternatives, 1):
        declarations += _declared(rule, number, printer)
        printer.shared |= templates_for(alternative.selection)
        emits.append(_emit(rule, number, printer))
    return [*declarations, *print_union(emits)]


def _declared(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the lines that say what an alternative is, and declare its nodes."""
    alternative = rule.alternatives[number - 1]
    nodes = printer.nodes_of(rule, alternative)
    return [
        f"<!-- {comment(_figures(alternative, number))} -->",
        f"<!-- {comment(alternative.xpath)} -->",
        *_undeclared_variables(printer),
        f'<xsl:variable name="nodes-{number}" select="{quoted(nodes)}"/>',
    ]


def _alternatives(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the lines for an alternative and, where it selects nothing, for those after it."""
    if number > len(rule.alternatives):
        return []
    declared = _declared(rule, number, printer)
    values = _values(rule, number, printer)
    further = _alternatives(rule, number + 1, printer)
    if not further:
        return [*declared, *values]
    return [
        *declared,
        "<xsl:choose>",
        f'  <xsl:when test="$nodes-{number}">',
        *indented(values, 2),
        "  </xsl:when>",
        "  <xsl:otherwise>",
        *indented(further, 2),
        "  </xsl:otherwise>",
        "</xsl:choose>",
    ]


def _values(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the lines that emit the values of the nodes of an alternative."""
    alternative = rule.alternatives[number - 1]
    printer.shared |= templates_for(alternative.selection)
    emit = _emit(rule, number, printer)
    if alternative.kind == NAIVE_BAYES:
        score = quoted(score_of(alternative))
        return [
            f'<xsl:for-each select="$nodes-{number}">',
            f'  <xsl:sort select="{score}" data-type="number" order="descending"/>',
            '  <xsl:if test="position() = 1">',
            *indented(emit, 2),
            "  </xsl:if>",
            "</xsl:for-each>",
        ]
    nodes = f"$nodes-{number}" if rule.is_multi else f"$nodes-{number}[1]"
    return [f'<xsl:for-each select="{nodes}">', *indented(emit), "</xsl:for-each>"]


def _emit(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the lines that emit the value or values of the current node."""
    alternative = rule.alternatives[number - 1]
    selection = alternative.selection
    string = alternative.target if alternative.target.startswith("@") else "."
    if selection.is_whole and rule.type == HTML and alternative.target == ELEMENT_TARGET:
        printer.shared.add(SHOWN)
        value = _value(rule, number, '<xsl:apply-templates select="node()" mode="shown"/>', printer)
        return _if(shown_form(string), value)
    if selection.is_whole:
        value = _value(rule, number, f'<xsl:value-of select="{string}"/>', printer)
        # A text node that is selected shows something; an element or attribute may be blank.
        is_blank_possible = alternative.target != TEXT_TARGET
        return _if(shown_form(string), value) if is_blank_possible else value
    cut = print_cut(selection, string)
    if selection.separator:
        printer.splits[f"{template_name(rule)}-{number}"] = (rule, number)
        return [*cut, *_split(rule, number, printer)]
    return [*cut, *_if("$text", _value(rule, number, '<xsl:value-of select="$text"/>', printer))]


def _if(test: str, lines: list[str]) -> list[str]:
    return [f'<xsl:if test="{quoted(test)}">', *indented(lines), "</xsl:if>"]


def _value(rule: AttributeRule, number: int, content: str, printer: _Printer) -> list[str]:
    votes = _votes(rule, number, printer)
    return _value_element(rule, number, content, votes, printer.nested_list_of(rule))


def _value_element(
    rule: AttributeRule,
    number: int,
    content: str,
    votes: Sequence[str],
    nested: NestedList | None,
) -> list[str]:
    target = rule.alternatives[number - 1].target
    owned = f"<xsl:text>/{target}</xsl:text>" if target.startswith("@") else ""
    return [
        f'<value name="{rule.attribute}">',
        *indented([] if nested is None else emit_item(nested)),
        '  <xsl:if test="$provenance > 0">',
        *indented(list(votes), 2),
        '    <xsl:call-template name="provenance">',
        f'      <xsl:with-param name="way" select="{number}"/>',
        f'      <xsl:with-param name="n" select="count($nodes-{number})"/>',
        '      <xsl:with-param name="rivals" select="$rivals"/>',
        '      <xsl:with-param name="agree" select="$agree"/>',
        "    </xsl:call-template>",
        "  </xsl:if>",
        '  <xsl:if test="$provenance > 1">',
        f'    <xsl:attribute name="node"><xsl:call-template name="path"/>{owned}</xsl:attribute>',
        "  </xsl:if>",
        f"  {content}",
        "</value>",
    ]


def _votes(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the lines that count the losers that select something, and those that agree.

    A loser agrees that selects a node of the same text.
    """
    target = rule.alternatives[number - 1].target
    text = "normalize-space(current())"
    if target.startswith("@"):
        text = f"normalize-space(current()/{target})"
    lines: list[str] = []
    rivals, agree = [], []
    for voter, loser in enumerate(rule.voters, 1):
        nodes = printer.nodes_of(rule, loser)
        attribute = f"/{loser.target}" if loser.target.startswith("@") else ""
        one_or_all = f"({nodes})" if rule.is_multi else f"({nodes})[1]"
        vote = f"$vote-{voter}"
        lines += [
            *_undeclared_variables(printer),
            f'<xsl:variable name="vote-{voter}" select="{quoted(one_or_all + attribute)}"/>',
        ]
        rivals.append(f"boolean({vote})")
        agree.append(f"boolean({vote}[normalize-space() = {text}])")
    return [
        *lines,
        f'<xsl:variable name="rivals" select="{quoted(_sum_of(rivals))}"/>',
        f'<xsl:variable name="agree" select="{quoted(_sum_of(agree))}"/>',
    ]


def _sum_of(tests: Sequence[str]) -> str:
    """Return how many tests hold, as arithmetic."""
    if len(tests) == 1:
        return f"number({tests[0]})"
    return " + ".join(tests) or "0"


def _split(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the call of the template that splits the text; the text's votes are counted once."""
    return [
        *_votes(rule, number, printer),
        f'<xsl:call-template name="{template_name(rule)}-parts-{number}">',
        '  <xsl:with-param name="text" select="$text"/>',
        f'  <xsl:with-param name="nodes-{number}" select="$nodes-{number}"/>',
        '  <xsl:with-param name="rivals" select="$rivals"/>',
        '  <xsl:with-param name="agree" select="$agree"/>',
        *indented(_handed_on(printer.nested_list_of(rule))),
        "</xsl:call-template>",
    ]


def _handed_on(nested: NestedList | None) -> list[str]:
    """Return the line that hands the entries of a list on to another template."""
    if nested is None:
        return []
    name = entries_variable(nested)
    return [f'<xsl:with-param name="{name}" select="${name}"/>']


def _split_template(rule: AttributeRule, number: int, printer: _Printer) -> list[str]:
    """Return the template that emits the parts of a text as values."""
    mark = quoted(literal(rule.alternatives[number - 1].selection.separator))
    before = f"substring-before(concat($text, {mark}), {mark})"
    nested = printer.nested_list_of(rule)
    value = _value_element(rule, number, '<xsl:value-of select="$part"/>', [], nested)
    entries = [] if nested is None else [f'<xsl:param name="{entries_variable(nested)}"/>']
    name = f"{template_name(rule)}-parts-{number}"
    return [
        "",
        f'  <xsl:template name="{name}">',
        '    <xsl:param name="text"/>',
        f'    <xsl:param name="nodes-{number}"/>',
        '    <xsl:param name="rivals"/>',
        '    <xsl:param name="agree"/>',
        *indented(entries, 2),
        f'    <xsl:variable name="part" select="normalize-space({before})"/>',
        *indented(_if("$part", value), 2),
        *(_further_parts(name, number, mark, nested) if rule.is_multi else []),
        "  </xsl:template>",
    ]


def _further_parts(name: str, number: int, mark: str, nested: NestedList | None) -> list[str]:
    return [
        f'    <xsl:if test="contains($text, {mark})">',
        f'      <xsl:call-template name="{name}">',
        f'        <xsl:with-param name="text" select="substring-after($text, {mark})"/>',
        f'        <xsl:with-param name="nodes-{number}" select="$nodes-{number}"/>',
        '        <xsl:with-param name="rivals" select="$rivals"/>',
        '        <xsl:with-param name="agree" select="$agree"/>',
        *indented(_handed_on(nested), 4),
        "      </xsl:call-template>",
        "    </xsl:if>",
    ]


def _undeclared_variables(printer: _Printer) -> list[str]:
    """Return the lines that declare what the XPaths use that were printed since the last call."""
    return [
        f'<xsl:variable name="{name}" select="{quoted(xpath)}"/>'
        for name, xpath in printer.steps.taken_variables()
    ]


def _title(rule: AttributeRule) -> str:
    words = [rule.type]
    if rule.is_multi:
        words.append("multi")
    if rule.is_mandatory:
        words.append("mandatory")
    if rule.scope == OF_PAGE:
        words.append("of the page")
    title = f"{rule.attribute} ({', '.join(words)})"
    if not rule.alternatives:
        return f"{title}: no rule. {rule.reason}"
    if rule.is_draft:
        return (
            f"{title}: right on {rule.n_right} of {rule.n_annotated} annotated pages. {rule.doubt}"
        )
    return title


def _figures(alternative: Alternative, number: int) -> str:
    figures = alternative.numbers
    return (
        f"{number}. {alternative.kind}: precision {figures.precision:.2f}, on "
        f"{figures.support:.0%} of the pages without annotations, exactly one node on "
        f"{figures.unique:.0%}, price {figures.price:.2f}"
    )
