"""Builtins and the containers of Python."""
