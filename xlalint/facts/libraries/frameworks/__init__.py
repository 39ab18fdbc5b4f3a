"""Frameworks that train and evaluate."""
