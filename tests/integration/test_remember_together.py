"""Three processes remember and touch the same two hundred memories while jobs run; the fault tests have ten and a thousand."""

from __future__ import annotations

import pytest
from tests.conftest import TestServer
from tests.together import all_at_once

from jochi import Jochi

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.mark.parametrize("same_ids", [True, False], ids=["same ids", "ids of their own"])
def test_three_processes_remember_and_touch_the_same_while_ticks_run(
    jochi: Jochi, server: TestServer, same_ids: bool
) -> None:
    all_at_once(jochi, server, processes=3, memories=200, same_ids=same_ids)
