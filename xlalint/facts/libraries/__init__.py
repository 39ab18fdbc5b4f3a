"""What calls and methods from outside of the program give and do."""
