"""Check whether sites are still as their rules expect them, on schedule.

Start at `checking.run_checks`, which lists the steps.

    checking        the request and the job: fetch, test, come back to what is in doubt, save
    looking_again   when to look again at what is in doubt, and whether the same pages fail
    schedules       when a site is checked; the tick that starts what is due, and says
                    what is overdue
    watched         what is checked of a site: published rules, bellwethers, golden records
    fresh_pages     pages as they are now, from an archive or from the site
    fetched_pages   pages that a check or a repair fetched, stored as they come
    tested_pages    a page's bytes, tree and text, and what a rule extracts from it
    testing         the tests of a cluster's bellwethers, and its verdict
    error_pages     how the error pages of a site look
    plausibility    values that are wrong though they look right
    changes         what a check leaves: its pages, site changes, alerts
    reports         what a site change was, once it is over
    coverage        what the rules make of all that comes in, day by day
    thresholds      when a cluster counts as broken, and what other numbers would have done
    check_calendar  a cell a day with the worst that checks found
    site_states     in which state of watching a site is, the same word everywhere
    retention       how long findings are kept

Repairs use `fresh_pages`, `fetched_pages` and `tested_pages`; the guard requests
checks.
"""
