"""contextlab."""
