// Duplicates: flags on pairs of memories that are near each other, and what was merged away.
// Memories whose content or vector is new or changed: they alone look for duplicates.
CREATE INDEX curated_similar_due IF NOT EXISTS FOR (m:Curated) ON (m.similar_due);
// Pairs that wait for the worker, pairs that may merge, and by which judge they were judged: a new one judges them again.
CREATE INDEX similar_to_judge_due IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.judge_due);
CREATE INDEX similar_to_merge_due IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.merge_due);
CREATE INDEX similar_to_guard IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.guard);
// One node a content that was merged away (scope/kind/content_hash), and whom it went into: it is recognised when it is written again.
CREATE CONSTRAINT jochi_merged_seal IF NOT EXISTS FOR (d:JochiMerged) REQUIRE d.seal IS UNIQUE;
CREATE INDEX jochi_merged_into IF NOT EXISTS FOR (d:JochiMerged) ON (d.into);
