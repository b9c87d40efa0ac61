// First statement of the files of `jochi bundle`: fails, and says why, where they don't belong into this database. Cypher has no statement that fails
// with a text of one's own, and APOC may be missing: a text that is no date is shown in the error.
// Parameters: $database name, $pump name, $minor string ('0.2.'), $release {from, below} integers (2026.9 is 202609, 5.26 is 526).
// Returns one row: fits boolean. Writes nothing.
CALL db.info() YIELD name
CALL dbms.components() YIELD name AS component, versions
WITH name, [part IN split(versions[0], '.') | toInteger(part)] AS release WHERE component = 'Neo4j Kernel'
WITH name, release[0] * 100 + release[1] AS release
OPTIONAL MATCH (p:JochiPump {name: $pump})
WITH CASE
  WHEN name <> $database THEN 'These files are for the database ' + $database + ': make them with `jochi --database ' + name + ' bundle`'
  WHEN NOT $release.from <= release < $release.below THEN 'These files are for another version of Neo4j: make them with `jochi bundle --for` this one'
  WHEN NOT p.version STARTS WITH $minor THEN 'Jochi ' + p.version + ' is installed here: `jochi install` upgrades it, these files do not'
  END AS wrong
RETURN CASE WHEN wrong IS NULL THEN true ELSE date(wrong) IS NULL END AS fits
