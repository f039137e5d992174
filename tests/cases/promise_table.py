"""Which tests hold each reported fault (P) and each promise (C, X) about approvals.

C46, approval for callers over MCP, comes with MCP, which is not there yet: it has no line.
A test is named by its file below `tests/` and its name.
"""

from collections.abc import Mapping
from typing import Final

from tests.cases.attack_table import (
    APPROVALS,
    BOTH,
    CARDS,
    CASES,
    CHANGES,
    DISPLAY,
    GATE,
    GRANTS,
    JOURNEY,
    MATRIX,
    MODEL,
    STANDINGS,
    STORE,
    TEXT,
    Tests,
    of,
    on_both,
)

PREFLIGHT: Final = f"{APPROVALS}/test_preflight.py"
FACTOR: Final = f"{APPROVALS}/test_second_factor.py"
FACTORS: Final = "contracts/test_factors.py"
GRANTING: Final = f"{APPROVALS}/test_granting.py"
URGING: Final = "unit/bot/test_urging.py"
PREVIEWS: Final = "cases/test_previews.py"
X1: Final = "x1_asked_shown_approved_by_the_right_person_run_and_reported"

FAULT_TESTS: Mapping[str, Tests] = {
    "P-04": [
        *of(CASES, "p04_a_denied_effect_stays_refused_however_it_is_worded",
            "p04_a_denial_holds_in_its_conversation_and_for_its_arguments"),
        *of(MODEL, "p04_i13_what_was_denied_stays_denied_in_other_words", "p04_three_denied_proposals_end_the_turn",
            "p04_i13_a_denial_is_of_one_conversation_and_time_is_no_denial"),
    ],
    "P-07": [
        *on_both("votes", "test_p07_at_its_time_a_card_ends_by_itself_with_one_of_two_votes",
                 "test_p07_a_click_just_after_its_time_finds_it_expired",
                 "test_p07_ask_again_makes_a_new_card_that_can_be_approved",
                 "test_p07_halfway_whoever_may_vote_is_reminded_in_the_thread",
                 "test_p07_what_is_decided_elsewhere_is_shown_on_the_card"),
        *of("unit/bot/test_expire.py", "p06_p07_a_request_ends_at_its_time_without_anybody_looking"),
    ],
    "P-08": [
        *of(CASES, "p08_reads_run_at_once_and_all_writes_of_one_message_are_one_plan",
            "p08_one_wrong_call_leaves_no_card_and_too_many_neither"),
        *of(MODEL, "p08_all_effects_of_a_step_are_one_card_that_lists_each", "p08_fifty_six_gated_calls_are_no_card",
            "p08_the_same_safe_command_twenty_times_asks_nobody"),
        *of(PREVIEWS, "p08_fifty_calls_of_one_step_are_one_card_and_run_all_or_not_at_all"),
    ],
    "P-09": [
        *of(CASES, "p09_nobody_approves_where_the_group_is_empty_and_every_attempt_is_kept",
            "p09_a_deny_rule_beats_every_rule_that_allows"),
        *of(GATE, "p09_a_refusal_leaves_the_card_usable_and_every_attempt_is_noted",
            "p09_somebody_who_was_removed_from_the_group_a_moment_ago_may_no_longer_vote"),
        *of("journeys/test_slack_people.py", "p09_p17_whoever_is_not_listed_decides_nothing"),
        *of("journeys/test_discord_people.py", "p09_whoever_is_not_listed_decides_nothing"),
        *on_both("people", "test_p09_a_bot_decides_nothing", "test_p09_an_id_from_elsewhere_gives_nobody_authority"),
    ],
    "P-20": of("unit/bot/test_schedule.py", "p20_while_a_plan_waits_later_times_are_skipped_and_that_is_on_record",
               "p20_once_its_plan_has_ended_it_asks_again_and_never_approves"),
    "P-23": [
        *of(CASES, "p23_a_long_value_is_shown_whole", "p23_a_hidden_end_of_a_value_is_refused_by_name"),
        *on_both("texts", "test_p01_a_plan_of_50_kb_is_approved_only_where_all_of_it_is_shown"),
    ],
    "P-24": [
        *of(GRANTS, "a_grant_covers_exactly_what_was_shown", "a_grant_expires",
            "a_grant_ends_when_it_is_revoked_and_the_next_ask_has_a_card",
            "what_has_changed_since_it_was_shown_has_no_grant", "two_asks_at_once_with_one_use_left_run_once"),
        *of(GRANTING, "a_grant_is_of_exactly_what_a_card_showed_and_of_who_asked", "a_grant_is_bounded"),
        *of("contracts/test_grants.py", "i1_whatever_a_grant_does_not_cover_has_a_card"),
        *of("journeys/test_slack_grants.py", "p24_a_grant_for_staging_is_none_for_prod_for_others_or_elsewhere"),
        *of("journeys/test_discord_grants.py", "p24_a_grant_for_staging_is_none_for_prod_or_for_others"),
    ],
    "P-27": [
        *of("journeys/test_eight_at_once.py",
            "eight_approvals_at_once_have_one_effect_and_seven_are_told_who_decided",
            "approving_and_denying_at_once_ends_in_one_of_the_two", "the_two_last_votes_at_once_are_one_run"),
        *on_both("people", "test_p27_two_people_and_two_clicks_at_once_run_it_once",
                 "test_p27_a_yes_and_a_no_at_once_are_one_decision"),
    ],
    "P-28": [
        *of(CASES, "p28_two_requests_in_one_conversation_are_told_apart_by_id"),
        *on_both("people", "test_p28_a_button_is_about_its_own_card_alone"),
    ],
    "P-30": [
        *of(CASES, "p30_a_value_with_a_hidden_character_is_refused_by_name",
            "p30_what_is_only_odd_is_escaped_and_named_on_the_card",
            "p30_output_of_a_step_cannot_move_what_people_read"),
        *on_both("texts", "test_p30_what_cannot_be_seen_is_refused_and_what_looks_alike_is_warned_of"),
    ],
    "P-32": [
        *of(CASES, "p32_one_person_with_two_accounts_is_one_voter", "p32_one_denial_among_approvals_ends_it",
            "p32_one_of_two_votes_expires_and_says_so"),
        *of(GATE, "p32_a_voter_who_lost_the_role_before_the_quorum_revokes_it"),
        *on_both("votes", "test_p32_two_different_people_have_to_agree_and_the_card_counts_them",
                 "test_p32_both_yes_in_the_same_moment_run_it_once"),
    ],
    "P-36": [
        *of("journeys/test_slack_standing.py", "p36_what_cannot_be_known_is_a_no_with_the_reason",
            "p36_whoever_was_removed_from_the_user_group_approves_nothing",
            "p36_whoever_is_deactivated_approves_nothing"),
        *of("journeys/test_discord_standing.py", "p36_what_discord_cannot_be_asked_about_does_not_run",
            "p36_whoever_lost_the_role_before_they_pressed_approves_nothing"),
        *of(STANDINGS, "p36_an_approver_who_is_gone_is_not_named_and_nothing_breaks",
            "i3_a_group_that_cannot_be_asked_at_the_spend_is_a_no_however_new_the_cache_is"),
    ],
    "P-38": [
        *of(CASES, "p38_a_runbook_that_says_nothing_of_its_effect_is_a_write",
            "p38_a_second_runbook_of_one_name_runs_nothing"),
        *of(MODEL, "p38_no_tool_approves", "p38_a_rationale_that_says_approved_is_no_vote"),
    ],
    "P-39": [
        *of(CASES, "p39_no_text_approves_anything"),
        *on_both("people", "test_p39_words_approve_only_with_the_id"),
        *of("unit/adapters/discord/test_inbound.py", "p39_whoever_quotes_approves_nothing_and_asks_what_they_wrote"),
        *of(MODEL, "p38_p39_an_answer_to_a_question_approves_nothing"),
    ],
    "P-47": [
        *of("integration/test_slack_intake.py", "a_click_is_acknowledged_and_a_refusal_told_beside_the_card"),
        *of("integration/test_discord_intake.py", "a_refused_click_is_told_alone_and_the_card_stays"),
        *of("journeys/test_discord_late.py", "p33_a_run_of_sixteen_minutes_is_told_of_without_the_token"),
        *on_both("votes", "test_p07_at_its_time_a_card_ends_by_itself_with_one_of_two_votes"),
    ],
    "P-50": [
        *of("cases/test_attacks.py",
            "p50_whoever_approves_for_themselves_may_only_where_the_rule_says_so_and_it_shows"),
        *of(CASES, "c93_the_account_of_the_process_acts_whatever_the_variables_say",
            "c93_acting_as_somebody_takes_the_files_consent"),
    ],
}  # fmt: skip
"""Reported faults by their ids."""

