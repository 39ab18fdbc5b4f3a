"""What looks at values as they pass by, and emits the events that cost."""
