"""Sites: add, change, export, delete, and how long their pages are kept."""
