"""The sizes of stand-ins: for who writes them and for who makes them. Imports nothing."""

SIZE = 8
"""Of each dimension about which nothing is known. One number, so that shapes agree wherever the program wants it."""
WORDS = 8
"""How many values labels and token ids have."""
BATCHES = 24
"""Of a loader: more than there are steps in a run."""
