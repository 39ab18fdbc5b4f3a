"""Models of libraries: what calls and methods from outside of the program give and do."""
