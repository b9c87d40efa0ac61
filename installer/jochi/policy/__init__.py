"""The policy: one TOML file with every number of the engine (DESIGN §7)."""

from jochi.policy.load import SHIPPED_TEXT, STORED, LoadedPolicy, load_policy, stored_policy
from jochi.policy.model import Policy

__all__ = ["SHIPPED_TEXT", "STORED", "LoadedPolicy", "Policy", "load_policy", "stored_policy"]
