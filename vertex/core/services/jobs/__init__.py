"""Jobs: create, claim, run and sweep them; and whether the machinery behind them is alive.

Start at `requests`: to add a job, write its work (a function of a `JobRun`), declare its `JobKind`
beside it, write a function that checks what it is given and returns a `JobRequest`, and register
the kind in the app's `tasks.py`. docs/decisions/jobs.md says why a job is a row.

- `requests`: kinds of jobs, requests, and `enqueue`, `create_here`, `run_here`
- `jobs`: the row: its lease, progress, end, cancelling and retrying
- `bell`: the message to the broker that a job is due; the row is the truth
- `limited_work`, `step_limits`: what a process that does a job may take of memory and processor
- `held_jobs`: many jobs held by one process, each with a lease of its own
- `sweeping`: ring again for jobs that nobody works on; delete old ones
- `heartbeat`: signs of life of the clock and the workers
- `processes`: names of processes, to find those that have ended

Apps use `requests`, `JobRun`, and the exceptions of `jobs`.
"""
