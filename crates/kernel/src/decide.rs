//! From a command to its verdict: one `match` for each aggregate.

use crate::ask::answer::AnswerProofs;
use crate::ask::{
    answer, assign, callback, cancel, claim, comment, commit_held, create, erase,
    erase_personal_text, escalate, expire, extend, grant_tokens, hold, nudge, open, pick, progress,
    remind, reply, revoke, undo, write_message,
};
use crate::command::{AskCommand, Command, DirectoryCommand, Envelope};
use crate::directory::{
    edit_contacts, erase as erase_human, group, key, notification_preferences, passkey, people,
    profile, project, revoke_access, rule, session, sign_in_link, signing_key, webhook,
};
use crate::refusal::Refusal;
use crate::task;
use crate::world::{DecideOutcome, Decision, Stop, World};

/// Judges a command. Pure: the same world and envelope give the same verdict.
pub fn decide(world: &World<'_>, envelope: &Envelope) -> Result<DecideOutcome, Refusal> {
    // A task has its own revision, which its commands compare.
    if let (Some(expected), Some(id)) = (envelope.expected, envelope.command.ask())
        && !matches!(envelope.command, Command::Task(_))
        && let Some(Some(ask)) = world.loaded.asks.get(&id)
        && ask.version() != expected
        // An actor who may not see an ask does not learn its version either.
        && ask.is_visible_to(&envelope.actor, world.directory)
    {
        return Err(Refusal::Changed { version: ask.version() });
    }
    let outcome = match &envelope.command {
        Command::Ask(command) => of_ask(world, envelope, command),
        Command::Task(command) => task::decide(world, envelope, command),
        Command::Directory(command) => of_directory(world, envelope, command),
    };
    match outcome {
        Ok(decision) => Ok(DecideOutcome::Decided(decision)),
        Err(Stop::Need(keys)) => Ok(DecideOutcome::Need(keys)),
        Err(Stop::Refused(refusal)) => Err(refusal),
    }
}

fn of_ask(world: &World<'_>, envelope: &Envelope, command: &AskCommand) -> Result<Decision, Stop> {
    match command {
        AskCommand::Create(new) => create::decide(world, envelope, new),
        AskCommand::Write(agent, written) => write_message::decide(world, envelope, agent, written),
        AskCommand::Reply(conversation, new) => reply::decide(world, envelope, *conversation, new),
        AskCommand::Open(id) => open::decide(world, envelope, *id),
        AskCommand::Progress(id, progress) => progress::decide(world, envelope, *id, *progress),
        AskCommand::Claim(id) => claim::decide(world, envelope, *id),
        AskCommand::Assign(id, to, note) => {
            assign::decide(world, envelope, *id, to, note.as_deref())
        }
        AskCommand::Comment(id, text) => comment::decide(world, envelope, *id, text),
        AskCommand::Pick(id, action) => pick::decide(world, envelope, *id, *action),
        AskCommand::Answer(id, reply) => {
            answer::decide(world, envelope, *id, reply, AnswerProofs::NONE)
        }
        AskCommand::AnswerWithProofs(id, reply, proofs) => {
            let proofs = AnswerProofs { presented: proofs, passkey: None };
            answer::decide(world, envelope, *id, reply, proofs)
        }
        AskCommand::AnswerWithPasskey(id, reply, given) => {
            let proofs = AnswerProofs { presented: &[], passkey: Some(given) };
            answer::decide(world, envelope, *id, reply, proofs)
        }
        AskCommand::HoldAnswer(id, reply) => hold::decide(world, envelope, *id, reply),
        AskCommand::UndoAnswer(id) => undo::decide(world, envelope, *id),
        AskCommand::CommitHeld(id) => commit_held::decide(world, envelope, *id),
        AskCommand::Cancel(id, reason) => cancel::decide(world, envelope, *id, reason.as_deref()),
        AskCommand::Expire(id) => expire::decide(world, envelope, *id),
        AskCommand::Remind(id) => remind::decide(world, envelope, *id),
        AskCommand::Escalate(id) => escalate::decide(world, envelope, *id),
        AskCommand::Nudge(id, urge) => nudge::decide(world, envelope, *id, urge),
        AskCommand::Extend(id, until) => extend::decide(world, envelope, *id, *until),
        AskCommand::Grant(id, grants) => grant_tokens::decide(world, envelope, *id, grants),
        AskCommand::NoteCallback(id, result) => {
            callback::record_attempt(world, envelope, *id, result)
        }
        AskCommand::CallBack(id) => callback::retry(world, envelope, *id),
        AskCommand::Revoke(id, reason) => revoke::decide(world, envelope, *id, reason),
        AskCommand::Erase(id) => erase::decide(world, envelope, *id),
        AskCommand::EraseWords(id, human) => {
            erase_personal_text::decide(world, envelope, *id, human)
        }
    }
}

