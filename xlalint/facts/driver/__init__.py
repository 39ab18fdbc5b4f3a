"""A run: files in, facts out, in one process or in several."""
