//! How strongly an answer proves who gave it: what each actor proves, and what an ask demands.
//!
//! An answer below the ask's minimum assurance is refused, no matter who gives it. Silence proves
//! nothing, so it counts as an answer only where the minimum is no higher than what an agent can
//! attest alone.

use super::{Ask, DefaultAction};
use crate::actor::{Actor, AnswerInterface, Assurance};
use crate::command::NewOnExpiry;
use crate::directory::{Directory, Project};
use crate::event::Asked;
use crate::question::Answer;
use crate::refusal::Refusal;

/// The highest assurance of an answer for which only an agent vouches. Silence counts as an answer
/// only where no more than this is demanded.
const ATTESTED: Assurance = Assurance::AgentAttested;

impl Ask {
    /// The interface through which this actor answers, and the assurance of that answer; `None` for
    /// agents and the system, which never answer.
    ///
    /// A link or an address proves something only if the server delivered to an address that a
    /// person of the directory verified. A link that was given to an agent, and an unverified
    /// address that an agent chose, prove no more than the agent's word.
    pub fn proven_by(
        &self,
        actor: &Actor,
        directory: &Directory,
    ) -> Option<(AnswerInterface, Assurance)> {
        match actor {
            Actor::Human { via, assurance, .. } => Some((*via, *assurance)),
            Actor::LinkHolder { sent_to, .. } => {
                // The person must still own the address: a link proves only access to that address.
                let owner = self.posting_address_owner(directory);
                let delivered = owner.is_some() && owner == sent_to.as_ref();
                Some((AnswerInterface::Link, if delivered { Assurance::Link } else { ATTESTED }))
            }
            Actor::Relay { .. } => Some((AnswerInterface::Inline, ATTESTED)),
            Actor::Guest { via, .. } => {
                // A guest answers a message of the server, which proves as much as the link in it:
                // the address was verified when the message was sent, the message went nowhere
                // else, and the person still owns the address.
                let owner = self.posting_address_owner(directory);
                let delivered = owner.is_some()
                    && self.grants.iter().any(|grant| grant.sent_to.as_ref() == owner);
                Some((*via, if delivered { Assurance::Link } else { ATTESTED }))
            }
            Actor::Agent { .. } | Actor::System => None,
        }
    }

    /// The minimum assurance of this answer: the one of the ask, or the one for approving
    /// irreversible or critical asks if that is higher. The latter never applies to rejecting and
    /// requesting changes.
    pub fn minimum_assurance(&self, answer: &Answer) -> Assurance {
        match self.irreversible_assurance {
            Some(least) if self.must_confirm(answer) => least.max(self.minimum_assurance),
            Some(_) | None => self.minimum_assurance,
        }
    }

    /// The minimum assurance of an answer that lets the agent proceed.
    pub fn approval_assurance(&self) -> Assurance {
        self.minimum_assurance(&Answer::Approved { edits: None })
    }

    /// Refuses an answer whose assurance is below the required minimum.
    pub fn check_assurance(&self, answer: &Answer, have: Assurance) -> Result<(), Refusal> {
        if have < self.minimum_assurance {
            return Err(Refusal::AssuranceTooLow { have, need: self.minimum_assurance });
        }
        let need = self.minimum_assurance(answer);
        if have < need {
            return Err(Refusal::ApprovalTooWeak { have, need });
        }
        Ok(())
    }

    /// Whether silence may still answer this ask. If the rules of its project became stricter since
    /// it was asked, the stricter rules apply to silence.
    pub(crate) fn allows_silence(&self, directory: &Directory) -> bool {
        let project = directory.project(&self.project);
        let floor = project.map_or(self.minimum_assurance, |project| {
            project.minimum_assurance.max(self.minimum_assurance)
        });
        let now = project.and_then(|project| project.irreversible_assurance);
        let rule = now.max(self.irreversible_assurance).filter(|_| self.silence_proceeds());
        floor.max(rule.unwrap_or(Assurance::None)) <= ATTESTED
    }

    /// Whether the action taken on silence would need the confirmation that an approval needs.
    fn silence_proceeds(&self) -> bool {
        use super::OnExpiry;
        match &self.on_expiry {
            OnExpiry::Answer { reply } => {
                reply.value().is_none_or(|reply| self.must_confirm(&reply.answer))
            }
            OnExpiry::Report { action } => {
                *action == DefaultAction::Approve && self.needs_confirmation()
            }
            OnExpiry::StayOpen | OnExpiry::Fail => false,
        }
    }
}

