// Plans that are kept: the memories that each names, in parts of bounded size (docs/reference/plans-and-approval.md).
CREATE CONSTRAINT jochi_plan_part IF NOT EXISTS FOR (p:JochiPlanPart) REQUIRE (p.plan, p.n) IS UNIQUE;
CREATE INDEX jochi_plan_expires IF NOT EXISTS FOR (p:JochiPlan) ON (p.expires_at);
