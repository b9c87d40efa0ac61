"""One database of one server: connecting, running statements, what the server is and can do, its clock, and the engine as
it is installed there. Nothing of curation."""
