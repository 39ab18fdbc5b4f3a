"""Program slicing on the standard syntax tree: what a flagged place needs, and the same without its cost."""
