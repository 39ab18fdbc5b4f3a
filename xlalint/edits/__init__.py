"""From findings to text: exact anchors, fixes, merging. The modules that need libcst are loaded on demand."""
