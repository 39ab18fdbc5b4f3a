"""Calls of which only the source of an installed package can tell anything."""
