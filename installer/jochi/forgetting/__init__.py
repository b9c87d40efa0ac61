"""Durable forgetting: what a person asks to be forgotten goes with all that was made of it, and isn't learned again."""

from jochi.deprecation import old_names
from jochi.forgetting.candidates import Candidate, unambiguous
from jochi.forgetting.exports import Export, ImportSummary, read_export, write_export
from jochi.forgetting.finder import Request, Target
from jochi.forgetting.forget import WAIT, ForgetResult, ForgettingPlan, forget, lift, plan_forgetting, verify
from jochi.forgetting.forget_key import VARIABLE, key_file
from jochi.forgetting.mentions import Mention
from jochi.forgetting.readings import Reading, read_request
from jochi.forgetting.receipts import Chain, Receipt, read_chain

__all__ = [
    "VARIABLE",
    "WAIT",
    "Candidate",
    "Chain",
    "Export",
    "ForgetResult",
    "ForgettingPlan",
    "ImportSummary",
    "Mention",
    "Reading",
    "Receipt",
    "Request",
    "Target",
    "forget",
    "key_file",
    "lift",
    "plan_forgetting",
    "read_chain",
    "read_export",
    "read_request",
    "unambiguous",
    "verify",
    "write_export",
]

__getattr__ = old_names(__name__)
