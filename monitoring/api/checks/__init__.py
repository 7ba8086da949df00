"""Routes of checks and schedules.

checks     checks, site changes, coverage, and the state of a site
schedules  when a site is checked
"""
