"""Pages of the browser that span all apps: the sites with their state, and pages for failures.

Start at `site_pages`.

- `site_pages`: the list of sites, one site's way through the pipeline, adding or importing
  one, its settings
- `site_list`: what the list shows of each site
- `next_steps`: what is to be done next at a site, the most urgent first
- `failures`: what is shown when all else fails
"""
