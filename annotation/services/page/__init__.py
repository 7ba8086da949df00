"""The page that is annotated: what it shows, what a gesture does, what is suggested."""
