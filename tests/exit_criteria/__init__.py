"""`make exit-criteria`: what seed 000 asks of the tiered janitor, measured on a generated team and on LoCoMo."""
