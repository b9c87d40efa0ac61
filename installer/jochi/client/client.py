"""The whole client: all pages together."""

from __future__ import annotations

from jochi.client.actions import ActionVerbs
from jochi.client.agents import HeartbeatVerbs, ItemVerbs, ObserveVerbs
from jochi.client.context import ContextVerbs
from jochi.client.forget import ForgetVerbs
from jochi.client.ingest import IngestVerbs
from jochi.client.install import InstallVerbs
from jochi.client.jobs import JobVerbs
from jochi.client.mirror import MirrorVerbs
from jochi.client.plan import PlanVerbs
from jochi.client.undo import UndoVerbs
from jochi.client.use import UseVerbs
from jochi.client.write import WriteVerbs


class Jochi(
    MirrorVerbs,
    InstallVerbs,
    PlanVerbs,
    JobVerbs,
    UseVerbs,
    WriteVerbs,
    IngestVerbs,
    ObserveVerbs,
    ContextVerbs,
    UndoVerbs,
    ForgetVerbs,
    HeartbeatVerbs,
    ItemVerbs,
    ActionVerbs,
):
    """Memory curation in one database.

    ``policy`` is what install stores and what the database is compared with; without one it is the policy that the database
    has, or on a fresh one the shipped policy. So an upgrade never puts a custom policy back to the default.
    """
