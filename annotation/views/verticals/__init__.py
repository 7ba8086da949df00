"""Pages of verticals.

- `verticals`: the list, one of them, changing and importing
- `origins`: the page from which somebody came, shown beside and gone back to
- `keys`: the keys that a person chose
"""
