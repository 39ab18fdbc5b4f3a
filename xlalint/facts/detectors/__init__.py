"""Detectors: they look at values as the interpreter passes them, and emit the events that cost."""
