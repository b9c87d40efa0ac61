// What the doctor prints for memories without a usable next_due: puts them into the queue. A person runs it, in a browser or
// cypher-shell, in a transaction of its own kind. Parameters: none. Returns nothing. Writes: next_due.
MATCH (m:Curated) WHERE m.next_due IS NULL OR NOT m.next_due IS :: ZONED DATETIME CALL (m) { SET m.next_due = datetime() } IN TRANSACTIONS OF 1000 ROWS
