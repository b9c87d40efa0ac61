// The engine's own nodes: procedures, jobs and their runs, policies, pumps, the breaker's counts, pauses.
CREATE CONSTRAINT jochi_procedure_name IF NOT EXISTS FOR (p:JochiProcedure) REQUIRE p.name IS UNIQUE;
CREATE CONSTRAINT jochi_job_name IF NOT EXISTS FOR (j:JochiJob) REQUIRE j.name IS UNIQUE;
CREATE INDEX jochi_job_next_start IF NOT EXISTS FOR (j:JochiJob) ON (j.next_start);
CREATE CONSTRAINT jochi_job_run_id IF NOT EXISTS FOR (r:JochiJobRun) REQUIRE r.id IS UNIQUE;
CREATE INDEX jochi_job_run_started IF NOT EXISTS FOR (r:JochiJobRun) ON (r.job, r.started_at);
CREATE CONSTRAINT jochi_policy_sha256 IF NOT EXISTS FOR (p:JochiPolicy) REQUIRE p.sha256 IS UNIQUE;
CREATE CONSTRAINT jochi_pump_name IF NOT EXISTS FOR (p:JochiPump) REQUIRE p.name IS UNIQUE;
CREATE CONSTRAINT jochi_quota_key IF NOT EXISTS FOR (q:JochiQuota) REQUIRE q.key IS UNIQUE;
CREATE CONSTRAINT jochi_pause_key IF NOT EXISTS FOR (s:JochiPause) REQUIRE s.key IS UNIQUE;
// Plans that are kept: the memories that each names, in parts of bounded size (docs/reference/plans-and-approval.md).
CREATE CONSTRAINT jochi_plan_id IF NOT EXISTS FOR (p:JochiPlan) REQUIRE p.id IS UNIQUE;
CREATE CONSTRAINT jochi_plan_part IF NOT EXISTS FOR (p:JochiPlanPart) REQUIRE (p.plan, p.n) IS UNIQUE;
CREATE INDEX jochi_plan_expires IF NOT EXISTS FOR (p:JochiPlan) ON (p.expires_at);
// What is known of a scope: whether anybody ever reported an access in it.
CREATE CONSTRAINT jochi_scope_name IF NOT EXISTS FOR (s:JochiScope) REQUIRE s.name IS UNIQUE;
// Batches of touches that were taken already, so that one that is sent twice is counted once; forgotten after a while.
CREATE CONSTRAINT jochi_access_batch_id IF NOT EXISTS FOR (b:JochiAccessBatch) REQUIRE b.id IS UNIQUE;
CREATE INDEX jochi_access_batch_at IF NOT EXISTS FOR (b:JochiAccessBatch) ON (b.at);
// What intake has counted of each label that apps write without us.
CREATE CONSTRAINT jochi_intake_label IF NOT EXISTS FOR (i:JochiIntake) REQUIRE i.label IS UNIQUE;
// Scopes in which something was written since the budgets were last enforced: one record a write, deleted once it is worked.
CREATE INDEX jochi_scope_change_scope IF NOT EXISTS FOR (c:JochiScopeChange) ON (c.scope);
// Scopes that are above a budget because of what is pinned, or that have more to move than one transaction takes.
CREATE CONSTRAINT jochi_budget_scope IF NOT EXISTS FOR (b:JochiBudget) REQUIRE b.scope IS UNIQUE;
CREATE INDEX jochi_budget_at IF NOT EXISTS FOR (b:JochiBudget) ON (b.at);
// One node a slot, to be locked by; one record a fact that left its slot by being pruned, deleted once it is worked.
CREATE CONSTRAINT jochi_slot_name IF NOT EXISTS FOR (s:JochiSlot) REQUIRE s.name IS UNIQUE;
CREATE INDEX jochi_slot_change_key IF NOT EXISTS FOR (c:JochiSlotChange) ON (c.key);
// One node a content that was merged away (scope/kind/content_hash), and whom it went into: it is recognised when it is written again.
CREATE CONSTRAINT jochi_merged_seal IF NOT EXISTS FOR (d:JochiMerged) REQUIRE d.seal IS UNIQUE;
CREATE INDEX jochi_merged_into IF NOT EXISTS FOR (d:JochiMerged) ON (d.into);
// Work that a worker outside takes: one node a derivation and what it is made of (DESIGN §13). What may be taken stands in the order of its turn;
// what is leased, or failed and is tried again, has an instant instead; what was put aside has neither.
CREATE CONSTRAINT jochi_work_id IF NOT EXISTS FOR (w:JochiWork) REQUIRE w.id IS UNIQUE;
CREATE INDEX jochi_work_ready IF NOT EXISTS FOR (w:JochiWork) ON (w.derivation, w.ready);
CREATE INDEX jochi_work_scope IF NOT EXISTS FOR (w:JochiWork) ON (w.derivation, w.scope, w.ready);
CREATE INDEX jochi_work_due IF NOT EXISTS FOR (w:JochiWork) ON (w.derivation, w.due);
CREATE INDEX jochi_work_put_aside IF NOT EXISTS FOR (w:JochiWork) ON (w.put_aside_at);
CREATE INDEX jochi_work_key IF NOT EXISTS FOR (w:JochiWork) ON (w.key);
CREATE INDEX jochi_work_other IF NOT EXISTS FOR (w:JochiWork) ON (w.other);
// Memories that changed or went, until `work/changed` has looked at what was made of them.
CREATE INDEX jochi_input_change_key IF NOT EXISTS FOR (c:JochiInputChange) ON (c.key);
CREATE CONSTRAINT jochi_derivation_name IF NOT EXISTS FOR (d:JochiDerivation) REQUIRE d.name IS UNIQUE;
// What derivations asked models for, within each minute, cycle and day.
CREATE CONSTRAINT jochi_spent_id IF NOT EXISTS FOR (s:JochiSpent) REQUIRE s.id IS UNIQUE;
CREATE INDEX jochi_spent_until IF NOT EXISTS FOR (s:JochiSpent) ON (s.until);
// What an agent starts with (seed 001, BoundedMemoryManifest): one a scope, or two; and scopes of which something changed that one holds.
CREATE CONSTRAINT bounded_memory_manifest_id IF NOT EXISTS FOR (b:JochiManifest) REQUIRE b.id IS UNIQUE;
CREATE INDEX bounded_memory_manifest_scope IF NOT EXISTS FOR (b:JochiManifest) ON (b.scope);
CREATE INDEX jochi_manifest_change_scope IF NOT EXISTS FOR (c:JochiManifestChange) ON (c.scope);
CREATE INDEX bounded_memory_manifest_due IF NOT EXISTS FOR (b:JochiManifest) ON (b.due);
// Turns of conversations: one buffer a session, and of each turn that it was seen (seed 003, Write Path; docs/reference/observing.md).
CREATE CONSTRAINT jochi_buffer_key IF NOT EXISTS FOR (b:JochiBuffer) REQUIRE b.key IS UNIQUE;
CREATE INDEX jochi_buffer_due IF NOT EXISTS FOR (b:JochiBuffer) ON (b.due);
CREATE INDEX jochi_buffer_opened IF NOT EXISTS FOR (b:JochiBuffer) ON (b.opened_at);
CREATE INDEX jochi_buffer_box_due IF NOT EXISTS FOR (b:JochiBuffer) ON (b.box_due);
CREATE INDEX jochi_buffer_touched IF NOT EXISTS FOR (b:JochiBuffer) ON (b.touched_at);
CREATE CONSTRAINT jochi_turn_id IF NOT EXISTS FOR (s:JochiTurn) REQUIRE s.id IS UNIQUE;
CREATE INDEX jochi_turn_buffer IF NOT EXISTS FOR (s:JochiTurn) ON (s.buffer);
CREATE INDEX jochi_turn_known_until IF NOT EXISTS FOR (s:JochiTurn) ON (s.known_until);
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
// Which scopes are to be consolidated, and when (seed 003, Consolidation Pass; docs/reference/consolidation-pass.md).
CREATE CONSTRAINT jochi_pass_scope IF NOT EXISTS FOR (s:JochiPass) REQUIRE s.scope IS UNIQUE;
CREATE INDEX jochi_pass_due IF NOT EXISTS FOR (s:JochiPass) ON (s.due);
// What is chosen of a scope by its worth, section by section (docs/reference/context.md).
CREATE INDEX value_classification_scope IF NOT EXISTS FOR (v:JochiValue) ON (v.scope, v.section, v.value_score);
