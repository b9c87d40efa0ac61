// Takes repeat jobs off APOC's list; a run in progress ends by itself. Parameters: $names list. Returns one row: cancelled integer.
CALL () {
  UNWIND $names AS wanted
  CALL apoc.periodic.cancel(wanted) YIELD name
  RETURN count(name) AS cancelled
}
RETURN cancelled
