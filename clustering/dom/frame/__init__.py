"""A stored page made safe to look at: rendering, style sheets, placeholders, outlines; pure."""
