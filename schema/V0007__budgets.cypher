// Token budgets: a scope's memories by tier, also those that nobody has accessed yet.
CREATE INDEX curated_tier IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.tier);
// Scopes in which something was written since the budgets were last enforced: one record a write, deleted once it is worked.
CREATE INDEX jochi_scope_change_scope IF NOT EXISTS FOR (c:JochiScopeChange) ON (c.scope);
// Scopes that are above a budget because of what is pinned, or that have more to move than one transaction takes.
CREATE CONSTRAINT jochi_budget_scope IF NOT EXISTS FOR (b:JochiBudget) REQUIRE b.scope IS UNIQUE;
CREATE INDEX jochi_budget_at IF NOT EXISTS FOR (b:JochiBudget) ON (b.at);
