"""Tags of this app's templates."""
