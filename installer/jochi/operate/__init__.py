"""What a DBA reads and decides on: status, plan, explain (DESIGN §1)."""
