"""An application with neomodel classes of its own, which knows nothing of Jochi: `test_foreign_models.py` starts it as a process.

One JSON object a line: {"do": name, …} in, {"value": …} or {"error": class of the exception} out. With `helped` as the argument its
classes have the lines that `jochi enrol --plan` shows.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import date, datetime
from typing import Any

import neo4j
from neomodel import (
    BooleanProperty,
    DateProperty,
    DateTimeFormatProperty,
    DateTimeNeo4jFormatProperty,
    DateTimeProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    db,
)

HELPED = sys.argv[1:] == ["helped"]


class Ticket(StructuredNode):
    if HELPED:
        __optional_labels__ = ["Curated"]
    ticket_no = IntegerProperty(unique_index=True)
    customer = StringProperty()
    body = StringProperty()
    done = BooleanProperty()
    opened = IntegerProperty()
    reporter = RelationshipFrom("Reporter", "REPORTED")


class VipTicket(Ticket):
    manager = StringProperty()


class Visit(StructuredNode):
    number = IntegerProperty()
    created = DateTimeProperty()
    native = DateTimeNeo4jFormatProperty()
    local = DateTimeNeo4jFormatProperty()
    minutes = DateTimeFormatProperty(format="%Y-%m-%d %H:%M")
    day_first = DateTimeFormatProperty(format="%d.%m.%Y")
    day = DateProperty()


class Reporter(StructuredNode):
    name = StringProperty()
    tickets = RelationshipTo(Ticket, "REPORTED")


if HELPED:

    class Tombstone(StructuredNode):
        pass


LOADED: dict[int, Any] = {}


def visit(when: str) -> int:
    """Writes a moment (UTC) in each of neomodel's types."""
    moment = datetime.fromisoformat(when)
    bare = moment.replace(tzinfo=None)
    day = date(moment.year, moment.month, moment.day)
    Visit(number=1, created=moment, native=moment, local=bare, minutes=bare, day_first=bare, day=day).save()
    return len(Visit.nodes.all())


def make(opened: int) -> int:
    """A reporter with two tickets, one of them a VIP's. Milliseconds since 1970."""
    ann = Reporter(name="Ann").save()
    for number, model in enumerate((Ticket, VipTicket), 1):
        ticket = model(
            ticket_no=number,
            customer="acme",
            body=f"it broke {number}",
            done=True,
            opened=opened,
        ).save()
        LOADED[number] = ticket
        ann.tickets.connect(ticket)
    return len(LOADED)


def get() -> str:
    """One by its number, as which class."""
    return type(Ticket.nodes.get(ticket_no=2)).__name__


def read_all() -> list[Any]:
    """All, by number: class and text."""
    return [[type(ticket).__name__, ticket.body] for ticket in Ticket.nodes.order_by("ticket_no").all()]


def save() -> str:
    """Reads one anew, changes and saves it."""
    ticket = Ticket.nodes.get(ticket_no=1)
    ticket.body = "it broke again"
    return str(ticket.save().body)


def save_loaded() -> str:
    """Saves an object that was loaded long ago."""
    return str(LOADED[1].save().body)


def related() -> list[str]:
    """The tickets of a reporter through its relationship."""
    return sorted(t.body for t in Reporter.nodes.get(name="Ann").tickets.all())


def resolve_label() -> list[str]:
    """A query of its own whose hop names the label."""
    rows, _ = db.cypher_query("MATCH (:Reporter)-[:REPORTED]->(t:Ticket) RETURN t", resolve_objects=True)
    return sorted(type(row[0]).__name__ for row in rows)


def resolve_any() -> list[str]:
    """A query of its own whose hop names no label."""
    rows, _ = db.cypher_query("MATCH (:Reporter)-[:REPORTED]->(t) RETURN t", resolve_objects=True)
    return sorted(type(row[0]).__name__ for row in rows)


DEEDS = (visit, make, get, read_all, save, save_loaded, related, resolve_label, resolve_any)


def main() -> None:
    """Answers until the input ends."""
    auth = (os.environ["APP_USER"], os.environ["APP_PASSWORD"])
    with neo4j.GraphDatabase.driver(os.environ["APP_URI"], auth=auth, notifications_min_severity="OFF") as driver:
        db.set_connection(driver=driver)
        deeds = {deed.__name__: deed for deed in DEEDS}
        for line in sys.stdin:
            order = json.loads(line)
            try:
                answer = {"value": deeds[order.pop("do")](**order)}
            except Exception as error:  # what an app's user would meet
                answer = {"error": type(error).__name__}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        assert not any(name.partition(".")[0].startswith("jochi") for name in sys.modules)


if __name__ == "__main__":
    main()
