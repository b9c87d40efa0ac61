"""Pairs of memories for judging a merge: must-not-merge pairs with one difference, true duplicates, and Chinese and Japanese pairs.

Made before the guard that they judge, by somebody who doesn't write it. The method, so that it can be checked:

- **Generated** memories come from `sentences/*.txt`, written for this set: a fact is a list of wordings that mean the same, with
  places for values (`values.py`; the words in `english.py`, `german.py`, `chinese.py`, `japanese.py`, which say where each list is
  from). A *different* pair changes one value, the negation, the antonym or the roles and nothing else that means something; every
  fourth one is worded differently on its two sides besides. A *same* pair is two wordings, two ways to write a value, or a trivial
  variant.
- **LoCoMo's observations** are read at run time from the user's file and changed by the rules of `observations.py`: their licence
  allows measuring only, so none of their text stands here.
- Everything is drawn from `random.Random` with seeds that are texts: the same set on every machine.
- **A third is kept unseen**: the split goes by a hash of the *source* of a pair (the fact of `sentences/*.txt` with all its
  wordings and values, the observation), so that nothing of one fact stands on both sides. Of names, places and other open lists,
  a third of the words occur in the unseen part only.

**Whoever writes the guard, or a word list of it, looks at `seen()` only**, and neither into `sentences/` nor into the word lists:
both parts stand there. `unseen()` is for the figure at the end.
"""

from tests.merge_pairs.collect import pairs, seen, unseen
from tests.merge_pairs.pair import CLASSES_OF_DIFFERENCE, CLASSES_OF_SAMENESS, READ_LANGUAGES, Pair

__all__ = ["CLASSES_OF_DIFFERENCE", "CLASSES_OF_SAMENESS", "READ_LANGUAGES", "Pair", "pairs", "seen", "unseen"]
