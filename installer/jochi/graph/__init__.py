"""What a memory looks like in the graph: the catalogue of its properties, which values a property can have, and how the
driver's values become plain Python."""
