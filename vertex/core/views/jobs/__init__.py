"""Pages of jobs and of what was refused.

jobs      the list of jobs, and one with its progress and its end
refusals  what was not taken, and why
"""
