// Whether questions wait for an answer. Parameters: $ids list of strings. Returns one row: asked integer: how many of them do. Writes nothing.
MATCH (q:JochiQuestion) WHERE q.id IN $ids
RETURN count(*) AS asked;
