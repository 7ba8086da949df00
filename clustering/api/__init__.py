"""The REST interface of sites, pages, snapshots and jobs."""
