//! The named checks that every backend passes.
//!
//! Each check opens a fresh store, runs a scenario with the people and agents of
//! [`kernel::testing`], and asserts one guarantee of [`Store`](crate::Store). A backend runs them
//! all with one line, and a failure names the broken guarantee:
//!
//! ```ignore
//! store::suite!(memory, |clock| async { (Arc::new(Memory::new(clock)) as _, Box::new(()) as _) });
//! ```

pub mod audit;
pub mod blocks;
pub mod codes;
pub mod conversations;
pub mod delivery_log;
pub mod devices;
pub mod directory;
pub mod drafts;
pub mod followers;
pub mod insights;
pub mod jobs;
pub mod list_filters;
pub mod lists;
pub mod messages;
pub mod receipts;
pub mod retention;
pub mod search;
pub mod secrets;
pub mod side;
pub mod snooze;
pub mod stage;
pub mod streams;
pub mod task_lists;
pub mod tasks;
pub mod timers;
pub mod uploads;
pub mod usage;
pub mod work_queue;

pub use stage::{Guard, ManualClock, Stage};

/// Generates one test per check for a backend. `$open` takes a clock and returns a future of an
/// empty store and a guard to keep alive while the store is used. If the backend is `missing`, all
/// tests are skipped.
#[macro_export]
macro_rules! suite {
    ($backend:ident, $open:expr) => {
        $crate::suite!($backend, $open, missing: false);
    };
    ($backend:ident, $open:expr, missing: $missing:expr) => {
        mod $backend {
            #[allow(unused_imports, reason = "the opening expression may need nothing from here")]
            use super::*;
            $crate::suite! { @in $open, $missing; jobs:
                an_ask_reads_back,
                an_unknown_ask_is_none,
                a_refusal_changes_nothing,
                a_refusal_leaves_its_neighbours_alone,
                nothing_happened_writes_nothing,
                later_jobs_see_earlier_ones,
                a_repeated_request_is_answered_from_memory,
                a_replay_shows_the_ask_as_it_is_now,
                a_key_used_for_something_else_is_refused,
                keys_of_two_callers_do_not_meet,
                a_refused_job_leaves_its_key_free,
                a_key_is_forgotten_a_day_after_its_ask_ended,
                a_key_lives_as_long_as_its_ask_is_open,
                a_key_of_an_erased_ask_is_forgotten,
                sweeping_forgets_only_what_is_old,
                a_lasting_key_finds_its_ask_for_ever,
                a_key_that_is_not_lasting_finds_its_ask_until_a_day_after_its_end,
                of_many_with_one_key_one_is_made,
                of_many_answers_one_wins,
                of_many_claims_one_holds,
                a_follow_up_loads_what_it_needs,
                a_follow_up_of_nothing_is_refused,
                tokens_and_what_an_agent_passed_on_are_kept,
                an_id_is_given_once,
                time_never_runs_backwards_for_an_ask,
            }
            $crate::suite! { @in $open, $missing; lists:
                newest_come_first,
                an_inbox_puts_the_urgent_first,
                a_list_has_only_its_phases,
                an_ask_moves_when_its_phase_does,
                an_assigned_ask_enters_an_inbox,
                an_escalated_ask_enters_an_inbox,
                a_pool_is_its_members_inbox,
                an_ask_in_two_scopes_is_listed_once,
                strangers_lists_are_empty,
                filters_narrow,
                pages_join_without_gaps_while_others_ask,
                an_inbox_pages_across_ranks,
                the_last_page_says_so,
                a_page_that_looked_long_enough_goes_on,
                what_was_revoked_is_listed,
                counts_are_exact_when_small,
                counts_are_estimates_when_large,
                a_list_that_became_short_is_counted,
            }
            $crate::suite! { @in $open, $missing; conversations:
                what_was_written_to_an_agent_is_listed,
                what_was_written_is_kept_as_long_as_anything_else,
                a_conversation_goes_on_from_its_newest_ask,
                of_many_replies_at_once_each_follows_another,
                what_was_written_is_written_once,
                a_conversation_is_found_by_its_words_until_they_are_erased,
            }
            $crate::suite! { @in $open, $missing; list_filters:
                everything_is_in_the_lists_of_kinds,
                a_narrowed_list_is_where_lists_meet,
                what_is_rare_is_found_without_reading_the_rest,
                what_is_nearly_the_same_has_one_key,
                what_runs_out_soon_comes_first,
            }
            $crate::suite! { @in $open, $missing; search:
                every_word_counts_and_the_last_may_be_unfinished,
                everything_that_was_said_is_looked_into,
                a_search_stays_in_its_lists,
                the_newest_are_found,
                what_was_erased_is_not_found,
            }
            $crate::suite! { @in $open, $missing; insights:
                counts_are_those_of_the_record,
                of_many_who_count_nothing_is_counted_twice,
                counts_stay_when_words_go,
                what_is_read_does_not_grow_with_asks,
                a_stretch_of_days_is_the_sum_of_its_days,
                old_counts_are_forgotten,
            }
            $crate::suite! { @in $open, $missing; snooze:
                what_was_snoozed_comes_back_by_itself,
                so_many_can_be_snoozed_and_no_more,
                who_views_is_known_for_a_while,
            }
            $crate::suite! { @in $open, $missing; drafts:
                a_draft_is_kept_while_its_ask_is_open,
                a_draft_goes_with_the_end_of_its_ask,
                nobody_drafts_an_answer_to_nothing,
            }
            $crate::suite! { @in $open, $missing; secrets:
                a_secret_is_gone_a_while_after_it_was_read,
                secrets_are_deleted_by_name_or_all_at_once,
                a_borrowed_token_is_there_until_it_is_deleted,
                an_answer_and_its_secret_values_are_written_together,
            }
            $crate::suite! { @in $open, $missing; receipts:
                a_signature_is_stored_for_the_version_it_was_made_of,
                signatures_go_with_the_words_they_sign,
            }
            $crate::suite! { @in $open, $missing; devices:
                a_device_tells_one_person,
                so_many_devices_and_no_more,
                a_forgotten_device_is_gone_with_what_it_was_told,
                who_was_told_is_known_until_it_is_over,
            }
            $crate::suite! { @in $open, $missing; usage:
                open_requests_are_counted,
                bytes_of_requests_are_counted,
                charges_are_taken_whole_or_not_at_all,
                recipients_count_once,
                files_are_released_with_their_holder,
            }
            $crate::suite! { @in $open, $missing; side:
                a_row_is_written_on_its_condition,
                only_expired_rows_are_swept,
                of_many_who_try_a_code_so_many_are_answered,
                an_erased_ask_leaves_no_draft_secret_or_snooze,
                an_erased_person_leaves_no_code_device_or_snooze,
            }
            $crate::suite! { @in $open, $missing; codes:
                a_code_counts_once,
                a_code_is_tried_so_often_and_no_more,
                a_code_counts_for_a_while,
            }
            $crate::suite! { @in $open, $missing; messages:
                a_message_is_kept_as_it_last_was,
                messages_are_found_by_ask_and_by_address,
                a_message_is_forgotten_a_while_after_its_ask_is_over,
            }
            $crate::suite! { @in $open, $missing; uploads:
                an_upload_goes_on_where_it_stopped,
                of_two_who_send_the_same_part_one_wins,
                an_upload_that_is_finished_stays_as_it_is,
                so_many_uploads_and_no_more,
                what_nobody_goes_on_with_is_given_up,
                what_something_is_made_of_is_not_given_up,
                what_is_refused_uses_no_upload,
            }
            $crate::suite! { @in $open, $missing; timers:
                the_longest_due_comes_first,
                next_due_is_the_earliest,
                extending_moves_the_wake_up,
                what_is_over_wakes_nobody,
                a_held_answer_wakes_and_the_deadline_waits,
                reminders_then_deadline,
                a_claimed_wake_up_is_left_to_who_claimed_it,
                a_claim_that_ended_is_given_again,
                what_moves_a_wake_up_ends_its_claim,
                of_many_who_claim_each_gets_others,
                two_who_fire_one_ask_fire_it_once,
            }
            $crate::suite! { @in $open, $missing; retention:
                the_longest_over_comes_first,
                what_is_over_is_found_by_project,
                what_is_erased_is_not_over_any_more,
                what_is_claimed_is_left_to_who_claimed_it,
                of_many_who_erase_each_gets_others,
                a_file_is_its_asks_own_until_another_has_it,
            }
            $crate::suite! { @in $open, $missing; followers:
                position_and_work_are_written_together,
                a_step_from_another_position_changes_nothing,
                of_many_who_follow_each_event_is_handled_by_one,
                the_follower_that_leads_can_extend_its_lease,
            }
            $crate::suite! { @in $open, $missing; work_queue:
                the_urgent_are_claimed_first,
                a_lease_keeps_others_away,
                a_lease_that_ended_is_claimed_again,
                a_retry_waits_for_its_moment,
                what_is_put_back_was_not_tried,
                what_is_hastened_is_due_at_once_and_once,
                the_dead_stay_and_show,
                settling_twice_is_harmless,
                what_is_split_is_tried_each_by_itself,
                what_has_a_name_waits_once,
                an_effect_exists_if_its_event_does,
                many_claim_each_once,
                a_clock_gone_back_delays_nothing,
                a_lane_is_claimed_alone,
                lanes_are_told_with_whether_something_is_due,
            }
            $crate::suite! { @in $open, $missing; delivery_log:
                what_was_told_is_logged_newest_first,
                a_log_shows_everything_once_while_it_is_settled,
                what_was_given_up_is_told_again,
                the_log_is_kept_for_a_while,
                the_log_of_an_endpoint_is_forgotten_bit_by_bit,
            }
            $crate::suite! { @in $open, $missing; audit:
                records_are_in_order,
                every_chain_verifies,
                state_is_the_replay_of_its_records,
                records_come_in_pages,
                positions_grow,
                the_feed_tells_what_was_committed,
                erasing_keeps_the_chain_and_drops_the_words,
                erasing_a_checkpoint_drops_the_copy_in_its_task,
                erasing_a_person_drops_what_they_wrote,
            }
            $crate::suite! { @in $open, $missing; blocks:
                a_block_follows_the_last,
                what_does_not_follow_is_refused,
                of_many_sealers_one_wins,
                a_position_finds_its_block,
                blocks_come_in_pages,
                anchoring_is_remembered,
                hashes_are_those_of_the_records,
                rows_are_the_records,
                chains_are_whole_and_have_their_state,
            }
            $crate::suite! { @in $open, $missing; streams:
                a_stream_has_all_of_an_agent_and_nothing_else,
                a_stream_goes_on_where_it_was_left,
                a_stream_of_several_agents_is_merged,
                a_stream_misses_nothing_while_others_write,
                the_history_of_an_ask_has_its_positions,
            }
            $crate::suite! { @in $open, $missing; tasks:
                a_task_reads_back,
                a_refused_operation_changes_nothing,
                a_task_goes_to_its_end,
                an_answered_checkpoint_moves_its_task,
                of_an_answer_and_a_cancellation_one_wins,
                a_repeated_operation_says_where_it_was,
                of_many_who_saw_one_revision_one_is_taken,
                of_many_who_begin_one_does,
                a_version_is_written_once,
                an_artifact_is_used_by_others,
                an_erased_task_keeps_its_chain,
                chains_of_tasks_are_whole,
                the_feed_tells_of_tasks,
                a_contract_waits_in_the_outbox_too,
            }
            $crate::suite! { @in $open, $missing; task_lists:
                lists_of_tasks_are_narrowed_every_way,
                an_agent_has_a_list_of_what_it_was_given,
                the_projects_of_what_an_agent_was_given_are_known,
                pages_of_tasks_join_without_gaps,
                tasks_are_counted_by_state,
                a_key_of_a_ledger_keeps_its_history,
                a_ledger_is_browsed_by_its_keys,
                the_ledgers_of_the_organisation_are_known,
                of_many_who_write_a_key_all_are_kept,
                what_happens_to_tasks_is_followed_by_project,
                contracts_are_read_in_order_and_acknowledged,
                contracts_are_not_passed_over_while_others_write,
                contracts_go_when_nobody_waits_for_them,
                a_sweep_goes_on_where_it_was,
            }
            $crate::suite! { @in $open, $missing; directory:
                a_change_shows_at_once,
                a_key_is_found_by_its_hash,
                a_revoked_key_is_not_live,
                a_snapshot_does_not_move,
                a_link_signs_in_once,
                sessions_are_known_by_person_until_they_end,
                the_last_use_of_a_key_is_known,
                it_answers,
            }
        }
    };
    (@in $open:expr, $missing:expr; $part:ident: $($check:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if $missing {
                    return;
                }
                let stage = $crate::suite::Stage::set($open).await;
                $crate::suite::$part::$check(&stage).await;
                stage.is_sound().await;
            }
        )+
    };
}
