// Which scopes are to be consolidated, and when (seed 003, Consolidation Pass; docs/reference/consolidation-pass.md).
CREATE CONSTRAINT jochi_pass_scope IF NOT EXISTS FOR (s:JochiPass) REQUIRE s.scope IS UNIQUE;
CREATE INDEX jochi_pass_due IF NOT EXISTS FOR (s:JochiPass) ON (s.due);
// What was learned in a scope since some moment.
CREATE INDEX turn_batch_learned IF NOT EXISTS FOR (b:TurnBatch) ON (b.scope, b.learned_at);
