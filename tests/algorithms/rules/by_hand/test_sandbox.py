"""What of hand-written XPaths and stylesheets may run."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import pytest
from lxml import etree

from rules.algorithms.by_hand.sandbox import (
    MAX_XPATH,
    StylesheetRefused,
    check_xpath,
    read_stylesheet,
)

HEAD = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'


def sheet(inside: str, head: str = HEAD) -> bytes:
    return f"{head}{inside}</xsl:stylesheet>".encode()


def template(inside: str) -> bytes:
    return sheet(f'<xsl:template match="/"><record>{inside}</record></xsl:template>')


@pytest.mark.parametrize(
    "xpath",
    [
        "//td[@class='price']/text()",
        "(//a)[last() - 1]/@href",
        "//*[contains(concat(' ', @class, ' '), ' x ')]",
        "//p[. = 'document() costs $5']",
        "//a[position() mod 2 = 1 and (@x or @y)]",
        "//text()[normalize-space()]",
        "//div/self::node()",
        "//a[count(*) - (1 > 2) -count(b)]",
    ],
)
def test_an_xpath_of_the_core_is_taken(xpath: str) -> None:
    assert check_xpath(xpath) is not None


@pytest.mark.parametrize(
    ("xpath", "reason"),
    [
        ("document('/etc/passwd')", "another file"),
        ("//a[re:test(., 'x')]", "re:test"),
        ("//p[key('k', 'x')]", r"key\(\) is not allowed"),
        ("//*[self::svg:rect]", "prefix svg"),
        ("//namespace::*", "axis namespace"),
        ("//a[namespace :: *]", "axis namespace"),
        ("//a[$x]", "variable"),
        ("3 -document('x')", "another file"),
        ("//a[", "no XPath"),
        ("//" + "a" * MAX_XPATH, "at most"),
    ],
)
def test_anything_else_is_refused_with_its_reason(xpath: str, reason: str) -> None:
    with pytest.raises(StylesheetRefused, match=reason):
        check_xpath(xpath)


@pytest.mark.parametrize(
    "text",
    [
        template('<value name="a"><xsl:value-of select="//h1"/></value>'),
        template(
            "<xsl:for-each select=\"key('c', 'x')\"><xsl:sort select=\".\" "
            'data-type="number"/></xsl:for-each>'
        ),
        sheet(
            '<xsl:strip-space elements="*"/><xsl:output method="xml"/><!-- import '
            '--><xsl:template match="/"/>'
        ),
    ],
)
def test_a_plain_stylesheet_is_taken(text: bytes) -> None:
    assert read_stylesheet(text).tag.endswith("stylesheet")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (sheet('<xsl:import href="file:///etc/passwd"/>'), "another stylesheet"),
        (sheet('<xsl:include href="x.xsl"/>'), "another stylesheet"),
        (template("<xsl:value-of select=\"document('x')\"/>"), "another file"),
        (template("<value name=\"{document('x')}\"/>"), "another file"),
        (template("<value name=\"{{' {document('x')} '}}\"/>"), "another file"),
        (template("<value name='{{\" {document(1)} \"}}'/>"), "another file"),
        (template('<value name="{{&apos; {system-property(1)} &apos;}}"/>'), "not allowed"),
        (template("<value name=\"{{{document('x')}}}\"/>"), "another file"),
        (template("<value name=\"a{'}'}{document(1)}\"/>"), "another file"),
        (template('<value name="}"/>'), "do not match"),
        (template('<value name="{\'"/>'), "do not match"),
        (template('<value name="{a{b}}"/>'), "do not match"),
        (template('<value xmlns:dyn="http://exslt.org/dynamic" name="a"/>'), "namespace"),
        (sheet("", HEAD.replace(">", ' xmlns:e="http://exslt.org/common">')), "namespace"),
        (template('<xsl:number value="1" format="{document(//a)}"/>'), "another file"),
        (template('<xsl:attribute name="a" namespace="{document(//a)}"/>'), "another file"),
        (template("<value name=\"{'}'}{system-property('xsl:vendor')}\"/>"), "system-property"),
        (template('<xsl:message terminate="yes"/>'), "xsl:message"),
        (template("<html/>"), "<html> is not allowed"),
        (template('<xsl:element name="script"/>'), "consists of"),
        (template('<xsl:attribute name="{//a}"/>'), "without braces"),
        (sheet('<xsl:output method="text"/>'), "method is xml"),
        (template("<?php x?>"), "processing instructions"),
        (b"<!DOCTYPE x SYSTEM 'x.dtd'>" + template(""), "document type"),
        (b"<!DOCTYPE x [<!ENTITY e 'x'>]>" + template("&e;"), "document type"),
        (template('<e:write xmlns:e="http://exslt.org/common"/>'), "not allowed"),
        (sheet("", HEAD.replace("1.0", "2.0")), "version"),
        (sheet("", HEAD[:-1] + ' extension-element-prefixes="xsl">'), "extension-element-prefixes"),
        (b"<record/>", "root element"),
        (b"<x", "well-formed"),
        (template("<record>" * 120 + "</record>" * 120), "deeper"),
    ],
)
def test_a_stylesheet_that_reaches_out_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(StylesheetRefused, match=reason):
        read_stylesheet(text)


@pytest.mark.parametrize(
    "name", ["{{a}}", "{{{'b'}}}", "a{concat('}', \"{\")}b", "{'a'}{'b'}", "it's {1}"]
)
def test_braces_are_read_as_they_are_when_a_rule_runs(name: str) -> None:
    body = template(f"<value name={quoteattr(name)}>x</value>")

    assert read_stylesheet(body) is not None
    assert etree.XSLT(etree.fromstring(body)) is not None
