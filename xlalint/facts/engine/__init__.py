"""The interprocedural queries: calls, attributes, classes, parameters."""
