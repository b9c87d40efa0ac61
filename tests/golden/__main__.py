"""`python -m tests.golden --write` writes the goldens by today's engine; `--draw` draws the store anew first."""

from __future__ import annotations

import argparse
import os
import sys

import pytest
from tests.golden.files import FOLDER
from tests.golden.store import STORE

if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", required=True)
    options.add_argument("--draw", action="store_true")
    if options.parse_args().draw:
        from tests.golden.draw import draw  # pytest wants to see Hypothesis first, where nothing is drawn

        STORE.write_text(draw(), encoding="utf-8")
    os.environ["JOCHI_GOLDEN_WRITE"] = "1"
    files = (
        "test_golden.py",
        "test_golden_shipped.py",
        "test_install_upgrade.py::test_a_second_install_renews_and_plans_nothing",
    )
    tests = [str(FOLDER.parent / "integration" / file) for file in files]
    sys.exit(pytest.main([*tests, "-m", "", "-q", "-p", "no:cacheprovider"]))
