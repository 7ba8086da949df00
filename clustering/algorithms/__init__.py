"""Group a site's pages by template; pure.

Start at `clusterers`, the table of all algorithms; each takes observations and returns a
`Grouping`.

clusterers      the table; a further algorithm is a module and a line there
parameters      what of an algorithm can be chosen, in the form, the command and the API
grouping        what an algorithm takes and returns
assigning       the group of a later page, also where no arrays can be computed with
observation     what a clustering keeps of a page, whichever algorithm asks
page_sampling   some pages of all parts of a site
packed_observations  the same in few bytes, to store it
plain_messages  what was observed on its way between two processes
path_sets       pages as sets of hashed paths, compared and joined
hashing         the finaliser of all hashes
url_patterns    what the addresses of pages, and of a cluster, have in common
cohesion        the centre of a cluster, and how far its pages are from it
doubts          names of doubts, and which of people's answers to them hold
continuity      the clusters of before, found again in a new grouping
measures        how well a clustering agrees with the truth
page_map        pages placed on a map of two dimensions
layered_layout  a graph placed in layers, from above to below

The rooms: `published` (a paper a module), `automatic` (the default), `records` and `tables` (the
lists on a page), `titles` (names for clusters). The apps import `CLUSTERERS`, `Grouping`,
`RawPage`, `observe_page`, `find_records` and the titles.
"""
