// What one probe of the scheduler's threads does: nothing, for a moment. Handed to APOC as text by server/probe_submit.
// Parameters: $ms integer; $mark text, by which server/probe_look finds it among the running transactions.
CALL apoc.util.sleep($ms)
RETURN count($mark) AS slept
