// Uninstall, a page at a time: deletes the engine's own nodes, also those that only versions before 0.2.0 made (:JochiCompression).
// In the files of `jochi bundle` it stands a second time to look whether that was the last page: it fails, and deletes nothing, where anything is left.
// Parameters: $limit integer, $none_left boolean: fail where there is anything. Returns one row: deleted integer. Writes: deletes those nodes.
CALL () {
  MATCH (n:JochiProcedure|JochiJob|JochiJobRun|JochiPolicy|JochiPump|JochiPlan|JochiPlanPart|JochiQuota|JochiPause|JochiAccess|JochiAccessBatch|JochiScope
      |JochiScopeChange|JochiBudget|JochiIntake|JochiSlot|JochiSlotChange|JochiMerged|JochiMerging
      |JochiWork|JochiWorker|JochiBuffer|JochiTurn|JochiDerivation|JochiSpent|JochiInputChange|JochiForgotten|JochiForgetting|JochiReceipt
      |JochiValue|JochiManifest|JochiManifestVersion|JochiManifestChange|JochiAction|JochiGuidelines|JochiTopicIndex|JochiPass|JochiQuestion|JochiCompression
      |CurationAudit|CurationSnapshot|CurationCycleSummary)
  RETURN n
UNION ALL
  // A registry is a memory, and was released: but without the engine it says nothing. One that an app wrote is the app's.
  MATCH (n:HeartbeatTaskRegistry) WHERE n.id = 'heartbeat_registry' AND n.task_changes IS NOT NULL
  RETURN n
}
WITH n LIMIT $limit
WITH collect(n) AS page
CALL (page) {
  UNWIND page AS n
  DETACH DELETE n
  RETURN count(*) AS deleted
}
RETURN CASE WHEN deleted = 0 OR NOT $none_left THEN deleted ELSE date('Nodes of the engine are left. Run this file again') END AS deleted
