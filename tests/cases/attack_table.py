"""Which tests hold each attack on approvals, and each reported fault and promise about them.

A test is named by its file below `tests/` and its name.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Tests = Sequence[str]

APPROVALS: Final = "unit/approvals"
STORE: Final = "contracts/test_approval_store.py"
CASES: Final = "cases/test_cases.py"
ATTACKS: Final = "cases/test_attacks.py"
BY_TEXT: Final = "cases/test_attacks_by_text.py"
BY_REQUEST: Final = "cases/test_attacks_by_request.py"
REQUESTS: Final = "journeys/test_requests.py"
GATE: Final = f"{APPROVALS}/test_gate.py"
CHANGES: Final = f"{APPROVALS}/test_changes.py"
CARDS: Final = f"{APPROVALS}/test_cards.py"
STANDINGS: Final = f"{APPROVALS}/test_standings.py"
MODEL: Final = "journeys/test_hostile_model.py"
TEXT: Final = "journeys/test_hostile_text.py"
JOURNEY: Final = "journeys/test_ask_approve_run.py"
EIGHT: Final = "journeys/test_eight_at_once.py"
GRANTS: Final = "journeys/test_grants.py"
MATRIX: Final = "journeys/test_crash_matrix.py"
MCP: Final = "journeys/test_mcp_serve.py"
TOOLS: Final = "journeys/test_mcp_tools.py"
SERVERS: Final = "integration/test_mcp_runner.py"
ACCEPTED: Final = "unit/adapters/test_mcp_definitions.py"
BOTH: Final = "journeys/test_two_platforms.py"
DISPLAY: Final = "unit/core/test_display.py"
CANONICAL: Final = "unit/core/test_canonical.py"
BOXES: Final = "integration/test_boxes.py"
AUDIT: Final = "unit/core/test_audit.py"


def on_both(story: str, *names: str) -> list[str]:
    """Return tests that one story has under the same name for Slack and for Discord."""
    return [f"journeys/test_{p}_{story}.py::{name}" for p in ("slack", "discord") for name in names]


def of(file: str, *names: str) -> list[str]:
    """Return tests of one file."""
    return [f"{file}::test_{name}" for name in names]


ATTACK_TESTS: Mapping[str, Tests] = {
    "01 arguments or what they mean change after the yes": [
        *of(ATTACKS, "attack_01_what_is_changed_in_the_database_after_the_yes_revokes_on_record",
            "attack_01_what_was_approved_in_one_conversation_is_not_spent_for_another"),
        *of(CHANGES, "i3_a_change_before_the_spend_revokes_with_its_reason_and_runs_nothing",
            "i3_an_altered_plan_in_the_database_is_revoked_at_the_click",
            "i11_a_revocation_is_on_record_and_told_in_the_conversation"),
    ],
    "02 an input file changes after the yes": [
        *of(JOURNEY, "what_changed_after_the_card_revokes_it",
            "a_watched_file_that_is_gone_is_a_change_also_when_it_comes_back"),
        *of(CHANGES, "a_file_that_appears_where_there_was_none_is_a_change"),
        *of(f"{APPROVALS}/test_freeze.py",
            "c31_a_file_that_cannot_be_read_is_never_taken_for_unchanged_or_missing"),
    ],
    "03 double clicks, in several processes": [
        *of(EIGHT, "eight_approvals_at_once_have_one_effect_and_seven_are_told_who_decided"),
        *of(STORE, "c37_of_fifty_spends_at_once_exactly_one_wins"),
        *on_both("people", "test_p27_two_people_and_two_clicks_at_once_run_it_once"),
    ],
    "04 a yes and a no at once": [
        *of(EIGHT, "approving_and_denying_at_once_ends_in_one_of_the_two"),
        *of(STORE, "c37_a_spend_and_a_denial_at_once_have_one_outcome",
            "c37_a_last_vote_and_a_denial_at_once_end_denied"),
        *on_both("people", "test_p27_a_yes_and_a_no_at_once_are_one_decision"),
    ],
    "05 a yes at the moment of expiry": [
        *of(STORE, "now_equal_to_expires_at_is_expired", "a_request_lives_until_the_moment_before_its_time",
            "i11_an_expiry_has_its_audit_entry_or_does_not_happen"),
        *of(GATE, "i3_time_runs_out_until_the_spend_and_now_at_the_end_is_too_late",
            "a_spend_a_moment_before_the_end_still_runs"),
    ],
    "06 a crash between the spend, the effect and the record": [
        *of(MATRIX, "i4_i9_x2_c47_c50_c51_c52_c53_p06_p15_p29_p51_whatever_dies_ends_as_the_table_says",
            "nothing_is_ever_done_or_told_twice_and_only_a_begun_step_is_unknown"),
        *of("journeys/test_crash.py", "c47_a_killed_approval_leaves_an_unknown_step_that_is_never_repeated"),
    ],
    "07 a click is delivered again": [
        *of("journeys/test_slack_people.py", "c43_one_click_that_is_delivered_three_times_is_answered_each_time"),
        *of("journeys/test_slack_over_http.py", "x1_asked_shown_approved_run_and_reported_across_a_kill"),
        *of("journeys/test_slack_redelivery.py", "p02_a_command_or_a_form_that_comes_again_is_done_once"),
        *of("journeys/test_discord_redelivery.py", "p02_a_command_a_button_and_a_form_that_come_again_are_done_once"),
    ],
    "08 the id of another plan, person or tenant": [
        *of(GATE, "i14_another_tenants_id_gets_the_answer_for_an_unknown_one",
            "i5_who_may_not_see_a_request_gets_the_answer_for_an_unknown_one",
            "i5_the_answer_stays_the_same_for_what_has_ended"),
        *on_both("people", "test_p09_an_id_from_elsewhere_gives_nobody_authority",
                 "test_p28_a_button_is_about_its_own_card_alone"),
    ],
    "09 ids that are guessed": [
        *of("unit/core/test_ids.py", "i5_what_a_button_carries_is_128_random_bits_in_lowercase_hex"),
        *of(GATE, "i5_c36_an_unknown_id_gets_one_constant_answer_and_is_noted"),
        *of("unit/bot/test_refused_often.py", "whatever_is_refused_is_noted_so_often_and_told_each_time",
            "who_is_too_fast_fills_no_log_either"),
    ],
    "10 a payload that carries more than an id": [
        *of(ATTACKS, "attack_10_nothing_that_is_added_to_a_payload_of_slack_changes_what_it_means",
            "attack_10_a_button_of_discord_means_one_request_or_nothing"),
        *of(GATE, "i5_a_malformed_id_gets_the_answer_for_an_unknown_one"),
    ],
    "11 an approver lost the role": [
        *of(JOURNEY, "c66_a_voter_who_lost_the_role_before_the_last_vote_revokes_it",
            "an_approver_who_lost_the_role_is_refused_and_the_card_stays"),
        *of(STANDINGS, "i3_who_was_removed_from_the_group_a_second_ago_did_not_approve"),
        *of("journeys/test_discord_standing.py",
            "x7_what_happened_one_second_after_the_press_counts_before_anything_runs"),
        *of("journeys/test_slack_standing.py",
            "p36_whoever_was_removed_from_the_user_group_approves_nothing"),
    ],
    "12 a role that the agent's own action gave": [
        *of(BY_TEXT, "attack_12_nothing_that_an_agent_does_gives_anybody_authority"),
        *of(CASES, "c93_no_variable_says_who_may_decide"),
        *of(f"{APPROVALS}/test_linking.py", "a_group_of_the_linked_account_gives_no_authority"),
        *of(f"{APPROVALS}/test_granting.py", "who_may_not_propose_is_refused_on_record"),
    ],
    "13 approving what one asked for": [
        *of(GATE, "p09_the_requester_is_refused_where_the_rule_asks_for_somebody_else"),
        *of(BOTH, "c38_whoever_asked_on_one_platform_may_not_approve_on_the_other"),
        *on_both("people", "test_p09_a_bot_decides_nothing"),
        *of(f"{APPROVALS}/test_editing.py", "whoever_edited_counts_as_a_requester_of_it"),
        *of(GRANTS, "who_asked_first_stays_the_requester_and_may_not_vote_for_it_where_the_rule_says"),
        *of(MCP, "attack_13_whoever_s_agent_asked_counts_as_having_asked"),
    ],
    "14 two votes of one person": [
        *of(BOTH, "x7_a_second_yes_of_the_same_person_counts_nothing_on_the_other_platform"),
        *of(CASES, "p32_one_person_with_two_accounts_is_one_voter"),
        *of(STORE, "one_person_has_one_vote"),
        *of("journeys/test_linking.py", "c65_x7_an_account_is_linked_by_both_sides_and_is_one_vote"),
    ],
    # Whoever may approve may do so by the id from anywhere; what runs stays bound to its conversation.
    "15 a copied card, another channel, a guest, a direct message": [
        *of("journeys/test_slack_people.py", "p09_p17_whoever_is_not_listed_decides_nothing",
            "p17_the_id_of_a_person_counts_only_with_their_own_workspace"),
        *of("journeys/test_discord_people.py", "p09_whoever_is_not_listed_decides_nothing",
            "p26_the_id_of_a_person_counts_only_with_their_own_server"),
        *on_both("people", "test_p09_an_id_from_elsewhere_gives_nobody_authority"),
        *of("integration/test_discord_intake.py", "a_click_in_a_direct_message_decides_nothing"),
        *of(STORE, "the_spend_is_bound_to_tenant_conversation_and_plan"),
    ],
    "16 a stop against a click": [
        *of(ATTACKS, "attack_16_a_stop_and_a_yes_at_once_end_in_one_of_the_two"),
        *of("journeys/test_stop.py", "p03e_a_card_that_waits_is_withdrawn_and_its_button_is_dead",
            "p03e_what_was_granted_and_waits_for_a_server_is_withdrawn"),
        *of("unit/bot/test_stop.py", "what_begins_to_run_before_it_can_be_withdrawn_is_stopped_like_any_run"),
    ],
    "17 what was denied comes again in other words": [
        *of(MODEL, "p04_i13_what_was_denied_stays_denied_in_other_words",
            "p04_a_look_alike_is_another_effect_and_its_card_says_so"),
        *of(GATE, "i13_somebody_entitled_asks_again_and_the_denial_is_lifted"),
        *on_both("votes", "test_p07_ask_again_makes_a_new_card_that_can_be_approved"),
        *of("contracts/test_edits.py", "i13_an_edit_goes_round_no_denial"),
        *of(GRANTS, "a_denial_beats_a_grant"),
    ],
    "18 a flood of cards": [
        *of(MODEL, "p08_the_same_plan_over_and_over_is_one_card", "p08_fifty_six_gated_calls_are_no_card"),
        *of("contracts/test_proposing.py", "p08_only_so_many_requests_of_a_conversation_wait_and_a_twin_is_none_more"),
        *of("journeys/test_rules.py", "attack_18_no_more_than_five_wait_in_a_conversation_and_twins_are_one",
            "p04_three_denials_end_it_until_somebody_entitled_lifts_that"),
    ],
    "19 agent text that imitates the software": [
        *of(TEXT, "i7_what_a_model_says_stands_marked_below_the_facts", "i7_names_and_suggestions_imitate_nothing"),
        *of(CARDS, "i7_what_the_agent_says_stays_in_quoted_lines_and_changes_nothing_else"),
        *of("unit/adapters/slack/test_drawing.py", "no_answer_can_pass_for_a_card_a_report_or_a_note",
            "everything_is_drawn_as_somebody_has_seen_it"),
        *of("unit/adapters/discord/test_drawing.py", "no_answer_can_pass_for_a_card_a_report_or_a_note",
            "everything_is_drawn_as_somebody_has_seen_it"),
    ],
    "20 characters that hide or deceive": [
        *of(DISPLAY, "i6_arguments_on_a_card_are_ascii_without_meaning_and_parse_back",
            "i6_no_two_values_look_the_same", "every_character_outside_ascii_is_named_once_wherever_it_stands"),
        *of(TEXT, "i6_arguments_are_shown_in_ascii_or_refused"),
        *on_both("texts", "test_p30_what_cannot_be_seen_is_refused_and_what_looks_alike_is_warned_of"),
    ],
    "21 mentions": [
        *of("journeys/test_slack_texts.py", "p18_nothing_that_somebody_asks_for_mentions_anybody_on_the_card",
            "p18_p48_nothing_that_a_tool_prints_mentions_links_or_is_fetched"),
        *of("journeys/test_discord_texts.py", "p18_nothing_that_somebody_asks_for_mentions_anybody",
            "p18_p48_nothing_of_a_card_its_run_its_thread_its_form_and_its_buttons_does"),
    ],
    "22 links that lead elsewhere": [
        *of("unit/adapters/slack/test_markdown.py", "only_web_and_mail_addresses_can_be_pressed"),
        *of("integration/test_slack_chat.py", "a_text_is_posted_into_its_thread_with_nothing_fetched"),
        *of("unit/adapters/discord/test_drawing.py", "p48_an_address_is_shown_and_asks_for_no_preview"),
        *of("unit/adapters/discord/test_markdown.py",
            "nothing_means_more_than_styles_lists_quotes_headings_code_and_addresses"),
    ],
    "23 breaking out of a fence": [
        *of(DISPLAY, "what_a_platform_gives_a_meaning_to_is_escaped"),
        *of("unit/adapters/discord/test_words.py", "nothing_ends_a_block_of_code_from_inside"),
        *of(TEXT, "i6_arguments_are_shown_in_ascii_or_refused"),
    ],
    "24 a dangerous end beyond the fold": [
        *of(CARDS, "i6_dangerous_words_far_beyond_the_fold_are_all_on_the_card",
            "i6_a_plan_that_does_not_fit_has_no_approve_button_but_one_to_review_all_of_it"),
        *of("unit/adapters/slack/test_cards.py", "whoever_can_approve_sees_all_of_it"),
        *of("unit/adapters/discord/test_cards.py", "whoever_can_approve_sees_all_of_it"),
        *on_both("texts", "test_p01_a_plan_of_50_kb_is_approved_only_where_all_of_it_is_shown"),
    ],
    "25 JSON that two readers understand differently": [
        *of(CANONICAL, "what_two_readers_could_understand_differently_is_refused",
            "whichever_way_it_is_encoded_it_is_spelled_as_rfc_8785_has_it", "the_order_of_names_changes_no_hash",
            "one_and_one_point_nought_are_the_same_number",
            "composed_and_decomposed_letters_stay_different_texts"),
        *of("unit/core/test_plans.py", "c30_two_plans_share_a_hash_exactly_where_they_are_the_same"),
    ],
    "26 orders in what a model reads": [
        *of(BY_TEXT, "attack_26_a_model_that_obeys_what_it_reads_gets_a_card_at_most"),
        *of(MODEL, "p40_a_read_that_gives_orders_gets_a_card_at_most",
            "p40_what_somebody_else_said_gives_the_model_their_authority_never"),
        *of("unit/core/test_rendering.py", "p40_a_speaker_cannot_be_called_like_a_line_of_software",
            "p40_no_text_ends_its_own_quote"),
        *of("unit/core/test_memory_toolset.py", "i14_nothing_is_known_in_another_conversation_or_to_another_tenant"),
        *of(TOOLS, "attack_26_orders_in_what_a_server_says_are_data"),
        *of(ACCEPTED, "attack_26_its_words_are_told_as_its_own_and_cut"),
    ],
    "27 a tool in the place of another": [
        *of(CASES, "p38_a_second_runbook_of_one_name_runs_nothing",
            "p38_a_runbook_that_says_nothing_of_its_effect_is_a_write"),
        *of("unit/core/test_tools.py", "two_tools_of_one_name_are_refused_at_the_start"),
        *of("unit/core/test_toolset.py", "c29_a_name_that_two_toolsets_have_is_refused_with_both_owners"),
        *of(TOOLS, "attack_27_a_server_that_calls_its_tool_a_read_is_not_believed",
            "attack_27_a_tool_that_changed_after_the_yes_is_not_called",
            "attack_27_a_yes_for_what_was_accepted_is_none_for_what_is_accepted_since",
            "attack_27_a_name_of_two_tools_is_refused_at_the_start"),
        *of(SERVERS, "attack_27_what_is_not_as_accepted_is_not_sent",
            "attack_27_after_a_drift_nothing_of_that_server_is_called_any_more"),
        *of(ACCEPTED, "attack_27_what_a_server_says_of_itself_makes_nothing_a_read",
            "attack_27_a_name_that_two_have_is_refused_with_both_owners"),
    ],
    "28 a server that answers in a person's place": [
        *of(TOOLS, "attack_28_a_server_that_asks_decides_nothing"),
        *of(SERVERS, "attack_28_a_server_that_asks_gets_no_answer_from_anybody"),
        *of(MODEL, "p38_p39_an_answer_to_a_question_approves_nothing"),
    ],
    "29 a secret in arguments, output, errors and records": [
        *of("journeys/test_canary.py", "attack_29_i12_p25_a_canary_is_heard_nowhere"),
        *of("journeys/test_canary_in_steps.py",
            "attack_29_i12_p25_no_kind_of_step_tells_anybody_what_it_was_given"),
        *of(TEXT, "i12_a_secret_gets_no_further", "i12_a_card_shows_no_secret_that_a_model_wrote",
            "i12_what_fails_says_no_secret"),
        *of("contracts/test_secrets.py", "i12_what_was_returned_is_masked_also_after_it_was_rotated"),
        *of("integration/test_secret_commands.py", "i12_where_it_fails_nothing_that_it_printed_is_told"),
        *of("unit/core/test_redaction.py", "i12_a_value_is_masked_that_something_interrupts"),
        *of("unit/core/test_exact_values.py", "i12_a_value_is_masked_in_each_usual_form"),
        *of("unit/core/test_piecewise.py", "i12_pieces_of_any_size_are_together_what_the_whole_becomes"),
        *of("unit/core/test_runaway.py", "four_times_as_much_takes_about_four_times_as_long"),
        *of("unit/bot/test_log_records.py", "i12_no_secret_is_in_a_record_nor_in_what_was_raised"),
    ],
    "30 a path out of the working folder": [
        *of("journeys/test_sandbox.py", "attack_30_no_path_leads_a_step_out_of_its_folder"),
        *of("integration/test_workfolder.py", "what_is_outside_is_refused_whether_or_not_it_exists",
            "a_link_that_appears_after_the_look_is_not_followed"),
    ],
    "31 a request that leads elsewhere": [
        *of(BY_REQUEST, "attack_31_no_spelling_of_an_address_gets_past_the_list",
            "no_runbook_is_read_that_spells_an_address_in_another_way",
            "attack_31_no_public_name_leads_to_a_private_or_special_address",
            "attack_31_no_private_name_leads_to_this_machine_or_to_what_a_cloud_keeps_for_it",
            "attack_31_a_name_is_looked_up_once_and_that_very_address_is_asked",
            "nothing_is_looked_up_before_anybody_is_asked",
            "a_connection_goes_to_what_was_looked_up_whatever_asks_for_it",
            "attack_31_nobody_is_followed_elsewhere",
            "attack_31_no_proxy_of_the_environment_is_asked",
            "no_cookie_is_kept_for_the_next_request",
            "what_is_not_listed_is_an_obstacle_that_says_what_to_write",
            "a_packed_answer_is_not_unpacked",
            "an_answer_without_end_is_heard_to_a_limit_and_no_further",
            "headers_have_their_limits",
            "headers_that_never_end_have_the_time_of_the_step",
            "an_answer_that_falls_silent_is_left",
            "a_value_stays_inside_its_part_of_the_address",
            "no_value_leads_to_another_folder",
            "no_value_adds_a_header",
            "attack_31_over_tls_the_name_counts_and_not_the_address",
            "nobody_is_believed_whom_this_machine_does_not_believe",
            "whoever_speaks_no_tls_is_told_nothing",
            "a_secret_goes_in_the_clear_to_a_network_of_ones_own_alone"),
        *of(REQUESTS, "nobody_is_asked_about_a_host_that_is_not_listed",
            "i3_a_host_that_is_struck_off_the_list_revokes_what_is_open"),
    ],
    "32 characters that a shell, a flag or a file means": [
        *of("cases/test_attacks_by_argument.py", "attack_32_no_character_means_anything_to_anybody",
            "attack_32_what_a_program_takes_for_a_flag_or_a_file_is_refused"),
        *of("unit/core/test_runbooks.py", "no_value_is_split_expanded_quoted_or_folded",
            "a_value_is_one_element_and_stays_as_it_is",
            "a_value_may_start_with_a_mark_where_the_runbook_declares_it"),
    ],
    "33 what is in the environment": [
        *of(BOXES, "attack_33_the_environment_is_exactly_this", "i12_a_secret_is_in_nobodys_arguments"),
        *of("integration/test_sandbox.py", "the_environment_is_exactly_this"),
    ],
    "34 a step that does not end, or takes too much": [
        *of("integration/test_probes.py", "attack_34_a_sandbox_holds_only_so_many_processes",
            "what_a_step_tries_comes_to_what_the_document_says"),
        *of(BOXES, "who_ignores_the_request_is_killed_with_all_that_it_started",
            "p03_cancelling_kills_what_is_in_the_sandbox_before_it_returns",
            "what_is_in_the_sandbox_dies_with_us"),
        *of("integration/test_sandbox.py", "a_flood_is_stopped", "memory_is_bounded_and_no_core_is_dumped"),
    ],
    "35 line ends and control characters in names": [
        *of("unit/bot/test_log_records.py", "attack_35_a_name_adds_no_line_and_no_record"),
        *of(DISPLAY, "prose_on_one_line_is_visible_and_capped"),
    ],
    "36 the log is edited": [
        *of(AUDIT, "an_edited_entry_is_named", "a_deleted_entry_is_missing",
            "any_other_order_is_found_at_its_first_entry", "an_inserted_or_repeated_entry_is_found",
            "whatever_lies_in_the_table_is_judged_and_never_raises"),
        *of(JOURNEY, "a_changed_audit_entry_is_found_by_its_number",
            "a_cut_off_end_is_found_with_a_head_that_was_noted_earlier"),
        *of("integration/test_sqlite.py", "i11_our_own_connection_cannot_change_what_was_written"),
    ],
    # Discord is connected to by a gateway, which signs nothing.
    "37 signatures": [
        *of("unit/adapters/test_slack_signed.py", "the_secret_and_every_byte_count", "an_old_signature_is_no_proof",
            "a_signature_that_is_none_is_no_proof", "a_time_that_is_none_is_no_proof",
            "whatever_was_signed_is_read_or_turned_away"),
        *of("journeys/test_slack_over_http.py", "c56_what_is_not_slacks_is_turned_away_and_leaves_no_trace"),
    ],
    "38 reading what is another tenant's": [
        *of("contracts/test_tenants.py", "i14_c69_anothers_id_never_succeeds_and_is_answered_as_an_unknown_one",
            "i14_every_method_of_the_ports_is_among_those"),
        *of(CASES, "p26_ids_of_another_tenant_are_unknown_ids"),
    ],
    "39 approving by words or by a reaction": [
        *of(CASES, "p39_no_text_approves_anything"),
        *on_both("second_factor", "test_c41_a_code_in_the_thread_approves_nothing"),
        *on_both("people", "test_p39_words_approve_only_with_the_id"),
        *of("unit/adapters/slack/test_inbound.py", "what_sayso_does_not_read_is_ignored"),
        *of("integration/test_discord_connected.py", "what_is_asked_for_is_no_more_than_is_needed"),
        *of("unit/bot/test_asked.py", "c12_a_reply_that_says_yes_approves_nothing"),
        *on_both("stop", "test_p03h_somebody_else_stops_only_with_the_right_to"),
        *of(MODEL, "p38_p39_an_answer_to_a_question_approves_nothing"),
    ],
    "40 a clock that goes back or jumps": [
        *of(ATTACKS, "attack_40_a_clock_that_goes_back_brings_no_request_back",
            "attack_40_a_clock_that_jumps_ahead_ends_what_was_granted"),
        *of("integration/test_sqlite.py", "the_time_that_decides_is_taken_under_the_lock"),
        *of("contracts/test_jobs.py", "i8_a_clock_that_goes_back_holds_up_nothing_and_changes_no_order"),
    ],
}  # fmt: skip
"""By number and what the attack is."""
