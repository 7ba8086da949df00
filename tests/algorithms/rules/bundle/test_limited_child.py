"""A rule that a person wrote gives the same in the child, and is ended where it goes too far."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import parse_page
from clustering.services.children.limits import end_idle_children
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import STOPPED, STYLESHEET_FAILED, extract_here, extract_tree
from rules.bundle.extraction import extract, extract_in_child
from rules.bundle.limited_child import answer_question
from rules.bundle.limits import LimitedRuns, borrowed_runs
from tests.algorithms.rules.running import test_run_rule as cast

HEAD = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
TEMPLATE = '<xsl:template match="/"><record><value name="name">{}</value></record></xsl:template>'
DOUBLING = (
    '<xsl:template name="more"><xsl:param name="t"/><xsl:call-template name="more">'
    '<xsl:with-param name="t" select="concat($t, $t)"/></xsl:call-template></xsl:template>'
    '<xsl:template match="/"><record><xsl:call-template name="more"><xsl:with-param name="t" '
    'select="//body"/>'
    "</xsl:call-template></record></xsl:template>"
)
ENDLESS = (
    '<xsl:template match="*"><xsl:apply-templates select="/*"/></xsl:template>'
    '<xsl:template match="/"><record><xsl:apply-templates/></record></xsl:template>'
)
HUGE = TEMPLATE.format(
    '<xsl:for-each select="//b"><xsl:for-each select="//b">'
    '<xsl:copy-of select="/"/></xsl:for-each></xsl:for-each>'
)
MANY = b"<b>x" * 240


@pytest.fixture(scope="module")
def runs() -> Iterator[LimitedRuns]:
    with LimitedRuns(cpu_seconds=1, wall_seconds=60, memory=300 * 1024**2) as limited:
        yield limited


def by_hand(stylesheet: str) -> RunnableRule:
    return RunnableRule("products", 1, stylesheet, [AttributeType("name")], is_by_hand=True)


def extracted(stylesheet: str, runs: LimitedRuns, body: bytes = MANY) -> Extracted:
    return extract_in_child(
        RawPage("http://s.example/", body), by_hand(stylesheet), nodes=True, runs=runs
    )


def test_it_gives_what_the_rule_gives_in_this_process(runs: LimitedRuns) -> None:
    types = (
        AttributeType("name", is_mandatory=True),
        AttributeType("price", "price"),
        AttributeType("tags", is_multi=True),
    )
    rule = replace(cast.rule(*types), trust={"name": 0.5})
    page = RawPage("http://s.example/p/1", cast.PAGE, "text/html; charset=utf-8")

    assert extract_here(page, rule, nodes=True) == extract_in_child(
        page, rule, nodes=True, runs=runs
    )


def test_a_rule_by_hand_never_runs_in_this_process() -> None:
    rule = replace(cast.rule(AttributeType("name")), is_by_hand=True)

    with borrowed_runs() as runs:
        first = runs.child
    assert (
        "Oak desk"
        == extract(RawPage("http://s.example/", cast.PAGE), rule).records[0].values["name"]
    )
    with borrowed_runs() as runs:
        assert first is runs.child
    end_idle_children()
    with pytest.raises(ValueError, match="written by hand"):
        extract_tree(parse_page(cast.PAGE).tree, "", rule)


@pytest.mark.parametrize(
    ("stylesheet", "reason"),
    [
        ("<xsl:include href='/etc/passwd'/>", "another stylesheet"),
        ("<xsl:import href='http://10.0.0.1/'/>", "another stylesheet"),
        (TEMPLATE.format("<xsl:value-of select=\"document('/etc/passwd')\"/>"), "another file"),
        (TEMPLATE.format('<xsl:value-of select="str:tokenize(.)"/>'), "not allowed"),
        (
            TEMPLATE.format('<exsl:document xmlns:exsl="http://exslt.org/common" href="x"/>'),
            "not allowed",
        ),
        (TEMPLATE.format('<xsl:value-of select="//b["/>'), "line 1: "),
        (TEMPLATE.format("").replace("name=", 'way="first" name='), "are whole numbers: "),
    ],
)
def test_what_reaches_out_is_refused_in_the_child_too(
    stylesheet: str, reason: str, runs: LimitedRuns
) -> None:
    result = extracted(f"{HEAD}{stylesheet}</xsl:stylesheet>", runs)

    assert STYLESHEET_FAILED == result.reason
    assert reason in result.detail


def test_a_bomb_of_entities_is_refused(runs: LimitedRuns) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    result = extracted(f"{bomb}{HEAD}{TEMPLATE.format('&b;')}</xsl:stylesheet>", runs)

    assert (STYLESHEET_FAILED, True) == (result.reason, "document type" in result.detail)


def test_an_output_that_grows_is_stopped_and_the_next_page_is_answered(runs: LimitedRuns) -> None:
    assert STOPPED == extracted(f"{HEAD}{HUGE}</xsl:stylesheet>", runs).reason
    assert (
        "Hi"
        == extracted(f"{HEAD}{TEMPLATE.format('Hi')}</xsl:stylesheet>", runs)
        .records[0]
        .values["name"]
    )


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_parents_group_does_not_lose_a_page(
    told: signal.Signals, runs: LimitedRuns
) -> None:
    runs.find_nodes("//b", [])
    pid = runs.child.pid
    assert pid is not None
    os.kill(pid, told)

    assert not extracted(f"{HEAD}{TEMPLATE.format('Hi')}</xsl:stylesheet>", runs).reason
    assert pid == runs.child.pid


@pytest.mark.parametrize("stylesheet", [DOUBLING, ENDLESS], ids=["doubling", "endless"])
def test_recursion_ends_with_a_reason(stylesheet: str, runs: LimitedRuns) -> None:
    result = extracted(f"{HEAD}{stylesheet}</xsl:stylesheet>", runs, b"<p>text</p>")

    assert result.reason in {STOPPED, STYLESHEET_FAILED}
    assert result.detail


def test_an_answer_names_what_fails() -> None:
    assert {"refused": "'//b[' is no XPath 1.0: invalid expression"} == answer_question(
        {"kind": "xpath", "text": "//b[", "pages": [["", "PGI+", ""]]}
    )
