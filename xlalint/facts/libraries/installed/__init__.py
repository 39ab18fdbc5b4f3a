"""Calls that only the source of an installed package can answer."""
