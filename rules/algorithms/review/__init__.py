"""What reviewers see: validity, impact, differences; pure."""
