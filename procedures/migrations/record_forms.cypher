// Gives the records of a database of before 0.1.0 what undo goes by: the kind of change that each holds (procedures/_macros/act/record.j2).
// It commits by itself, a thousand at a time, and can be run again. Parameters: none. Returns nothing. Writes: form of :CurationAudit.
MATCH (a:CurationAudit) WHERE a.form IS NULL
CALL (a) {
  SET a.form = CASE
    WHEN a.action = 'protect' THEN 'note'
    WHEN a.action IN ['archive_edge', 'unarchive_edge'] THEN 'edge'
    WHEN a.keys IS NOT NULL AND a.property IS NOT NULL AND a.key IS NULL THEN 'list'
    WHEN a.action IN ['prune', 'restore', 'merge', 'purge', 'unmerge', 'slot', 'compress', 'decompress', 'decide', 'pair'] THEN a.action
    WHEN a.properties IS NOT NULL THEN 'properties'
    ELSE 'none' END
} IN TRANSACTIONS OF 1000 ROWS
