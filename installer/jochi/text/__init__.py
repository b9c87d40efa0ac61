"""Texts and nothing but texts: when two contents are the same, which parts are names, how many tokens there are, when two
facts are of one slot. No database, no policy."""
