// How many live memories there are, from the count store. Parameters: none. Returns one row: live. Writes nothing.
MATCH (m:Curated)
RETURN count(m) AS live;
