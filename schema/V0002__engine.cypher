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
