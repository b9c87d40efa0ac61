"""Constraints and indexes: the fixed ones as migrations (`migrations`), those whose form the policy decides as a comparison
(`indexes`)."""
