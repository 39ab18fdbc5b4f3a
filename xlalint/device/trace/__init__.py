"""A user's own command under the recorder, and the findings held against what it recorded."""
