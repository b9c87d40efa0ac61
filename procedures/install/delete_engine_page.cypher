// Uninstall, a page at a time: deletes the engine's own nodes, also those that only versions before 0.2.0 made (:JochiCompression).
// Parameters: $limit integer. Returns one row: deleted integer.
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
RETURN deleted