PROMISE_TESTS: Mapping[str, Tests] = {
    "C31": [
        *of(CHANGES, "i3_a_change_before_the_click_revokes_with_its_reason_and_counts_no_vote",
            "i3_a_change_before_the_spend_revokes_with_its_reason_and_runs_nothing"),
        *of(f"{APPROVALS}/test_freeze.py",
            "c31_a_file_that_cannot_be_read_is_never_taken_for_unchanged_or_missing"),
        *of("integration/test_workfolder.py", "the_digest_is_that_of_the_content", "no_such_file_is_none"),
    ],
    "C32": [
        *of(STORE, "c32_agent_text_is_replaced_only_before_the_first_vote",
            "c32_the_same_asked_again_is_counted_and_no_second_request"),
        *of(PREFLIGHT, "c32_a_forced_collision_of_short_ids_is_refused"),
        *of(JOURNEY, "asking_again_makes_a_new_card_and_supersedes_the_old_one"),
    ],
    "C33": [
        *of("unit/core/test_runbooks.py", "c33_a_hidden_character_is_refused_by_name",
            "the_names_of_the_agents_own_texts_are_refused_as_parameters"),
        *of(CASES, "p30_a_value_with_a_hidden_character_is_refused_by_name"),
    ],
    "C34": [
        *of(CARDS, "i6_c34_hostile_arguments_are_harmless_on_the_card_and_none_of_their_bytes_is_missing",
            "the_sections_of_a_card_have_one_order"),
        *of("unit/adapters/slack/test_cards.py", "the_sections_stand_in_the_order_of_the_card"),
        *of("unit/adapters/discord/test_cards.py", "the_sections_stand_in_the_order_of_the_card",
            "no_text_of_anybody_means_anything_on_a_card"),
        *of(TEXT, "i7_what_a_model_says_stands_marked_below_the_facts"),
    ],
    "C35": of(PREFLIGHT, "c35_each_failing_check_leaves_no_request_and_says_why",
              "i3_the_first_check_of_the_order_is_the_one_that_is_told"),
    "C36": [
        *of(GATE, "i5_c36_an_unknown_id_gets_one_constant_answer_and_is_noted",
            "i5_a_malformed_id_gets_the_answer_for_an_unknown_one"),
        *of(CARDS, "i5_a_button_carries_the_id_of_the_request_and_nothing_else"),
        *of("unit/adapters/slack/test_pressed.py", "what_a_button_carries_is_bounded"),
    ],
    "C37": of(STORE, "c37_of_fifty_spends_at_once_exactly_one_wins",
              "c37_a_spend_and_a_denial_at_once_have_one_outcome"),
    "C38": [
        *of(BOTH, "c38_whoever_asked_on_one_platform_may_not_approve_on_the_other"),
        *of(GATE, "p09_who_may_approve_only_one_of_two_calls_may_not_approve_the_plan"),
    ],
    "C39": [
        *of(PREFLIGHT, "c39_a_refused_proposal_is_on_record_with_its_reason"),
        *of("unit/test_layout.py", "only_the_storage_makes_the_proof_that_a_request_was_spent"),
        *of("cases/test_bad_input.py", "a_yes_is_not_taken_for_a_quorum_of_one"),
        *of(GATE, "i1_a_request_that_only_claims_to_be_granted_cannot_be_spent", "p04_time_that_ran_out_is_no_denial",
            "people_that_cannot_be_read_decide_nothing_and_end_nothing"),
        *of(STORE, "i11_an_expiry_has_its_audit_entry_or_does_not_happen"),
    ],
    "C40": [
        *of(STORE, "now_equal_to_expires_at_is_expired", "what_supersedes_a_live_request_ends_it"),
        *of(GATE, "c40_after_it_was_spent_every_ask_is_a_new_request"),
        *of(JOURNEY, "a_run_that_fails_is_printed_whole_and_has_spent_its_request",
            "asking_again_makes_a_new_card_and_supersedes_the_old_one"),
    ],
    "C41": [
        *of("unit/core/test_one_time_codes.py", "c41_what_is_no_moment_is_never_fresh",
            "c41_a_proof_is_newer_than_the_request_and_not_to_come"),
        *of(FACTORS, "c41_a_code_has_to_begin_after_the_request", "c41_a_code_counts_once",
            "c41_of_two_votes_at_once_with_one_code_exactly_one_counts",
            "no_vote_counts_without_a_code_where_the_rule_demands_one",
            "i2_a_vote_that_came_without_a_code_is_never_spent"),
        *of(FACTOR, "c41_without_a_code_nothing_is_approved", "c41_a_code_older_than_the_request_proves_nothing",
            "c41_a_code_is_used_once_over_requests", "no_standing_grant_goes_round_a_second_factor",
            "who_breaks_the_glass_gives_a_code_too_and_it_is_used_up"),
        *of("journeys/test_second_factor.py", "c41_from_enrolling_to_a_run_and_its_receipt",
            "c41_a_code_that_is_older_than_the_request_is_refused", "c41_of_two_processes_with_one_code_one_counts",
            "c41_five_wrong_codes_lock_over_processes"),
        *of("journeys/test_slack_second_factor.py", "c41_a_code_in_the_window_approves_and_the_plan_runs",
            "c41_wrong_replayed_and_missing_codes_are_told_in_the_window"),
        *of("journeys/test_discord_second_factor.py", "c41_a_code_in_the_form_approves_and_the_plan_runs",
            "c41_wrong_replayed_and_missing_codes_are_told"),
        *on_both("second_factor", "test_c41_a_code_in_the_thread_approves_nothing"),
    ],
    "C42": [
        *of(GATE, "p04_c42_a_denied_effect_gets_no_new_card_however_it_is_worded",
            "the_reason_of_a_denial_is_told_in_the_conversation"),
        *of(MODEL, "p05_a_gated_call_beside_a_bad_one_is_not_proposed"),
    ],
    "C43": [
        *of(GATE, "p27_c43_a_click_after_the_run_is_told_who_decided"),
        *of("journeys/test_slack_people.py", "c43_one_click_that_is_delivered_three_times_is_answered_each_time"),
        *of("journeys/test_slack.py", "c43_two_clicks_at_once_run_it_once"),
        *of("journeys/test_discord.py", "c43_two_clicks_at_once_run_it_once"),
    ],
    "C44": [
        *of(GATE, "c44_after_the_switch_is_turned_off_the_click_revokes_and_nothing_runs"),
        *of(JOURNEY, "where_no_run_is_allowed_nobody_is_asked"),
    ],
    "C45": [
        *of(JOURNEY, "where_only_plans_are_made_nobody_is_asked_and_nothing_runs",
            "an_exported_plan_proposes_the_same_hash_again"),
        *of(PREFLIGHT, "c45_an_exported_plan_is_proposed_only_while_it_still_means_the_same"),
    ],
    "C65": [
        *of("journeys/test_linking.py", "c65_x7_an_account_is_linked_by_both_sides_and_is_one_vote",
            "after_unlink_a_vote_is_refused_and_a_restart_changes_nothing",
            "nobody_else_uses_a_code_up_twice_or_answers_for_another"),
        *of("unit/core/test_links.py", "c65_exactly_one_match_whatever_was_linked",
            "c65_what_the_file_does_not_carry_is_lost"),
        *of(f"{APPROVALS}/test_linking.py", "c65_the_file_wins_and_what_it_does_not_carry_ends_for_good"),
        *of("unit/core/test_chat_commands.py", "c65_what_everybody_could_read_is_not_answered_there"),
    ],
    "C66": [
        *of(JOURNEY, "c66_a_voter_who_lost_the_role_before_the_last_vote_revokes_it",
            "c66_a_requester_who_lost_the_role_revokes_it"),
        *of(f"{APPROVALS}/test_delegation.py", "c66_authority_that_went_since_the_turn_began_is_gone"),
    ],
    "C67": of("unit/bot/test_profiles.py",
              "c67_who_is_too_fast_is_told_so_before_anything_else_is_looked_at",
              "c67_admission_comes_before_what_the_policy_says_of_a_profile",
              "c67_who_asks_too_fast_may_still_vote_and_nothing_holds_back_a_no"),
    "C68": [
        *of(f"{APPROVALS}/test_delegation.py", "c68_a_tool_outside_the_profile_is_refused_though_they_may_use_it",
            "c68_it_ends_with_the_time_of_the_turn"),
        *of("unit/bot/test_profiles.py", "c68_a_profile_that_was_narrowed_while_it_waited_revokes_at_the_spend"),
    ],
    "C69": of("contracts/test_tenants.py", "i14_c69_anothers_id_never_succeeds_and_is_answered_as_an_unknown_one"),
    "X1": [
        *of("journeys/test_slack.py", X1),
        *of("journeys/test_discord.py", X1),
        *of("journeys/test_slack_over_http.py", "x1_asked_shown_approved_run_and_reported_across_a_kill"),
        *of(DISPLAY, "i6_arguments_on_a_card_are_ascii_without_meaning_and_parse_back"),
    ],
    "X2": [
        *of(MATRIX, "i4_i9_x2_c47_c50_c51_c52_c53_p06_p15_p29_p51_whatever_dies_ends_as_the_table_says"),
        *of("unit/bot/test_deliver.py", "i4_x2_c49_the_report_of_an_unknown_run_lets_people_say_what_happened"),
        *of("journeys/test_verify.py", "what_verify_finds_is_shown_and_a_person_decides"),
    ],
    "X3": [
        *of(MODEL, "p04_i13_what_was_denied_stays_denied_in_other_words", "p04_after_a_denial_no_answer_is_a_run"),
        *of("journeys/test_slack_votes.py", "p04_a_denial_tells_why_and_stands_however_it_is_worded"),
        *of("journeys/test_discord_votes.py", "p04_a_denial_tells_why_pings_nobody_and_stands_however_it_is_worded"),
        *of(GATE, "p04_time_that_ran_out_is_no_denial"),
    ],
    "X5": of(PREVIEWS, "x5_what_a_preview_printed_stands_on_the_card_and_is_in_the_hash",
             "x5_a_changed_preview_revokes_and_runs_nothing",
             "x5_a_preview_that_is_only_shown_is_not_in_the_hash_and_revokes_nothing"),
    "X4": [
        *of("journeys/test_edit.py", "one_of_two_votes_is_void_once_somebody_edits_and_both_vote_anew",
            "of_ten_edits_and_a_yes_at_once_one_stands", "the_receipt_tells_who_edited_it_and_hides_nobody"),
        *of("journeys/test_slack_edit.py", "a_window_shows_what_is_there_takes_another_value_and_makes_a_new_card",
            "who_may_not_edit_gets_no_window"),
        *of("journeys/test_discord_edit.py", "a_form_shows_what_is_there_takes_another_value_and_makes_a_new_card",
            "who_may_not_edit_gets_no_form"),
        *of("contracts/test_edits.py", "an_edit_ends_the_old_request_and_opens_another_one_without_votes",
            "c37_an_edit_and_the_last_yes_at_once_have_one_outcome"),
        *of(f"{APPROVALS}/test_editing.py",
            "whoever_has_the_right_makes_a_new_plan_with_a_new_hash_and_a_new_card",
            "votes_are_void_and_the_rule_begins_anew"),
    ],
    "X6": [
        *of(URGING, "x6_each_step_comes_once_at_its_minute_and_after_a_restart",
            "x6_steps_that_were_missed_while_nothing_served_come_late_and_once", "x6_to_be_told_gives_nobody_a_right",
            "x6_the_agent_is_told_that_nobody_answered_and_that_this_is_no_denial", "x6_who_may_approve_is_asked_once",
            "x6_who_may_not_approve_is_not_asked_and_it_is_said_who_may"),
        *of("unit/bot/test_remind.py", "p07_an_open_request_is_brought_to_mind_at_its_time_and_once"),
        *on_both("rules", "test_x6_a_pause_is_told_where_something_waits_and_its_end_too",
                 "test_x6_who_is_asked_to_decide_is_called_and_one_person_breaks_the_glass"),
        *of("journeys/test_slack_rules.py", "x6_who_asked_is_called_where_nobody_decided_it"),
        *of("journeys/test_rules.py", "x6_a_pause_holds_back_all_processes_until_somebody_resumes",
            "x6_a_freeze_holds_back_what_it_does_not_spare",
            "x6_one_person_breaks_the_glass_in_a_freeze_and_the_receipt_says_so"),
        *of(f"{APPROVALS}/test_glass.py", "x6_it_gets_past_no_pause", "x6_it_gets_past_no_denial_no_end_and_no_change"),
    ],
    "X7": [
        *of(BOTH, "x7_a_second_yes_of_the_same_person_counts_nothing_on_the_other_platform",
            "x7_a_role_that_is_gone_on_one_platform_refuses_a_vote_from_the_other"),
        *of(STANDINGS, "i3_who_was_removed_from_the_group_a_second_ago_did_not_approve"),
        *of("journeys/test_linking.py", "c65_x7_an_account_is_linked_by_both_sides_and_is_one_vote"),
    ],
    "X8": [
        *of(GRANTS, "a_grant_covers_exactly_what_was_shown", "people_see_the_grants_that_they_may_know_of",
            "a_grant_ends_when_it_is_revoked_and_the_next_ask_has_a_card",
            "a_grant_is_suspended_once_what_people_agreed_to_is_no_longer_so"),
        *of("contracts/test_grants.py", "of_fifty_uses_at_once_exactly_as_many_run_as_are_left",
            "a_use_and_a_revocation_at_once_have_one_outcome",
            "i1_whatever_spends_its_request_no_grant_begins_without_all_of_its_votes"),
        *of(GRANTING, "i3_a_use_is_looked_at_again_before_it_is_spent",
            "i4_what_may_have_happened_already_has_a_card_again"),
        *of("journeys/test_slack_grants.py", "p24_a_grant_for_staging_is_none_for_prod_for_others_or_elsewhere",
            "a_grant_is_approved_by_button_used_and_revoked_by_button"),
        *of("journeys/test_discord_grants.py", "p24_a_grant_for_staging_is_none_for_prod_or_for_others",
            "a_grant_is_approved_by_button_used_listed_and_revoked"),
    ],
}  # fmt: skip
"""Promises by their ids."""
