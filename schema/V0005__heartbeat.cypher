// Tasks of agents (docs/reference/heartbeat.md): the short ones that a session begins with, what may be claimed in the order in which it is due, all of a scope.
CREATE INDEX heartbeat_task_quick IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.scope, t.is_active, t.quick, t.id);
CREATE INDEX heartbeat_task_claimable IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.scope, t.claimable_at);
CREATE INDEX heartbeat_task_key IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.key);
