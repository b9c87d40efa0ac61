// Turns of conversations: one buffer a session, and of each turn that it was seen (seed 003, Write Path; docs/reference/observing.md).
CREATE CONSTRAINT jochi_buffer_key IF NOT EXISTS FOR (b:JochiBuffer) REQUIRE b.key IS UNIQUE;
CREATE INDEX jochi_buffer_due IF NOT EXISTS FOR (b:JochiBuffer) ON (b.due);
CREATE INDEX jochi_buffer_opened IF NOT EXISTS FOR (b:JochiBuffer) ON (b.opened_at);
CREATE INDEX jochi_buffer_box_due IF NOT EXISTS FOR (b:JochiBuffer) ON (b.box_due);
CREATE INDEX jochi_buffer_touched IF NOT EXISTS FOR (b:JochiBuffer) ON (b.touched_at);
CREATE CONSTRAINT jochi_turn_id IF NOT EXISTS FOR (s:JochiTurn) REQUIRE s.id IS UNIQUE;
CREATE INDEX jochi_turn_buffer IF NOT EXISTS FOR (s:JochiTurn) ON (s.buffer);
CREATE INDEX jochi_turn_known_until IF NOT EXISTS FOR (s:JochiTurn) ON (s.known_until);
// Sealed boxes of a scope, the newest first: what a trace is woven of (seed 003, Memory Box Lifecycle).
CREATE INDEX curated_sealed IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.sealed_at);
