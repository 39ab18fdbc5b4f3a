"""What runs in the user's own process: the standard library only, for that interpreter need not have xlalint.

Its modules import each other relatively, because ``sitecustomize`` loads this folder under a name of its own.
"""
