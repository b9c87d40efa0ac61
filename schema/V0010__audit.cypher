// Records expire in the order of their age; undo takes them one by one.
CREATE INDEX curation_audit_at IF NOT EXISTS FOR (a:CurationAudit) ON (a.at);
CREATE INDEX curation_audit_id IF NOT EXISTS FOR (a:CurationAudit) ON (a.id);
