// Memories whose time has come in a replay take their tier back, and the budgets of their scopes are told.
// Parameters: $now zoned datetime, $until zoned datetime: what was made by then arrives. Returns no row.
// Writes: tier in the place of demo_tier; a :JochiScopeChange a scope.
MATCH (m:Curated) WHERE m.demo_tier IS NOT NULL AND m.created_at <= $until
SET m.tier = m.demo_tier
REMOVE m.demo_tier
WITH DISTINCT m.scope AS scope
CREATE (:JochiScopeChange {scope: scope, at: $now})
