"""Review: propose, judge, publish, roll back."""
