// Has workers make anew, of what stays, outputs that jobs want for themselves, such as the profile of a scope, and that went. Parameters: $now zoned
// datetime, $outputs list of {key, scope, wants: name of the derivation}. Returns one row: wanted. Writes: :JochiInputChange.
UNWIND $outputs AS o
CREATE (:JochiInputChange {key: o.key, at: $now, wants: o.wants, scope: o.scope})
RETURN count(*) AS wanted;
