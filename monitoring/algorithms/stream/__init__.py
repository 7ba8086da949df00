"""When to visit pages again, by how often they change; pure.

Start with `revisits.py`.

- `change_rates.py`: how often pages change, estimated from looks at them
- `revisits.py`: how long to wait until the next visit, so that few records are stale for long
"""
