"""A finding on the device: its programs with and without the cost, and the verdict."""
