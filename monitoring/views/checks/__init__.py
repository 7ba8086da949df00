"""Pages of checks, site changes and watching.

Start at `overview`: open alerts by cause, sites by state; `overview_rows` gathers what it shows.

sites         a site as it is watched; site_rows gathers
watching      its schedule, thresholds and channels
checks        one check with the tests of each page; evidence_rows gathers its evidence
site_changes  the list of all, and one with both pages; change_rows gathers
history       the paper's experiments over the product's own history; history_rows computes
charts        where lines, bars and marks of a chart stand
"""
