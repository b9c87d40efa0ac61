"""An oracle in plain Python: what the first curation must decide, by seed 000 and DESIGN §4 and §8.

Written from those pages and not from the templates, which it judges. It knows the seeds' numbers, no policy file.
"""

from tests.oracle.memory import Memory
from tests.oracle.rails import RAILS, Rail, blocking_rails
from tests.oracle.rules import Due, crossings
from tests.oracle.verdict import Verdict, first_prune, judge, latest_look

__all__ = [
    "RAILS",
    "Due",
    "Memory",
    "Rail",
    "Verdict",
    "blocking_rails",
    "crossings",
    "first_prune",
    "judge",
    "latest_look",
]
