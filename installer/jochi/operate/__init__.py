"""What a DBA looks at and decides: status, doctor with its checks, approvals, the rules as tables."""
