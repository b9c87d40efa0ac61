// The re-arming line of apoc.conf with a pin (`jochi install --pin`): like rearm_line, and only where the manifest has the hash that
// the line names and the texts of the pumps are what the manifest says. The pin goes on as a parameter: what the pump runs is
// checked against it (_macros/runs/pin.j2). One line, free of `${` and backslashes; $pin is written into it as a literal.
// Parameters: $pin string (64 hex digits). Returns: armed :: INTEGER. Writes: server_started_at or pin_refused_at on :JochiPump.
MATCH (p:JochiPump) WHERE p.armed WITH p, coalesce(p.role IN ['pump', 'watch'] AND apoc.util.sha256([coalesce(p.manifest, '')]) = $pin
    AND all(part IN [entry IN split(p.manifest, ';') WHERE entry STARTS WITH p.role + '.' | split(entry, ' ')] WHERE part[1] =
    apoc.util.sha256([coalesce(p[split(part[0], '.')[1]], '')])), false) AS pinned SET p.server_started_at = CASE WHEN pinned THEN datetime.realtime()
    ELSE p.server_started_at END, p.pin_refused_at = CASE WHEN NOT pinned THEN datetime.realtime() END WITH p WHERE pinned CALL apoc.periodic.repeat(p.name,
    p.body, p.every_s, {params: p {.*, pin: $pin}}) YIELD name RETURN count(name) AS armed
