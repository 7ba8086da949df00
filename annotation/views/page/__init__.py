"""The page that is annotated."""
