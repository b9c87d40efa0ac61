// What is installed: the pump's node without the bodies, the policy, and where they are asked for all procedures with their texts.
// Parameters: $pump name, $texts boolean: the procedures, too (a megabyte).
// Returns one row: pump (map or null), policy_text (as stored, or null), policy_compiled (JSON or null), procedures (list of
//   {name, kind, version, sha256, template_sha256, checked_on, about, select, act, body}).
CALL () {
  OPTIONAL MATCH (p:JochiPump {name: $pump})
  RETURN p {.version, .policy, .policy_sha256, .verdict_sha256, .applied_at, .armed, .enabled, .installing_until, .guard} AS pump
}
CALL () {
  MATCH (x:JochiProcedure) WHERE $texts
  WITH x ORDER BY x.name
  RETURN collect(x {.name, .kind, .version, .sha256, .template_sha256, .checked_on, .about, .select, .act, .body}) AS procedures
}
CALL () {
  OPTIONAL MATCH (policy:JochiPolicy) WHERE policy.current
  RETURN collect(policy.text)[0] AS policy_text, collect(policy.compiled)[0] AS policy_compiled
}
RETURN pump, policy_text, policy_compiled, procedures
