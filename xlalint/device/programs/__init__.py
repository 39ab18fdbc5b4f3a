"""From a slice and abstract values to programs that run."""
