"""The demo: four sites of its own, and the tour that takes them through everything."""
