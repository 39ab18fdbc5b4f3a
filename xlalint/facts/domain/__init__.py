"""The lattice of abstract values: what they are, how they join, what is asked of them."""
