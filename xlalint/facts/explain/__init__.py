"""Explanations: what is known of one line, for a reader."""
