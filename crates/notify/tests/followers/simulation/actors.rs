//! What agents, people and operators do.

use kernel::actor::Actor;
use kernel::ask::{Assignee, DueAction, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry, Nudge};
use kernel::directory::{EscalationStep, NewProject, NewWebhook, WebhookFormat, WebhookScope};
use kernel::question::{Question, QuestionBody};
use kernel::testing::{human, new_ask, no, yes};
use kernel::{AskCommand, AskId, Command, DirectoryCommand, Time, Topic, WebhookId};
use store::suite::Stage;
use store::suite::stage::{bot, person};

use super::dice::Dice;

const PEOPLE: [&str; 3] = ["olga", "mark", "nina"];

/// The asks and endpoints that exist.
#[derive(Default)]
pub(super) struct Known {
    pub(super) asks: Vec<AskId>,
    webhooks: Vec<WebhookId>,
}

/// The project escalates after two minutes.
pub(super) fn project() -> DirectoryCommand {
    let seat = Assignee::Person { human: human("nina") };
    let plain = NewProject::plain("acme".parse().unwrap());
    DirectoryCommand::SaveProject(NewProject {
        escalation_steps: vec![EscalationStep { after: 120, assignee: seat }],
        ..plain
    })
}

/// Something that somebody does.
pub(super) fn command(dice: &mut Dice, known: &mut Known, stage: &Stage) -> (Actor, Command) {
    let who = person(dice.pick(&PEOPLE).unwrap());
    // Mostly the newest, so that much happens to a few.
    let recent = known.asks.len().saturating_sub(4);
    let Some(id) = dice.pick(&known.asks[recent..]).copied() else {
        return (bot(), AskCommand::Create(Box::new(ask(dice, stage.now()))).into());
    };
    let (actor, command): (Actor, Command) = match dice.below(21) {
        0..=4 => (bot(), AskCommand::Create(Box::new(ask(dice, stage.now()))).into()),
        5..=7 => {
            let reply = if dice.chance(70) { yes() } else { no() };
            (who, AskCommand::Answer(id, reply).into())
        }
        8 => (bot(), AskCommand::Cancel(id, None).into()),
        9 => (who, AskCommand::Comment(id, "which order?".to_owned()).into()),
        10 => (who, AskCommand::Open(id).into()),
        11 => {
            let to = human(dice.pick(&PEOPLE).unwrap());
            (person("olga"), AskCommand::Assign(id, to, None).into())
        }
        12 => (who, AskCommand::Claim(id).into()),
        13 | 14 => {
            let people = vec![human(dice.pick(&PEOPLE).unwrap())];
            (bot(), AskCommand::Nudge(id, Nudge { text: "now".to_owned(), people }).into())
        }
        15 => (bot(), AskCommand::CallBack(id).into()),
        16 | 20 => (Actor::System, AskCommand::Erase(id).into()),
        17 => {
            let id = WebhookId::new(stage.draw());
            known.webhooks.push(id);
            (person("olga"), DirectoryCommand::SaveWebhook(webhook(id)).into())
        }
        18 => match dice.pick(&known.webhooks) {
            Some(id) if dice.chance(50) => {
                (person("olga"), DirectoryCommand::RemoveWebhook(*id).into())
            }
            Some(id) => (person("olga"), DirectoryCommand::TestWebhook(*id).into()),
            None => (who, AskCommand::Open(id).into()),
        },
        _ if dice.chance(20) => (Actor::System, DirectoryCommand::EraseHuman(human("mark")).into()),
        _ => (bot(), AskCommand::Extend(id, stage.now().plus_seconds(600)).into()),
    };
    (actor, command)
}

/// The next timed action of an ask, if one is due.
pub(super) async fn due(stage: &Stage) -> Option<AskCommand> {
    let id = stage
        .store
        .claim_due(stage.now(), std::time::Duration::ZERO, 1)
        .await
        .unwrap()
        .first()
        .copied()?;
    let ask = stage.store.ask(id).await.unwrap()?;
    Some(match ask.due(stage.now())? {
        DueAction::CommitHeld => AskCommand::CommitHeld(id),
        DueAction::Expire => AskCommand::Expire(id),
        DueAction::Remind => AskCommand::Remind(id),
        DueAction::Escalate => AskCommand::Escalate(id),
    })
}

fn ask(dice: &mut Dice, now: Time) -> NewAsk {
    let route = match dice.below(4) {
        0 => Route::Pool { group: None },
        1 => Route::Person { human: human(dice.pick(&PEOPLE).unwrap()) },
        _ => Route::Owner,
    };
    let question = if dice.chance(25) { provide() } else { new_ask().question };
    let priority = if dice.chance(10) { Priority::Critical } else { Priority::Normal };
    let callback = dice.chance(40).then(|| "https://agent.example/back".to_owned());
    let timeout = dice.chance(50).then_some(180);
    let on_expiry = if timeout.is_some() { NewOnExpiry::Fail } else { NewOnExpiry::StayOpen };
    let reminders = if dice.chance(30) { vec![now.plus_seconds(60)] } else { Vec::new() };
    NewAsk { question, priority, route, callback, timeout, on_expiry, reminders, ..new_ask() }
}

fn provide() -> Question {
    let field = serde_json::json!({ "key": "pin", "label": "PIN", "type": "text" });
    let form = serde_json::from_value(serde_json::json!({ "fields": [field] })).unwrap();
    Question::new("PIN?", None, QuestionBody::Provide { form }).unwrap()
}

fn webhook(id: WebhookId) -> NewWebhook {
    NewWebhook {
        id,
        of: WebhookScope::Agent("bot".parse().unwrap()),
        url: "https://agent.example/hook".to_owned(),
        events: Topic::ALL.into(),
        format: WebhookFormat::Standard,
        description: String::new(),
        enabled: true,
    }
}