fn of_directory(
    world: &World<'_>,
    envelope: &Envelope,
    command: &DirectoryCommand,
) -> Result<Decision, Stop> {
    match command {
        DirectoryCommand::EraseHuman(id) => erase_human::decide(world, envelope, id),
        DirectoryCommand::SaveProject(new) => project::decide(world, envelope, new),
        DirectoryCommand::AddProject(new) => project::add(world, envelope, new),
        DirectoryCommand::SaveAgent(new) => people::save_agent(world, envelope, new),
        DirectoryCommand::SaveHuman(new) => people::save_human(world, envelope, new),
        DirectoryCommand::AddHuman(new) => people::add_human(world, envelope, new),
        DirectoryCommand::ChangeHuman(id, change) => {
            people::change_human(world, envelope, id, change)
        }
        DirectoryCommand::SaveProfile(new) => profile::decide(world, envelope, new),
        DirectoryCommand::SaveNotices(new) => {
            notification_preferences::decide(world, envelope, new)
        }
        DirectoryCommand::AddContact(human, new) => edit_contacts::add(world, envelope, human, new),
        DirectoryCommand::RemoveContact(human, gone) => {
            edit_contacts::remove(world, envelope, human, gone)
        }
        DirectoryCommand::VerifyContact(human, means) => {
            edit_contacts::verify(world, envelope, human, means)
        }
        DirectoryCommand::SaveGroup(new) => group::decide(world, envelope, new),
        DirectoryCommand::IssueKey(new) => key::issue(world, envelope, new),
        DirectoryCommand::RevokeKey(id) => key::revoke(world, envelope, *id, false),
        DirectoryCommand::RevokeKeyWithTokens(id) => key::revoke(world, envelope, *id, true),
        DirectoryCommand::MailLink(new) => sign_in_link::send(world, envelope, new),
        DirectoryCommand::SignIn(proof, new) => session::sign_in(world, envelope, proof, new),
        DirectoryCommand::EnrolPasskey(new, authority) => {
            passkey::enrol(world, envelope, new, authority)
        }
        DirectoryCommand::RemovePasskey(id, authority) => {
            passkey::remove(world, envelope, *id, authority)
        }
        DirectoryCommand::ConfirmPasskey(id) => passkey::confirm(world, envelope, *id),
        DirectoryCommand::EndSessions(human, except) => {
            session::end_all(world, envelope, human, *except)
        }
        DirectoryCommand::EndAccess(human) => revoke_access::revoke(world, envelope, human),
        DirectoryCommand::DestroySigningKey(kid) => signing_key::destroy(world, envelope, kid),
        DirectoryCommand::AddRules(new) => rule::add(world, envelope, new),
        DirectoryCommand::RemoveRule(id) => rule::remove(world, envelope, *id),
        DirectoryCommand::SaveWebhook(new) => webhook::save(world, envelope, new),
        DirectoryCommand::RotateWebhook(id, grace) => webhook::rotate(world, envelope, *id, *grace),
        DirectoryCommand::TestWebhook(id) => webhook::test(world, envelope, *id),
        DirectoryCommand::WebhookGone(id) => webhook::disable_gone(world, envelope, *id),
        DirectoryCommand::RemoveWebhook(id) => webhook::remove(world, envelope, *id),
    }
}
