"""The abstract domain: values, their lattice, and the names from which values are known."""
