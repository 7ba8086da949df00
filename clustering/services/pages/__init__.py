"""Pages: store visits, import archives and uploads, read what is stored."""
