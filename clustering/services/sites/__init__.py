"""Sites: add, change, export, delete, and how long their pages are kept.

sites          add sites and change their settings
site_fetching  change how a site is fetched: what it is told, and through what
host_checks    whether a host can be fetched from, before a site is added for it
retention      how long snapshots and bodies are kept; the end of a site
site_export    all that a site owns in one file
"""
