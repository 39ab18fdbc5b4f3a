"""Runs programs that nobody vouches for on the device, each in a confined process of its own."""
