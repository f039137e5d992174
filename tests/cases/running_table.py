"""Which tests hold each reported fault (P) and each promise (C, T) about running what was approved.

A test is named by its file below `tests/` and its name.
"""

from collections.abc import Mapping
from typing import Final

from tests.cases.attack_table import (
    APPROVALS,
    BOXES,
    CASES,
    MATRIX,
    REQUESTS,
    STORE,
    Tests,
    of,
    on_both,
)

STEPS: Final = "journeys/test_steps.py"
OUTPUT: Final = "journeys/test_output.py"
RUN_STORE: Final = "contracts/test_run_store.py"
DIES: Final = "i4_i9_x2_c47_c50_c51_c52_c53_p06_p15_p29_p51_whatever_dies_ends_as_the_table_says"

RUN_FAULT_TESTS: Mapping[str, Tests] = {
    "P-03": [
        *of("unit/bot/test_answer.py", "p03a_a_stop_during_a_model_call_ends_the_turn",
            "p03b_a_stop_during_a_read_kills_it_and_counts_it"),
        *of("journeys/test_slack_drafts.py", "p03b_between_two_calls_of_tools_a_stop_ends_the_answer"),
        *of("journeys/test_discord_drafts.py", "p03a_stopped_in_the_middle_it_says_so_in_its_place"),
        *of("journeys/test_stop.py", "p03c_a_running_step_is_killed_from_another_process_within_a_second",
            "p03e_a_card_that_waits_is_withdrawn_and_its_button_is_dead",
            "p03gh_whoever_did_not_ask_and_may_not_stop_is_refused_and_it_goes_on",
            "p03i_a_second_stop_is_harmless"),
        *of("journeys/test_turns.py", "p03_the_word_stop_in_a_message_stops_nothing"),
        *on_both("stop", "test_p03c_what_looks_is_killed", "test_p03f_the_second_of_three_steps_is_killed_and_unknown",
                 "test_p03e_a_card_that_waits_is_withdrawn", "test_p03d_messages_that_wait_are_kept_and_answered_next",
                 "test_p03g_from_another_channel_one_thing_is_stopped_and_of_several_one_says_which",
                 "test_p03h_somebody_else_stops_only_with_the_right_to", "test_p03i_a_second_stop_is_harmless",
                 "test_p03_what_only_looks_like_a_stop_is_a_message"),
        *of(BOXES, "p03_cancelling_kills_what_is_in_the_sandbox_before_it_returns"),
        *of(REQUESTS, "a_stop_closes_the_connection_at_once_and_the_step_is_unknown"),
        *of("journeys/test_mcp_tools.py", "stop_kills_the_server_and_the_step_is_unknown"),
    ],
    "P-15": [
        *of(MATRIX, DIES, "a_second_death_anywhere_while_it_recovers_changes_nothing"),
        *of("journeys/test_turns.py", "p15_c52_a_turn_whose_process_was_killed_is_answered_by_a_server"),
        *of("journeys/test_serve.py", "p15_a_killed_server_leaves_an_unknown_step_that_is_never_repeated",
            "a_signal_ends_a_server_that_runs_something_within_ten_seconds"),
        *on_both("crash", "test_p15_a_server_that_is_killed_in_the_middle_of_a_run_is_told_of_by_the_next",
                 "test_p15_a_server_that_is_told_to_end_does_so_within_ten_seconds_and_the_next_tells"),
        *of("unit/bot/test_sweep.py", "p15_p51_whoever_died_between_file_and_row_leaves_an_honest_report_and_no_file"),
    ],
    "P-29": [
        *of(MATRIX, DIES, "nothing_is_ever_done_or_told_twice_and_only_a_begun_step_is_unknown"),
        *of("unit/bot/test_run.py", "p29_a_death_between_spend_and_first_step_is_resumed_with_one_effect",
            "p29_a_death_in_a_step_is_never_repeated"),
        *of("journeys/test_serve.py", "p29_a_server_that_is_killed_before_the_first_step_has_its_run_taken_up_once"),
        *of(STEPS, "p29_p51_a_kill_while_a_function_runs_leaves_it_unknown_ends_it_and_is_reported"),
        *of("journeys/test_verify.py", "what_verify_finds_is_shown_and_a_person_decides"),
    ],
    "P-51": [
        *of(MATRIX, DIES),
        *of("unit/bot/test_run.py", "p51_what_changed_between_vote_and_run_is_said_on_the_card",
            "p51_a_result_that_could_not_be_written_leaves_the_job_to_whoever_takes_it"),
        *of("unit/bot/test_deliver.py", "p45_p51_what_a_revoked_token_held_up_is_posted_once_that_is_corrected",
            "c47_a_delivery_whose_process_died_before_it_was_told_is_posted_once"),
        *of(STEPS, "p29_p51_a_kill_while_a_function_runs_leaves_it_unknown_ends_it_and_is_reported"),
        *of("unit/bot/test_sweep.py", "p15_p51_whoever_died_behind_the_row_leaves_all_of_it"),
    ],
}  # fmt: skip
"""Reported faults by their ids."""

