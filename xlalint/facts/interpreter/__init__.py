"""The abstract interpreter: statements, expressions, names and calls."""
