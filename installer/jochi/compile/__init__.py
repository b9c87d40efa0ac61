"""What the engine's Cypher reads of a policy, as plain data (DESIGN §6, "The policy is data"); the rendering of the procedures,
and how what is in the database compares with it (`registry`)."""
