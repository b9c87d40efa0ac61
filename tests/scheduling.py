"""Which worker of pytest-xdist has which tests, and in what order.

Each worker has servers of its own. A server that starts plans everything anew, and so does one in which an index or a constraint
comes or goes: minutes of work that no test asks for. So tests that share a state of a server stand together, and what changes the
schema of the shared one comes last. By names, because the scheduler knows nothing else of a test. (The groups of pytest-xdist 3.8
are lost with pytest 9.2.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = {
    # One that extends the shipped policy has another full-text index: see `policy_with`.
    "the shipped policy": tuple(
        f"tests/integration/test_{test}"
        for test in ("golden_shipped", "jobs_slots", "lifetimes", "modes", "pages", "tutorial", "whole_path")
    ),
    # What they run is large, and one worker plans it: the derivations' statements, most under one policy, and those that forget.
    "derivations": tuple(
        f"tests/integration/test_{test}"
        for test in (
            *("consolidation_pass", "derivations", "descriptions", "extraction", "ingest", "levels", "meaning"),
            *("profiles", "resolution", "storylines"),
        )
    ),
    "forgetting": ("tests/integration/test_forget",),
    # With the fixture `empty_server`.
    "the empty server": (
        *(f"tests/faults/test_{test}" for test in ("import_", "install_faults", "migrations_", "upgrades")),
        *(f"tests/integration/test_{test}" for test in ("install_", "migrations_", "policy_indexes")),
        "tests/property/test_rendering_literals",
        "tests/integration/test_cypher25.py::test_the_same_story_gives_the_same_graph",
        "tests/integration/test_doctor.py::test_before_an_install_it_is_the_preflight",
        "tests/integration/test_edges.py::test_indexes_follow_the_policy",
        "tests/integration/test_edges.py::test_a_dbas_own_index_will_do_and_stays",
        "tests/integration/test_edges.py::test_a_foreign_index_of_the_name_stops_the_install",
        "tests/integration/test_edges.py::test_a_policy_without_edges_works_and_uninstall_leaves_nothing",
        "tests/integration/test_foreign_constraints.py::test_disenrol_and_uninstall_end",
        "tests/integration/test_models_save.py::test_without_jochi_a_save_says_so",
        "tests/integration/test_status.py::test_where_nothing_is_installed",
    ),
}

LAST = (
    "tests/faults/test_scheduler_healing.py::test_schema_commands_during_ticks_hang_nothing",
    "tests/integration/test_curation_plan_explain.py::test_a_due_select_seeks_its_index_and_acting_on_keys_seeks_each_key",
    "tests/integration/test_doctor.py::test_a_dropped_index_and_a_dropped_constraint",
    "tests/integration/test_duplicates_whole.py::test_disenrol_and_uninstall_leave_no_flag",
    "tests/integration/test_duplicates_whole.py::test_without_embeddings_the_same_texts_are_found",
    "tests/integration/test_earlier_states.py::test_it_is_looked_at_and_upgraded",
    "tests/integration/test_embeddings_endpoint.py",
    "tests/integration/test_embeddings_stored.py::test_a_worker_that_read_the_old_policy_stores_no_vector_of_the_old_model",
    "tests/integration/test_embeddings_stored.py::test_another_model_in_the_policy_embeds_everything_anew",
    "tests/integration/test_enrolment.py::test_schema_changes_go_through_while_nodes_are_enrolled",
    "tests/integration/test_forget_shapes.py::test_a_content_under_another_name_is_read_cut_and_not_learned_again",
    "tests/integration/test_forget_shapes.py::test_the_original_of_a_content_under_another_name_goes_and_is_not_learned_again",
    "tests/integration/test_given_back.py::test_a_graph_is_as_it_was_before_it_was_enrolled",
    "tests/integration/test_import_files.py::test_nothing_is_read_without_the_constraint_or_with_a_wrong_request",
    "tests/integration/test_import_files.py::test_what_the_server_refuses_is_found_within_its_batch",
    "tests/integration/test_models_save.py::test_a_query_by_key_is_an_index_seek",
    "tests/integration/test_models_save.py::test_neomodels_schema_installer_finds_nothing_to_do",
    "tests/integration/test_recall.py::test_without_its_indexes_recall_goes_on_as_it_can",
    "tests/integration/test_remember_client.py::test_a_row_that_only_the_server_can_refuse_stands_alone",
    "tests/integration/test_remember_rows.py::test_embeddings_that_are_off_leave_no_work",
)
"""They change indexes or constraints of the shared server, or have it plan anew: see `fill` in tests/query_plans.py."""


def unit_of(nodeid: str) -> str:
    """Tests with the same one run on one worker, one after the other."""
    file = nodeid.split("::", 1)[0]
    if nodeid.startswith(LAST):
        return f"last of {file}"
    return next((name for name, tests in TOGETHER.items() if nodeid.startswith(tests)), file)


class Units(LoadFileScheduling):
    """In place of `--dist loadfile`."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # they stand in order
    return Units(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """The largest units first, so that both workers end together. Names are looked for also in what isn't selected."""
    for item in items:
        if "empty_server" in getattr(item, "fixturenames", ()) and unit_of(item.nodeid) != "the empty server":
            raise pytest.UsageError(f"{item.nodeid} begins with an empty server: name it in tests/scheduling.py")
    yield
    size = Counter(unit_of(item.nodeid) for item in items)
    items.sort(key=lambda item: (item.nodeid.startswith(LAST), -size[unit_of(item.nodeid)], unit_of(item.nodeid)))
