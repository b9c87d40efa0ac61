"""What a memory looks like in the graph: the catalogue of its properties, and what a newborn one has."""
