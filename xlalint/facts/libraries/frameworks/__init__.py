"""Models of frameworks that train and evaluate."""
