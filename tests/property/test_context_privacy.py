"""Nobody reads in a file what isn't meant for it, and nothing of a file's personal part is in the graph (seed 001, Privacy
preservation)."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.duplicate_pairs import NOON
from tests.oracle.context import reach
from tests.tally import examples

from jochi import Jochi
from jochi.context.layout import PERSONAL, PERSONAL_END

pytestmark = pytest.mark.server

SCOPES = ("s", "t")
SAID = st.fixed_dictionaries(
    {},
    optional={
        "access_tier": st.sampled_from(["PUBLIC", "SENSITIVE", "PRIVATE"]),
        "contains_pii": st.booleans(),
        "sensitivity": st.sampled_from(["low", "normal", "high"]),
    },
)
SHAPES = (
    *("{0}", "- {0}", "## Notes\n\n- {0}", "> {0}", "```\n{0}\n```", "| a |\n|---|\n| {0} |", "- [ ] {0} <!--abc-->"),
    "1. {0}\n   more",
)
"""How a person may write it down."""

memories = st.lists(
    st.tuples(st.sampled_from(SCOPES), SAID, st.sampled_from(["Note", "Fact", "Task", "CompressedContext"])),
    min_size=1,
    max_size=12,
)


PLACES = {
    "part": "",
    "heading": "\n## Private\n\n{0}\n",
    "bold": "\n**Private**\n\n{0}\n",
    "changed": "\n## Private\n\n- {1} {2}\n",
    "comment": "\n- Nothing <!-- {1} -->\n\n> Nothing\n> <!-- {1} -->\n",
}
"""Where it may stand: in the part that is the person's, or elsewhere in the file, also in a line of Jochi's."""


@given(
    given=memories,
    shapes=st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4),
    before=st.booleans(),
    place=st.sampled_from(list(PLACES)),
)
@settings(
    max_examples=examples(10, 25),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_each_text_is_only_where_it_may_be(
    jochi: Jochi, given: list[Any], shapes: list[str], before: bool, place: str
) -> None:
    jochi.database.run("MATCH (n) WHERE n:Curated OR n:JochiManifest OR n:JochiManifestVersion DETACH DELETE n")
    rows = [
        {
            "kind": kind,
            "scope": scope,
            "id": f"m{n}",
            "content": f"Marked {scope} {reach(said.get)} number {n}.",
            "properties": {"status": "pending"} | said,
        }
        for n, (scope, said, kind) in enumerate(given)
    ]
    jochi.remember(rows, now=NOON, on_refused="raise")
    personal = "\n\n".join(shape.format(f"Secretive words number {n}") for n, shape in enumerate(shapes))
    with TemporaryDirectory() as folder:
        for open in (False, True):
            for scope in SCOPES:
                file = Path(folder, f"{scope}-{open}.md")
                part = f"{PERSONAL}{personal}\n{PERSONAL_END}"
                if before:
                    file.write_text(part)
                jochi.write_context(file, scope, include_sensitive=open, another_file=True, now=NOON)
                text = file.read_text()
                if place != "part":
                    own = "\n\n".join(each for each in personal.split("\n\n") if "##" not in each)
                    ids = re.findall("<!--\\w{3,7}-->", text)
                    text += PLACES[place].format(own, own.split("\n")[-1], ids[0] if ids else "")
                elif not before:
                    head, _, rest = text.partition(PERSONAL)
                    text = head + part + rest.partition(PERSONAL_END)[2]
                file.write_text(text)
                wrote = set(re.findall("Secretive words number \\d", text))
                jochi.write_context(file, scope, include_sensitive=open, another_file=True, now=NOON)
                text = file.read_text()
                assert wrote == set(re.findall("Secretive words number \\d", text))
                assert place != "part" or personal in text
                allowed = {"PUBLIC", "SENSITIVE"} if open else {"PUBLIC"}
                found = set(re.findall(r"Marked (\w) (\w+) number (\d+)", text))
                assert found <= {(scope, tier, n) for tier in allowed for n in map(str, range(len(rows)))}
                wanted = {str(n) for n, (of, said, _) in enumerate(given) if of == scope and reach(said.get) in allowed}
                assert {n for _, _, n in found} == wanted
    leaked = jochi.database.run(
        "MATCH (n) UNWIND keys(n) AS name WITH n, n[name] AS value "
        "UNWIND CASE WHEN value IS :: LIST<ANY> THEN value ELSE [value] END AS one WITH n, one "
        "WHERE toStringOrNull(one) CONTAINS 'Secretive words' RETURN labels(n) AS labels"
    )
    assert leaked == []
