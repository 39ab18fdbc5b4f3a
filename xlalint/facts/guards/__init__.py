"""Guards: what a test implies for the names in it, and how often its branches run."""
