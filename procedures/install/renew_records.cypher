// Upgrade from a version before 0.2.0: the first records don't say their form (_macros/act/record.j2), and one of an undo names what it goes back to in a
// list, not by TAKES_BACK. Without both, what such a run did can't be undone.
// Parameters: none. Returns one row: renewed integer. Writes: form, root and TAKES_BACK of :CurationAudit, page by page, each a transaction of its own.
MATCH (a:CurationAudit) WHERE a.form IS NULL
CALL (a) {
  SET a.form = CASE
      WHEN a.action = 'protect' THEN 'note'
      WHEN a.action IN ['archive_edge', 'unarchive_edge'] THEN 'edge'
      WHEN a.keys IS NOT NULL AND a.property IS NOT NULL AND a.key IS NULL THEN 'list'
      WHEN a.action IN ['prune', 'restore', 'merge', 'purge', 'unmerge', 'slot', 'compress', 'decompress', 'decide', 'pair'] THEN a.action
      WHEN a.properties IS NOT NULL THEN 'properties'
      ELSE 'none'
    END
  WITH a WHERE a.line IS NOT NULL
  SET a.root = a.line[0]
  WITH a, a.line[-1] AS id
  REMOVE a.line
  WITH a, id
  MATCH (was:CurationAudit {id: id})
  MERGE (a)-[:TAKES_BACK]->(was)
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS renewed
