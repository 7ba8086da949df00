"""Show stored pages as they look. Start at `frames`: a snapshot as a person sees it.

frames          the rendering of a snapshot, with signed addresses of its assets
assets          the job that fetches what snapshots are drawn with
asset_fetching  the files of a site's pages: cleaned, stored, fetched once
thumbnails      small pictures of the pages that show what a cluster is

All modules may be imported from outside.
"""
