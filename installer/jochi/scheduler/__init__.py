"""Jobs seen and driven from outside: arming, running, pausing (DESIGN §5)."""