RUN_PROMISE_TESTS: Mapping[str, Tests] = {
    "C26": [
        *of(REQUESTS, "c26_nobody_is_asked_where_the_network_is_off"),
        *of(f"{APPROVALS}/test_offline.py", "c26_nobody_is_asked_and_nothing_runs_where_it_is_off",
            "c26_what_needs_none_is_asked_about"),
        *of(f"{APPROVALS}/test_delegation.py", "c26_a_read_that_needs_the_network_is_not_run_where_it_is_off"),
        *of("journeys/test_sandbox.py", "c26_where_the_sandbox_does_not_work_nobody_is_asked_and_nothing_runs"),
    ],
    "C47": [
        *of("journeys/test_crash.py", "c47_a_killed_approval_leaves_an_unknown_step_that_is_never_repeated"),
        *of(REQUESTS, "c47_a_request_in_which_the_process_dies_is_unknown_and_never_repeated"),
        *of(MATRIX, DIES),
        *of(RUN_STORE, "the_intent_to_run_a_step_is_written"),
    ],
    "C48": [
        *of("journeys/test_runs_per_turn.py", "c48_in_whatever_order_arguments_come_it_is_the_same_plan"),
        *of("contracts/test_conversations.py",
            "i9_p02_c48_a_message_that_comes_in_again_is_the_one_that_came_in_before"),
        *of("journeys/test_slack_redelivery.py", "c51_c48_what_comes_five_times_over_a_crash_is_one_turn_and_one_card"),
        *of("journeys/test_crash_writing.py", "i9_c48_c53_whatever_commit_a_writing_turn_dies_after_it_ends_as_one"),
        *of("unit/core/test_ids.py", "a_plan_and_a_step_have_the_same_name_every_time"),
    ],
    "C49": [
        *of(REQUESTS, "c49_time_that_is_over_once_it_was_sent_leaves_it_unknown_and_a_person_decides",
            "i4_a_connection_that_ends_leaves_it_unknown_until_verify_and_a_person_say"),
        *of("unit/bot/test_deliver.py", "i4_x2_c49_the_report_of_an_unknown_run_lets_people_say_what_happened"),
        *of(STEPS, "c49_a_kill_in_the_second_try_leaves_it_unknown_and_nothing_is_tried_or_run_again",
            "c49_a_stop_in_the_second_try_leaves_it_unknown"),
    ],
    # Whoever comes too late is told so by `LeaseLost`.
    "C50": [
        *of(RUN_STORE, "i4_a_step_is_begun_once", "i4_a_step_that_ended_is_never_begun_again",
            "a_claim_that_was_taken_over_begins_ends_and_cancels_nothing",
            "whoever_lost_the_job_writes_nothing_about_the_run"),
        *of("contracts/test_jobs.py", "a_holder_that_lost_its_job_hears_of_it_and_cannot_end_it"),
        *of("contracts/test_conversations.py", "a_claim_that_was_lost_ends_no_turn",
            "i7_who_lost_the_turn_keeps_no_plan"),
        *of("unit/bot/test_run.py", "p29_a_death_between_spend_and_first_step_is_resumed_with_one_effect"),
        *of(STORE, "the_spend_is_bound_to_tenant_conversation_and_plan"),
        *of(MATRIX, DIES),
    ],
    "C51": [
        *of("journeys/test_slack_redelivery.py", "c51_c48_what_comes_five_times_over_a_crash_is_one_turn_and_one_card",
            "p02_one_message_under_eleven_ids_is_done_once"),
        *of("journeys/test_discord_redelivery.py",
            "p02_what_was_asked_while_nobody_was_there_is_caught_up_and_no_stop_is"),
        *of(MATRIX, DIES),
    ],
    "C61": [
        *of("unit/bot/test_live.py", "c61_a_hundred_lines_within_a_second_are_one_edit",
            "c61_a_hundred_lines_over_ten_seconds_are_at_most_eleven_edits",
            "c61_a_hundred_percentages_within_a_second_are_one_edit",
            "a_run_that_prints_nothing_tells_now_and_then_for_how_long_it_runs"),
        *on_both("faults", "test_c61_what_a_run_prints_is_shown_by_one_edit_a_second_at_most"),
    ],
    "C85": [
        *of("contracts/test_artifacts.py", "c85_as_much_as_one_may_have_is_kept",
            "c85_a_stream_of_a_byte_more_stores_nothing"),
        *of(OUTPUT, "c85_the_report_names_all_of_it_and_a_command_prints_it",
            "c85_a_byte_more_than_is_kept_stores_nothing_and_says_so",
            "c85_erasing_takes_the_file_and_leaves_the_digest", "c85_a_receipt_names_the_digest"),
        *of(f"{APPROVALS}/test_keeping.py", "c85_a_stream_of_a_byte_too_much_stores_nothing_and_the_report_says_so",
            "c85_one_run_has_only_so_many_kept"),
        *of("contracts/test_kept.py", "c85_it_is_written_whose_it_is_and_where_it_came_from"),
        *of("integration/test_http_steps.py", "c85_all_of_a_long_answer_can_be_kept_and_nothing_of_a_secret"),
        *of("integration/test_mcp_runner.py", "c85_all_of_a_long_answer_can_be_kept_and_nothing_of_a_secret"),
    ],
    "C94": [
        *of("integration/test_http_steps.py", "c94_the_key_of_a_request_is_its_steps_and_the_same_each_time"),
        *of(REQUESTS, "c94_a_request_has_one_key_at_every_try_and_no_other_step_or_run_has_it"),
        *of(STEPS, "c94_a_step_has_one_key_at_every_try_and_no_other_step_or_run_has_it"),
        *of(CASES, "c94_a_step_is_told_its_own_stable_name"),
        *of(f"{APPROVALS}/test_execution.py", "c94_every_step_gets_a_stable_id_of_its_own"),
        *of("unit/bot/test_run.py", "p29_a_death_between_spend_and_first_step_is_resumed_with_one_effect"),
    ],
    "T1": [
        *of("journeys/test_every_kind.py", "t1_a_step_of_each_kind_is_shown_approved_once_and_run_in_its_order"),
        *of("journeys/test_catalogue.py", "each_really_does_what_it_says",
            "there_are_twelve_and_each_write_says_what_it_waits_for_and_how_to_look"),
        *of("unit/core/test_runbooks.py", "a_bad_file_is_told_in_one_line_with_file_line_field_and_what_to_do"),
    ],
}  # fmt: skip
"""Promises by their ids."""
