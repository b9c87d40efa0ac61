// What is to be known before anything is written: how often values were sealed, with which key, and how long the sealed phrases are.
// Parameters: none. Returns one row: version integer (0: nothing was ever forgotten), key_id string or null, lengths list of integers (words, by the first
//   reading), phrase_lengths list of strings ('2/3': 3 words, by the second), kinds list of strings: the kinds of the sealed canonical forms.
// Writes nothing.
OPTIONAL MATCH (g:JochiForgetting {id: 'gate'})
RETURN coalesce(g.version, 0) AS version, g.key_id AS key_id, coalesce(g.lengths, []) AS lengths,
  coalesce(g.phrase_lengths, []) AS phrase_lengths, coalesce(g.kinds, []) AS kinds;
