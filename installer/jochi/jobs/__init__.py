"""Jobs seen and driven from outside: arming, running, stopping, what a run did, and the line that arms them again after a
restart (DESIGN §5)."""
