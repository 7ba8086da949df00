"""The joins of `auto`, judged on sites whose trees were trained without them.

`python -m benchmarks.joins` trains and writes the weights; `python -m benchmarks.run joins`
writes the page.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.joins.left_out import judge_left_out, leave_out, observe_sites, table_of
from benchmarks.joins.one_rule import table_of_rules
from benchmarks.joins.pairs import pairs_of_sites
from benchmarks.joins.sites_to_join import load_sites
from benchmarks.joins.training import N_FITS

TITLE = "Joining groups of one template, on sites left out"

INTRODUCTION = """Each site is judged by trees that were trained without it, without its other snapshots or versions, and
without two other real sites. Pages are cut to about 220 a site; pages of no type of their own (`other`, `home`) and types of
one page are not scored; where the labels say that a type may as rightly be joined to a wider one, the better reading counts.

*After 3 answers*: the first doubt of a run is answered by the types, and the site is grouped again, three times. *Stop*: the
log-odds below which nothing is joined; the product stops at 0. What the log-odds of the likeliest pair are worth was learned
without the site as well, from the joins by trees that had not seen the sites that they join. *Plain*: profiles joined by
structure alone up to the widest gap. *Address*: the pattern of the address alone. Near-twins of the demo sites count as one
type: one rule serves them. So does one rule the two kinds of details of a generated site, which may as rightly be joined.
"""

ONE_RULE = """
## Types that one rule serves

A cluster is what one rule can serve. Of the types of the generated sites, `detail_alt` has the page of `detail` with other
optional fields. For each type alone and for both as one cluster: the pages that are annotated until all other samples are right,
and how well the rule reads the pages that nobody annotated.
"""


def run(data: Path | None) -> str:
    """Return the body of the page."""
    if data is None:
        return "Not measured: it needs the folder of labelled sites."
    sites = observe_sites(load_sites(data))
    figures = judge_left_out(sites, leave_out(sites, pairs_of_sites(sites), N_FITS))
    return "\n".join([INTRODUCTION, table_of(figures), ONE_RULE, table_of_rules(data)])
