"""Work on strangers' pages in child processes with limits: none holds up others. Start at `stored`.

limits    children that run a function: processor time, memory, wall clock; the pool of a process
child     the program of such a child
stored    what a function makes of a stored page; pages that are too heavy for it are marked

`stored` may be imported from services and views, `limits` from what knows no Django.
"""
