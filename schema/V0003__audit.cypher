// The record of what was done, by run and by memory.
CREATE INDEX curation_audit_run IF NOT EXISTS FOR (a:CurationAudit) ON (a.run);
CREATE INDEX curation_audit_key IF NOT EXISTS FOR (a:CurationAudit) ON (a.key);
