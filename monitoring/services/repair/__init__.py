"""Repair a site after a change: fetch, cluster, reuse or relearn, propose, apply.

Start at `repairing.repair_site`, which lists the steps.

    repairing         the request and the job: read the pages, plan, save proposals, apply
    accepting         the request and the job that publishes one proposal as it was saved
    former_addresses  pages whose address changed, read as if they stood where they stood before
    fresh_clusters    cluster the pages as they are now without storing anything
    plans             how a new cluster is to be served, and the JSON of such a plan
    relearning        learn a rule anew from golden values that are found again
    hints             where that of which nothing was found again probably stands now
    saved_plans       plans saved with their proposals, and what changed of what they rest on
    applying          store the pages, publish rules, annotate the new snapshots
    proposals         what people and policies decide: propose, judge a value, accept, reject

Others import `repair_request` and `repair_site` of `repairing`, `changes_since` of `saved_plans`,
and the functions of `proposals`.
"""
