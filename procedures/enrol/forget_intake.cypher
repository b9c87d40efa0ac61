// Forgets what intake has counted for a label, so that it looks at all of its nodes again. Parameters: $label.
// Returns one row: forgotten integer. Writes: deletes :JochiIntake.
OPTIONAL MATCH (i:JochiIntake {label: $label})
WITH i, CASE WHEN i IS NULL THEN 0 ELSE 1 END AS one
DELETE i
RETURN sum(one) AS forgotten
