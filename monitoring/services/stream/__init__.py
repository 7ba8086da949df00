"""The stream: pages with records are revisited by how often they change; what came is extracted.

Start at `chain`, which says which step follows which, and `planning`, which plans the visits.

    chain           which step follows which, and what the machine begins by itself
    goals           for how long records of a cluster may be stale, and for how many requests a day
    planning        when pages are visited again; the tick that starts what is due
    kept_lists      lists of addresses that are visited at certain times
    visit_counts    what visits saw, counted page by page
    following       which links of visited pages lead to new pages of clusters with a rule
    stream_figures  what the stream of a site comes to: goal, reached share, requests
                    saved, next visit
"""
