"""Calls into installed packages, followed through their own source: read, never imported."""
