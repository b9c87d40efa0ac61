// Records that were written before each said what kind of change it holds: undo goes by that (procedures/_macros/act/record.j2), and passed over them.
MATCH (a:CurationAudit) WHERE a.form IS NULL
CALL (a) {
  SET a.form = CASE
    WHEN a.action = 'protect' THEN 'note'
    WHEN a.action IN ['archive_edge', 'unarchive_edge'] THEN 'edge'
    WHEN a.keys IS NOT NULL AND a.property IS NOT NULL AND a.key IS NULL THEN 'list'
    WHEN a.action IN ['prune', 'restore', 'merge', 'purge', 'unmerge', 'slot', 'compress', 'decompress', 'decide', 'pair'] THEN a.action
    WHEN a.properties IS NOT NULL THEN 'properties'
    ELSE 'none' END
} IN TRANSACTIONS OF 1000 ROWS;
// What an undo took back: records of then named it (of), those of today lead to it.
MATCH (a:CurationAudit) WHERE a.line IS NOT NULL AND a.of IS NOT NULL
CALL (a) {
  MATCH (was:CurationAudit {id: a.of})
  MERGE (a)-[:TAKES_BACK]->(was)
} IN TRANSACTIONS OF 1000 ROWS;
