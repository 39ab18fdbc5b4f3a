"""The queries between functions: calls, attributes, classes, parameters."""
