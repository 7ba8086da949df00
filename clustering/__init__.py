"""Pages and the clusters they form: storing, fetching and grouping the pages of a site."""
