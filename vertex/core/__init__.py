"""What every app stands on: sites, people, jobs, files handed in, and the plumbing of pages and API."""
