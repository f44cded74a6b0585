//! From a command to its verdict: one `match` on one screen.

use crate::ask::answer::AnswerProofs;
use crate::ask::{
    answer, assign, callback, cancel, claim, comment, commit_held, create, erase, erase_words,
    escalate, expire, extend, grant, hold, open, pick, progress, remind, reply, revoke, undo, urge,
    write,
};
use crate::command::{Command, Envelope};
use crate::directory::{
    access, address, erase as erase_human, group, key, link, notices, passkey, people, profile,
    project, rule, session, webhook,
};
use crate::refusal::Refusal;
use crate::task;
use crate::world::{Stop, Verdict, World};

/// Judges a command. Pure: the same world and envelope give the same verdict.
pub fn decide(world: &World<'_>, envelope: &Envelope) -> Result<Verdict, Refusal> {
    // A task has a revision of its own, which its verbs compare.
    if let (Some(expected), Some(id)) = (envelope.expected, envelope.command.ask())
        && !matches!(envelope.command, Command::Task(_))
        && let Some(Some(ask)) = world.loaded.asks.get(&id)
        && ask.version() != expected
        // Whoever may not know of an ask does not learn its version either.
        && ask.is_shown_to(&envelope.actor, world.directory)
    {
        return Err(Refusal::Changed { version: ask.version() });
    }
    let outcome = match &envelope.command {
        Command::Ask(new) => create::decide(world, envelope, new),
        Command::Write(agent, written) => write::decide(world, envelope, agent, written),
        Command::Reply(conversation, new) => reply::decide(world, envelope, *conversation, new),
        Command::Open(id) => open::decide(world, envelope, *id),
        Command::Progress(id, progress) => progress::decide(world, envelope, *id, *progress),
        Command::Claim(id) => claim::decide(world, envelope, *id),
        Command::Assign(id, to, note) => assign::decide(world, envelope, *id, to, note.as_deref()),
        Command::Comment(id, text) => comment::decide(world, envelope, *id, text),
        Command::Pick(id, action) => pick::decide(world, envelope, *id, *action),
        Command::Answer(id, reply) => {
            answer::decide(world, envelope, *id, reply, AnswerProofs::NONE)
        }
        Command::AnswerWithProofs(id, reply, proofs) => {
            let proofs = AnswerProofs { presented: proofs, passkey: None };
            answer::decide(world, envelope, *id, reply, proofs)
        }
        Command::AnswerWithPasskey(id, reply, given) => {
            let proofs = AnswerProofs { presented: &[], passkey: Some(given) };
            answer::decide(world, envelope, *id, reply, proofs)
        }
        Command::HoldAnswer(id, reply) => hold::decide(world, envelope, *id, reply),
        Command::UndoAnswer(id) => undo::decide(world, envelope, *id),
        Command::CommitHeld(id) => commit_held::decide(world, envelope, *id),
        Command::Cancel(id, reason) => cancel::decide(world, envelope, *id, reason.as_deref()),
        Command::Expire(id) => expire::decide(world, envelope, *id),
        Command::Remind(id) => remind::decide(world, envelope, *id),
        Command::Escalate(id) => escalate::decide(world, envelope, *id),
        Command::Urge(id, urge) => urge::decide(world, envelope, *id, urge),
        Command::Extend(id, until) => extend::decide(world, envelope, *id, *until),
        Command::Grant(id, grants) => grant::decide(world, envelope, *id, grants),
        Command::NoteCallback(id, result) => callback::note(world, envelope, *id, result),
        Command::CallBack(id) => callback::again(world, envelope, *id),
        Command::Revoke(id, reason) => revoke::decide(world, envelope, *id, reason),
        Command::Erase(id) => erase::decide(world, envelope, *id),
        Command::EraseWords(id, human) => erase_words::decide(world, envelope, *id, human),
        Command::EraseHuman(id) => erase_human::decide(world, envelope, id),
        Command::SaveProject(new) => project::decide(world, envelope, new),
        Command::AddProject(new) => project::add(world, envelope, new),
        Command::SaveAgent(new) => people::save_agent(world, envelope, new),
        Command::SaveHuman(new) => people::save_human(world, envelope, new),
        Command::AddHuman(new) => people::add_human(world, envelope, new),
        Command::ChangeHuman(id, change) => people::change_human(world, envelope, id, change),
        Command::SaveProfile(new) => profile::decide(world, envelope, new),
        Command::SaveNotices(new) => notices::decide(world, envelope, new),
        Command::AddContact(human, new) => address::add(world, envelope, human, new),
        Command::RemoveContact(human, gone) => address::remove(world, envelope, human, gone),
        Command::VerifyContact(human, means) => address::verify(world, envelope, human, means),
        Command::SaveGroup(new) => group::decide(world, envelope, new),
        Command::IssueKey(new) => key::issue(world, envelope, new),
        Command::RevokeKey(id) => key::revoke(world, envelope, *id, false),
        Command::RevokeKeyWithTokens(id) => key::revoke(world, envelope, *id, true),
        Command::MailLink(new) => link::mail(world, envelope, new),
        Command::SignIn(proof, new) => session::sign_in(world, envelope, proof, new),
        Command::EnrolPasskey(new, authority) => passkey::enrol(world, envelope, new, authority),
        Command::RemovePasskey(id, authority) => passkey::remove(world, envelope, *id, authority),
        Command::ConfirmPasskey(id) => passkey::confirm(world, envelope, *id),
        Command::EndSessions(human, except) => session::end(world, envelope, human, *except),
        Command::EndAccess(human) => access::end(world, envelope, human),
        Command::AddRules(new) => rule::add(world, envelope, new),
        Command::RemoveRule(id) => rule::remove(world, envelope, *id),
        Command::SaveWebhook(new) => webhook::save(world, envelope, new),
        Command::RotateWebhook(id, grace) => webhook::rotate(world, envelope, *id, *grace),
        Command::TestWebhook(id) => webhook::test(world, envelope, *id),
        Command::WebhookGone(id) => webhook::gone(world, envelope, *id),
        Command::RemoveWebhook(id) => webhook::remove(world, envelope, *id),
        Command::Task(command) => task::decide(world, envelope, command),
    };
    match outcome {
        Ok(decision) => Ok(Verdict::Decided(decision)),
        Err(Stop::Need(keys)) => Ok(Verdict::Need(keys)),
        Err(Stop::Refused(refusal)) => Err(refusal),
    }
}
