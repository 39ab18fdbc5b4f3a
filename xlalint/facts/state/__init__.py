"""The state of one evaluation: its environment, where it stands, what it leaves behind."""
