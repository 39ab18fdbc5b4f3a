"""Models of Python itself: builtins, containers."""
