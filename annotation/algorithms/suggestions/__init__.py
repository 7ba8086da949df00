"""Suggestions: values offered to an editor, each with its evidence; pure."""
