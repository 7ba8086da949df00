"""The demo: four sites of its own, and the tour that takes them through everything.

Start at `demo.take_tour`: a list of steps, each of which calls a command for each site.

- `demo`: the steps, and what is printed at the end
- `serving`: serve the sites on loopback
- `logins`: a person of each role
- `sites/`: the sites with the truth about every page; tests use them too
"""
