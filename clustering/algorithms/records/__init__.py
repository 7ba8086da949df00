"""Find the records of list pages without a teacher. Start at `finding`: page in, lists out.

finding     propose, rank, choose: `find_records`
body_lists  the lists of a page's bytes as plain values: `lists_of_body`
siblings    the other records of a list from one of them: `siblings_of`
page_model  the elements of a page by number, with running sums
candidates  lists of regions that could be records
runs        records that are runs of adjacent siblings
linkage     siblings whose path sets are similar
features    what is measured of a candidate
ranker      the trained model that orders candidates; its numbers are in weights/

Import from outside: `finding`, `body_lists`, `siblings`, and `page_model` for other methods on the
same pages. Pure.
"""
