// A question was answered, or answers itself: the inbox doesn't show it any more. Parameters: $ids list of strings. Returns one row: answered integer.
// Writes: deletes :JochiQuestion.
MATCH (q:JochiQuestion) WHERE q.id IN $ids
DELETE q
RETURN count(*) AS answered;
