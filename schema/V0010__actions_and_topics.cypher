// What agents did with memories, or asked whether they may, and guidelines out of it (seed 003, Memory Action Policy Contracts, Compression Guideline Learning;
// docs/reference/actions.md).
CREATE CONSTRAINT jochi_action_id IF NOT EXISTS FOR (a:JochiAction) REQUIRE a.id IS UNIQUE;
CREATE INDEX jochi_action_scope IF NOT EXISTS FOR (a:JochiAction) ON (a.scope, a.at);
CREATE INDEX jochi_action_at IF NOT EXISTS FOR (a:JochiAction) ON (a.at);
CREATE CONSTRAINT jochi_guidelines_scope IF NOT EXISTS FOR (g:JochiGuidelines) REQUIRE g.scope IS UNIQUE;
CREATE INDEX jochi_guidelines_due IF NOT EXISTS FOR (g:JochiGuidelines) ON (g.due);
// What the memories of a scope are about (seed 003, Consolidation Pass: update topic index; docs/reference/topics.md).
CREATE CONSTRAINT jochi_topic_index_scope IF NOT EXISTS FOR (x:JochiTopicIndex) REQUIRE x.scope IS UNIQUE;
CREATE INDEX jochi_topic_index_at IF NOT EXISTS FOR (x:JochiTopicIndex) ON (x.at);
