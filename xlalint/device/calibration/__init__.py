"""Measures the op table and the figures of the rules' pages on a device, and says where it differs."""
