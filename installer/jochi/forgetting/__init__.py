"""Durable forgetting: what a person asks to be forgotten goes with all that was made of it, and isn't learned again."""

from jochi.forgetting.exports import Export, Imported, read_export, write_export
from jochi.forgetting.finding import Request, Target
from jochi.forgetting.forget import WAIT, ForgettingPlan, Forgotten, forget, lift, plan_forgetting, verify
from jochi.forgetting.mentions import Mention
from jochi.forgetting.receipts import Chain, Receipt, read_chain
from jochi.forgetting.resolving import Meant, alone
from jochi.forgetting.secret import VARIABLE, key_file

__all__ = [
    "VARIABLE",
    "WAIT",
    "Chain",
    "Export",
    "ForgettingPlan",
    "Forgotten",
    "Imported",
    "Meant",
    "Mention",
    "Receipt",
    "Request",
    "Target",
    "alone",
    "forget",
    "key_file",
    "lift",
    "plan_forgetting",
    "read_chain",
    "read_export",
    "verify",
    "write_export",
]
