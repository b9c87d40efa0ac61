"""What the engine's Cypher reads of a policy: rules, kinds and numbers as plain data (DESIGN §6, "The policy is data")."""
