"""Learn rules from annotations, and the panel beside the page."""
