"""The algorithms of this app; pure.

Start at `site_change`: whether a template changed, the content, or neither, or the site is away.

lost_pages          a page that is there, or what stands in its place
error_pages         the error pages of one site; soft_errors those of any
value_models        values that are wrong though they look right
verdicts            what a check may come to, and from when on a cluster is broken
known_values        whether two values of an attribute mean the same
coverage_drop       what falls in the stream of pages
what_if_thresholds  what other thresholds would have done
slots               when the checks of a schedule are
repair              golden values found again on the new pages
value_places        the nodes that show a value
changed_values      what values became that all changed, by a trained model (weights/)
change_signs        what it measures; changed_proposals what is proposed by it
record_matching     the records of a list found again by their values
former_addresses    pages found again at another address, by their values
rule_reuse          an old rule that still serves a new cluster
layout_division     what in old pages tells which of them fail now
strata              pages of all clusters, where a repair cannot look at all
page_looks          how a page looks, to compare versions of it
change_statistics   how often sites change
"""
