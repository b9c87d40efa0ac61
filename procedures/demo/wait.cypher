// A replay gets all memories at once. Those that aren't made yet at $now give their tier up until `demo/arrive`: what has no tier
// takes no part in token budgets.
// Parameters: $now zoned datetime. Returns no row. Writes: demo_tier in the place of tier, 5,000 in a transaction.
MATCH (m:Curated) WHERE m.created_at > $now AND m.tier IS NOT NULL
CALL (m) {
  SET m.demo_tier = m.tier
  REMOVE m.tier
} IN TRANSACTIONS OF 5000 ROWS
