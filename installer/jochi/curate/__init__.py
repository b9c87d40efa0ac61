"""What curation decides, as people ask for it: explain, plan, saved plans, budgets, score, near duplicates."""
