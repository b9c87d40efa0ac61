// The engine's own nodes: procedures, jobs and their runs, policies, pumps, plans, the breaker's counts.
CREATE CONSTRAINT jochi_procedure_name IF NOT EXISTS FOR (p:JochiProcedure) REQUIRE p.name IS UNIQUE;
CREATE CONSTRAINT jochi_job_name IF NOT EXISTS FOR (j:JochiJob) REQUIRE j.name IS UNIQUE;
CREATE CONSTRAINT jochi_job_run_id IF NOT EXISTS FOR (r:JochiJobRun) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT jochi_policy_sha256 IF NOT EXISTS FOR (p:JochiPolicy) REQUIRE p.sha256 IS UNIQUE;
CREATE CONSTRAINT jochi_pump_name IF NOT EXISTS FOR (p:JochiPump) REQUIRE p.name IS UNIQUE;
CREATE CONSTRAINT jochi_plan_id IF NOT EXISTS FOR (p:JochiPlan) REQUIRE p.id IS UNIQUE;
CREATE CONSTRAINT jochi_quota_key IF NOT EXISTS FOR (q:JochiQuota) REQUIRE q.key IS UNIQUE;
CREATE CONSTRAINT jochi_pause_key IF NOT EXISTS FOR (s:JochiPause) REQUIRE s.key IS UNIQUE;
CREATE INDEX jochi_job_next_start IF NOT EXISTS FOR (j:JochiJob) ON (j.next_start);
CREATE INDEX jochi_job_run_started IF NOT EXISTS FOR (r:JochiJobRun) ON (r.job, r.started_at);
