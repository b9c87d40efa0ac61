"""Who the agents are and how the system is set up: protected, never enrolled, never :Curated (seed 000, rails 1, 2, 7 and 8).

Plain nodes of the app: the engine never touches them, so they save and delete as neomodel does it.
"""

from __future__ import annotations

from neomodel import StructuredNode

from jochi_models.properties import (
    Always,
    BooleanProperty,
    ChoiceProperty,
    IdProperty,
    TextProperty,
    ZonedDateTimeProperty,
    new_id,
    now,
)
from jochi_models.words import AgentName


class PlainFields:
    """An id of the app's own."""

    uid = Always(IdProperty("the app's own id; stored as `id`", db_property="id"), default=new_id)
    created_at = Always(ZonedDateTimeProperty("when it was made"), default=now)


class AgentFields(PlainFields):
    """An agent's identity (seed 000, rail 1). A memory linked to four of them is consensus (rail 10)."""

    name = ChoiceProperty[AgentName]("its name", AgentName)
    role = TextProperty("what it does")


class AgentKeyFields(PlainFields):
    """A security credential of an agent (seed 000, rail 2). Holds a hash, never the key itself."""

    agent_id = TextProperty("id of the agent")
    key_hash = TextProperty("hash of the key")
    expires_at = ZonedDateTimeProperty("until when the app honours it; the engine doesn't read it")
    is_active = BooleanProperty("honoured at all")


class SystemConfigFields(PlainFields):
    """A setting of the whole system (seed 000, rail 8)."""

    name = TextProperty("name of the setting")
    setting = TextProperty("its value, as text", db_property="value")
    updated_at = ZonedDateTimeProperty("when it was last changed")


class MigrationFields(PlainFields):
    """A step of the app's own schema history (seed 000, rail 7)."""

    version = TextProperty("its version")
    description = TextProperty("what it did")
    applied_at = ZonedDateTimeProperty("when it was applied")


class Agent(AgentFields, StructuredNode): ...


class AgentKey(AgentKeyFields, StructuredNode): ...


class SystemConfig(SystemConfigFields, StructuredNode): ...


class Migration(MigrationFields, StructuredNode): ...