/// Refuses an ask that silence would answer or approve, if the project allows no such default or if
/// the answer needs more than an agent can attest.
pub(super) fn check_silence(
    project: &Project,
    asked: &Asked,
    silence: &NewOnExpiry,
) -> Result<(), Refusal> {
    // Reporting an approval on silence is a default too, even though the agent acts on it.
    let proceeds = match silence {
        NewOnExpiry::Answer(reply) => reply.answer.lets_proceed(),
        NewOnExpiry::Report(DefaultAction::Approve) => true,
        NewOnExpiry::Report(DefaultAction::Skip | DefaultAction::Reject | DefaultAction::Abort)
        | NewOnExpiry::StayOpen
        | NewOnExpiry::Fail => return Ok(()),
    };
    if !project.default_on_silence {
        return Err(Refusal::DefaultForbidden);
    }
    let rule = asked.irreversible_assurance.filter(|_| proceeds && asked.needs_confirmation());
    let need = rule.map_or(asked.minimum_assurance, |least| least.max(asked.minimum_assurance));
    if need > ATTESTED { Err(Refusal::SilenceTooWeak { need }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, json};

    use super::*;
    use crate::actor::{ActorRef, AttestedIdentity};
    use crate::ask::{AskToken, Phase, PostingAddress, Priority, TokenPurpose};
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::directory::{IrreversibleSetting, NewHuman, NewProject, Profile};
    use crate::ids::AskId;
    use crate::question::{AnswerKind, Reply};
    use crate::testing::{Cast, human, new_ask, no, yes};

    fn rules(cast: &mut Cast, floor: Assurance, irreversible: Option<Assurance>) {
        let plain = NewProject::plain("acme".parse().unwrap());
        let irreversible_assurance = IrreversibleSetting::Set(irreversible);
        let project = NewProject { minimum_assurance: floor, irreversible_assurance, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(project));
    }

    fn placed(to: &str) -> NewAsk {
        let place =
            PostingAddress { contact_method: to.parse().unwrap(), only: Vec::new(), thread: None };
        NewAsk { posting_address: Some(place), ..new_ask() }
    }

    /// Gives Mark an address, verified or not.
    fn reachable(cast: &mut Cast, verified: bool, active: bool) {
        let email = if verified { "mark@example.com" } else { "elsewhere@example.com" };
        let profile = Profile { email: Some(email.to_owned()), ..Profile::default() };
        cast.run(
            Actor::System,
            DirectoryCommand::SaveHuman(NewHuman {
                id: human("mark"),
                profile,
                admin: false,
                active,
                projects: ["acme".parse().unwrap()].into(),
                groups: BTreeSet::new(),
                skills: BTreeSet::new(),
            }),
        );
        if verified {
            let means = format!("email:{email}").parse().unwrap();
            let verify = DirectoryCommand::VerifyContact(human("mark"), means);
            cast.attempt(cast.human("mark"), verify).ok();
        }
    }

    fn worth(cast: &mut Cast, actor: Actor, id: AskId) -> (ActorRef, Assurance) {
        cast.run(actor, AskCommand::Answer(id, yes()));
        let resolution = cast.seen(id).deciding_answer().unwrap();
        (resolution.by.clone(), resolution.assurance)
    }

    /// The agent holds this link, so its use proves only that the agent, or someone it gave the
    /// link to, used it.
    #[test]
    fn a_link_that_an_agent_was_given_proves_nothing_about_a_person() {
        let mut cast = Cast::new();
        let grants = vec![AskToken::to_agent(TokenPurpose::Review, Cast::hash("r"))];
        let id = cast.ask(NewAsk { grants, ..new_ask() });
        let holder = cast.seen(id).link_holder(&Cast::hash("r"), cast.directory()).unwrap();
        assert_eq!(cast.seen(id).link_holder(&Cast::hash("x"), cast.directory()), None);
        assert_eq!(worth(&mut cast, holder, id), (ActorRef::LinkHolder, Assurance::AgentAttested));
        // An agent cannot claim that its own token was sent to a person.
        let claimed = AskToken {
            sent_to: Some(human("olga")),
            ..AskToken::to_agent(TokenPurpose::Review, Cast::hash("r"))
        };
        let other = cast.ask(NewAsk { grants: vec![claimed.clone()], ..new_ask() });
        assert_eq!(cast.seen(other).grants[0].sent_to, None);
        for actor in [cast.agent("bot"), Actor::System] {
            let granted = cast.attempt(actor, AskCommand::Grant(other, vec![claimed.clone()]));
            assert!(matches!(granted, Err(Refusal::NotAllowed { .. })), "{granted:?}");
        }
    }

    /// A link that the server sent to a verified address proves access to that address.
    #[test]
    fn a_link_counts_where_the_server_sent_it_to_a_verified_address() {
        let mut cast = Cast::new();
        let sent = |to: &str| {
            vec![AskToken {
                sent_to: Some(human(to)),
                ..AskToken::to_agent(TokenPurpose::Review, Cast::hash("m"))
            }]
        };
        for (verified, active, assurance) in [
            (true, true, Assurance::Link),
            (false, true, Assurance::AgentAttested),
            (true, false, Assurance::AgentAttested),
        ] {
            reachable(&mut cast, verified, active);
            let id = cast.ask(placed("email:mark@example.com"));
            let stranger = cast.attempt(Actor::System, AskCommand::Grant(id, sent("nina")));
            assert!(matches!(stranger, Err(Refusal::NotAllowed { .. })), "{stranger:?}");
            let granted = cast.attempt(Actor::System, AskCommand::Grant(id, sent("mark")));
            assert_eq!(granted.is_ok(), assurance == Assurance::Link, "{granted:?}");
            let token = vec![AskToken::to_agent(TokenPurpose::Review, Cast::hash("m"))];
            if granted.is_err() {
                cast.run(Actor::System, AskCommand::Grant(id, token));
            }
            let holder = cast.seen(id).link_holder(&Cast::hash("m"), cast.directory()).unwrap();
            assert_eq!(worth(&mut cast, holder, id), (ActorRef::LinkHolder, assurance));
        }
    }

    /// A link that was sent to a person proves nothing once that person is no longer active.
    #[test]
    fn a_link_of_somebody_who_left_is_worth_no_more_than_the_agents_word() {
        let mut cast = Cast::new();
        reachable(&mut cast, true, true);
        let id = cast.ask(placed("email:mark@example.com"));
        let holder = Actor::LinkHolder { ask: id, sent_to: Some(human("mark")) };
        let of = |cast: &Cast| cast.seen(id).proven_by(&holder, cast.directory());
        assert_eq!(of(&cast), Some((AnswerInterface::Link, Assurance::Link)));
        reachable(&mut cast, true, false);
        assert_eq!(of(&cast), Some((AnswerInterface::Link, Assurance::AgentAttested)));
    }

    /// An answer from an unverified address that the agent chose is worth the agent's word.
    #[test]
    fn a_guest_at_an_address_nobody_verified_is_the_agents_word() {
        let mut cast = Cast::new();
        reachable(&mut cast, true, true);
        for (to, assurance) in [
            ("email:mark@example.com", Assurance::Link),
            ("email:other@example.com", Assurance::AgentAttested),
            ("slack:C1", Assurance::AgentAttested),
        ] {
            let id = cast.ask(placed(to));
            let owner = cast.seen(id).posting_address_owner(cast.directory()).cloned();
            let sent = AskToken::sent_link(Cast::hash("m"), owner);
            cast.run(Actor::System, AskCommand::Grant(id, vec![sent]));
            let means: crate::directory::ContactMethod = to.parse().unwrap();
            let attested = AttestedIdentity {
                via: means.kind().to_owned(),
                platform: means.kind().to_owned(),
                platform_user_id: means.address().unwrap().to_owned(),
                display_name: None,
            };
            let guest = Actor::Guest { ask: id, via: AnswerInterface::Email, attested };
            assert_eq!(worth(&mut cast, guest, id), (ActorRef::Guest, assurance), "{to}");
        }
    }

    /// A message that did not go to the verified address alone, such as an email with copies, is
    /// worth the agent's word: the agent may have read it. Verifying the address later changes
    /// nothing.
    #[test]
    fn a_guest_is_worth_no_more_than_the_message_they_answer() {
        let mut cast = Cast::new();
        reachable(&mut cast, true, true);
        let id = cast.ask(placed("email:mark@example.com"));
        let attested = AttestedIdentity {
            via: "email".to_owned(),
            platform: "email".to_owned(),
            platform_user_id: "mark@example.com".to_owned(),
            display_name: None,
        };
        let guest = Actor::Guest { ask: id, via: AnswerInterface::Email, attested };
        for (sent_to, assurance) in
            [(None, Assurance::AgentAttested), (Some(human("mark")), Assurance::Link)]
        {
            let sent = AskToken::sent_link(Cast::hash(&assurance.to_string()), sent_to);
            cast.run(Actor::System, AskCommand::Grant(id, vec![sent]));
            let worth = cast.seen(id).proven_by(&guest, cast.directory());
            assert_eq!(worth, Some((AnswerInterface::Email, assurance)));
        }
    }

    /// A minimum assurance of `link` excludes the agent's copy of the link.
    #[test]
    fn a_minimum_of_link_leaves_out_the_agents_copy() {
        let mut cast = Cast::new();
        rules(&mut cast, Assurance::Link, None);
        let id = cast.ask(new_ask());
        let refused = cast.attempt(Actor::link_holder(id), AskCommand::Answer(id, yes()));
        let (have, need) = (Assurance::AgentAttested, Assurance::Link);
        assert_eq!(refused, Err(Refusal::AssuranceTooLow { have, need }));
    }

    fn marked() -> Map<String, serde_json::Value> {
        json!({ "irreversible": true }).as_object().unwrap().clone()
    }

    /// Approving an irreversible ask needs the project's assurance; rejecting is never blocked.
    #[test]
    fn approving_what_is_irreversible_or_critical_needs_the_projects_assurance() {
        use Assurance::{AgentAttested, Channel, Passkey, Session};
        let mut cast = Cast::new();
        rules(&mut cast, AgentAttested, Some(Session));
        let irreversible = || NewAsk { metadata: marked(), ..new_ask() };
        let critical = || NewAsk { priority: Priority::Critical, ..new_ask() };
        let olga =
            |assurance| Actor::Human { id: human("olga"), via: AnswerInterface::Web, assurance };
        let changes = Reply { answer: Answer::CHANGES, comment: Some("less".to_owned()) };
        for (new, guarded) in [(irreversible(), true), (critical(), true), (new_ask(), false)] {
            for (have, proceeds) in
                [(AgentAttested, false), (Channel, false), (Session, true), (Passkey, true)]
            {
                let actor = |id| {
                    if have == AgentAttested { Actor::link_holder(id) } else { olga(have) }
                };
                let id = cast.ask(new.clone());
                let approved = cast.attempt(actor(id), AskCommand::Answer(id, yes()));
                let expected = if proceeds || !guarded {
                    Ok(())
                } else {
                    Err(Refusal::ApprovalTooWeak { have, need: Session })
                };
                assert_eq!(approved, expected, "{have:?}");
                for stops in [no(), Box::new(changes.clone())] {
                    let id = cast.ask(new.clone());
                    cast.run(actor(id), AskCommand::Answer(id, stops));
                }
            }
        }
        // Asks from before the rule keep the rules they were asked under.
        rules(&mut cast, AgentAttested, None);
        let before = cast.ask(critical());
        rules(&mut cast, AgentAttested, Some(Session));
        cast.run(Actor::link_holder(before), AskCommand::Answer(before, yes()));
    }

    /// An answer that an agent passes on is worth the agent's word, so it cannot approve what needs
    /// a session.
    #[test]
    fn an_agent_cannot_pass_on_the_approval_of_what_is_irreversible() {
        let mut cast = Cast::new();
        rules(&mut cast, Assurance::AgentAttested, Some(Assurance::Session));
        let inline = Some([AnswerKind::Approve, AnswerKind::Reject].into());
        let id = cast.ask(NewAsk { metadata: marked(), inline, ..new_ask() });
        let relay = cast.relay(id);
        let refused = cast.attempt(relay.clone(), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::ApprovalTooWeak { .. })), "{refused:?}");
        cast.run(relay, AskCommand::Answer(id, no()));
    }

    fn silent(on_expiry: NewOnExpiry, metadata: Map<String, serde_json::Value>) -> NewAsk {
        NewAsk { timeout: Some(10), on_expiry, metadata, ..new_ask() }
    }

    /// Silence answers nothing where an answer needs more than the agent's word.
    #[test]
    fn silence_is_bound_by_the_minimum_assurance() {
        use Assurance::{AgentAttested, Channel, Link, None, Passkey, Session};
        let approve = || NewOnExpiry::Report(DefaultAction::Approve);
        let answers = [NewOnExpiry::Answer(*yes()), NewOnExpiry::Answer(*no()), approve()];
        let others = [
            NewOnExpiry::StayOpen,
            NewOnExpiry::Fail,
            NewOnExpiry::Report(DefaultAction::Reject),
            NewOnExpiry::Report(DefaultAction::Skip),
            NewOnExpiry::Report(DefaultAction::Abort),
        ];
        let mut cast = Cast::new();
        for floor in [None, AgentAttested, Link, Channel, Session, Passkey] {
            for (by_project, floor_of_project, wanted) in
                [(true, floor, Option::None), (false, None, Some(floor))]
            {
                rules(&mut cast, floor_of_project, Option::None);
                for (silence, answers) in answers
                    .iter()
                    .map(|silence| (silence, true))
                    .chain(others.iter().map(|silence| (silence, false)))
                {
                    let new = NewAsk { assurance: wanted, ..silent(silence.clone(), Map::new()) };
                    let asked = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
                    let expected = if answers && floor > AgentAttested {
                        Err(Refusal::SilenceTooWeak { need: floor })
                    } else {
                        Ok(())
                    };
                    assert_eq!(asked, expected, "{silence:?} {floor:?} {by_project}");
                }
            }
        }
    }

    /// Silence approves nothing irreversible where only such approvals need more.
    #[test]
    fn silence_does_not_approve_what_is_irreversible() {
        let mut cast = Cast::new();
        rules(&mut cast, Assurance::AgentAttested, Some(Assurance::Session));
        let approve = NewOnExpiry::Report(DefaultAction::Approve);
        for (silence, metadata, allowed) in [
            (NewOnExpiry::Answer(*yes()), marked(), false),
            (approve.clone(), marked(), false),
            (NewOnExpiry::Answer(*no()), marked(), true),
            (NewOnExpiry::Answer(*yes()), Map::new(), true),
            (approve, Map::new(), true),
        ] {
            let new = AskCommand::Create(Box::new(silent(silence.clone(), metadata)));
            let asked = cast.attempt(cast.agent("bot"), new);
            let refused = Err(Refusal::SilenceTooWeak { need: Assurance::Session });
            assert_eq!(asked, if allowed { Ok(()) } else { refused }, "{silence:?}");
        }
    }

    /// A minimum that is raised while the ask waits applies to its silence: the ask ends as if it
    /// had no default.
    #[test]
    fn silence_is_judged_again_when_it_comes() {
        use Assurance::{AgentAttested, Session};
        let approve = NewOnExpiry::Report(DefaultAction::Approve);
        for (silence, metadata, (floor, irreversible), phase) in [
            (NewOnExpiry::Answer(*yes()), Map::new(), (AgentAttested, None), Phase::Completed),
            (NewOnExpiry::Answer(*yes()), Map::new(), (Session, None), Phase::Failed),
            (NewOnExpiry::Answer(*yes()), marked(), (AgentAttested, Some(Session)), Phase::Failed),
            (
                NewOnExpiry::Answer(*yes()),
                Map::new(),
                (AgentAttested, Some(Session)),
                Phase::Completed,
            ),
            (
                NewOnExpiry::Answer(*no()),
                marked(),
                (AgentAttested, Some(Session)),
                Phase::Completed,
            ),
            (NewOnExpiry::Answer(*no()), Map::new(), (Session, None), Phase::Failed),
            (approve.clone(), Map::new(), (Session, None), Phase::Expired),
        ] {
            let mut cast = Cast::new();
            let id = cast.ask(silent(silence, metadata));
            rules(&mut cast, floor, irreversible);
            cast.advance(11);
            cast.run(Actor::System, AskCommand::Expire(id));
            assert_eq!(cast.seen(id).phase(), phase);
            assert_eq!(cast.seen(id).deciding_answer().is_some(), phase == Phase::Completed);
        }
        let mut cast = Cast::new();
        let id = cast.ask(silent(approve, Map::new()));
        rules(&mut cast, Session, None);
        cast.advance(11);
        cast.run(Actor::System, AskCommand::Expire(id));
        let ending = cast.seen(id).ending().unwrap();
        let stops = crate::ask::Ending::Expired {
            at: cast.seen(id).expires_at.unwrap(),
            report: DefaultAction::Abort,
        };
        assert_eq!(*ending, stops, "the agent is told to stop, not to go on");
    }
}
