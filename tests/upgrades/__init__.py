"""Databases as earlier states of Jochi left them, frozen into one file each, and what an upgrade makes of them.

`python -m tests.upgrades.freeze COMMIT NAME` makes one; `frozen.load` puts one into an empty database. After a release freeze what
it leaves: what stands here is never made anew.
"""
