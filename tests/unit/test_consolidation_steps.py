"""The steps of the consolidation pass: what a policy may name is what the job can do, and each is a job of the shipped policy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest
from pydantic import ValidationError
from tests.unit.test_rendering_templates import SERVER

from jochi.compile.rendering import render_one
from jochi.policy import load_policy
from jochi.policy.settings import Consolidation, ConsolidationStep


def test_steps_are_known_and_are_jobs() -> None:
    policy = load_policy().policy
    with_apoc = replace(SERVER, callable=SERVER.callable | {"apoc.cypher.doIt"})
    act = render_one("consolidation/consolidate_scopes", policy, with_apoc).sections["act"]
    steps = dict(re.findall(r"WHEN '(\w+)' THEN head\(\[s IN known WHERE s.name = '([\w/]+)'", act))
    assert tuple(steps) == get_args(ConsolidationStep) == policy.consolidation.steps
    assert set(steps.values()) <= {job.procedure for job in policy.jobs.values()}


@pytest.mark.parametrize(
    "wrong", [{"steps": ["merge", "merge"]}, {"steps": ["dance"]}, {"steps": []}, {"every": 0}, {"at": "now"}]
)
def test_what_is_no_pass_is_said(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Consolidation.model_validate({"every": 3, "at": "daily at 04:00", "steps": ["merge"], **wrong})
