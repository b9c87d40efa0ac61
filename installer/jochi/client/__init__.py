"""`Jochi`: every verb of the engine as a method with a typed result, one page a group. The command line is thin over it.

>>> from neo4j import GraphDatabase
>>> from jochi import Jochi
>>> with GraphDatabase.driver(uri, auth=(user, password)) as driver:  # doctest: +SKIP
...     print(Jochi(driver).plan().prunes)
"""

from jochi.client.actions import ActionVerbs
from jochi.client.context import ContextVerbs
from jochi.client.duplicates import DuplicateVerbs
from jochi.client.forget import ForgetVerbs
from jochi.client.heartbeat import HeartbeatVerbs
from jochi.client.ingest import IngestVerbs
from jochi.client.install import InstallVerbs
from jochi.client.items import ItemVerbs
from jochi.client.jobs import JobVerbs
from jochi.client.mirror import MirrorVerbs
from jochi.client.observe import ObserveVerbs
from jochi.client.plan import PlanVerbs
from jochi.client.undo import UndoVerbs
from jochi.client.use import UseVerbs
from jochi.client.write import WriteVerbs

__all__ = ["Jochi"]


class Jochi(
    MirrorVerbs,
    InstallVerbs,
    PlanVerbs,
    JobVerbs,
    DuplicateVerbs,
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
