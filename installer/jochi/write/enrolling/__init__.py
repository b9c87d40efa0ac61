"""Enrolment: makes memories of nodes that an app made, and takes that back (DESIGN §4)."""

from jochi.deprecation import old_names
from jochi.write.enrolling.enrol import enrol
from jochi.write.enrolling.object_mappers import OBJECT_MAPPERS, WARNING
from jochi.write.enrolling.plan import plan_enrolment
from jochi.write.enrolling.release import disenrol
from jochi.write.enrolling.results import DisenrolResult, EnrolmentPlan, EnrolResult, Problems

__all__ = [
    "OBJECT_MAPPERS",
    "WARNING",
    "DisenrolResult",
    "EnrolResult",
    "EnrolmentPlan",
    "Problems",
    "disenrol",
    "enrol",
    "plan_enrolment",
]

__getattr__ = old_names(__name__)
