"""How memories are used: recall, touches, salience, edges that were observed, and facts that take turns in their slots."""
