"""How often a place runs, over the whole call graph: loops of steps, entries, step boundaries."""
