"""Pages of jobs and of what was refused."""
