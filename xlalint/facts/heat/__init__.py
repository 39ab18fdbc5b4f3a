"""Heat: how often a place runs, over the whole call graph."""
