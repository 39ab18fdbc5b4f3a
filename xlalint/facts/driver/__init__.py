"""The driver of a run: files in, facts out, in one process or in several."""
