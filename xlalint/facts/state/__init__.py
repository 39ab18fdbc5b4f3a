"""The state of one evaluation."""
