// How many threads of the scheduler are at work at this moment: the probes, and the repeat jobs of Jochi beside them.
// Parameters: $mark text of the probes, $bodies list of the repeat jobs' texts. Returns one row: probes, jobs.
SHOW TRANSACTIONS YIELD currentQuery, parameters
RETURN count(CASE WHEN parameters.mark = $mark AND parameters.ms IS NOT NULL THEN 1 END) AS probes,
       count(DISTINCT CASE WHEN currentQuery IN $bodies THEN currentQuery END) AS jobs
