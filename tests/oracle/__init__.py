"""An oracle in plain Python: what curation must decide, by seed 000 and DESIGN §4, §8 and §9.

Written from those pages and not from the templates, which it judges. It knows the seeds' numbers, no policy file.
"""

from tests.oracle.due import Due
from tests.oracle.memory import Link, Memory
from tests.oracle.rails import RAILS, Rail, blocking_rails
from tests.oracle.rules import crossings
from tests.oracle.verdict import Change, Verdict, judge, latest_look, left_by

__all__ = [
    "RAILS",
    "Change",
    "Due",
    "Link",
    "Memory",
    "Rail",
    "Verdict",
    "blocking_rails",
    "crossings",
    "judge",
    "latest_look",
    "left_by",
]
