"""What the engine decides about a fixed store, as data: a change of how it is built must not change what it does.

`store.jsonl` is the store, `<policy>.jsonl` what was decided about it; `tests/integration/test_golden*.py` compare.
`installed.txt` is what an install leaves, which `test_install_upgrade.py` compares.
`python -m tests.golden --write` decides anew and `--draw` draws another store: both only on purpose, and the difference is looked
at before it is committed.
"""
