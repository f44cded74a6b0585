//! Writing to an agent, and conversations as pages.

use kernel::actor::KeyScope;
use kernel::directory::NewAgent;
use kernel::question::{Answer, QuestionBody, Reply};
use kernel::{Actor, AgentId, Ask, AskCommand, AskId, DirectoryCommand, KeyId, Refusal};
use scraper::Html;
use ulid::Ulid;
use views::conversation::new_message::{self, MessageDraft};
use views::request::related::RequestContext;

use crate::every_page::{all, text};
use crate::fixture::{id, new_ask, question};
use crate::samples::{Gallery, HOSTILE, pages};

fn takes(g: &mut Gallery, conversations: bool) {
    let new = NewAgent {
        id: "release-bot".parse().unwrap(),
        project: "shop".parse().unwrap(),
        owner: id("olga"),
        conversations: Some(conversations),
    };
    g.cast.run(Actor::System, DirectoryCommand::SaveAgent(new));
}

fn form(g: &mut Gallery, name: &str, draft: &MessageDraft) {
    form_with(g, name, draft, None);
}

fn form_with(g: &mut Gallery, name: &str, draft: &MessageDraft, mail: Option<&str>) {
    let me = g.cast.human("mark").clone();
    let mail = |_: &AgentId| mail.map(ToOwned::to_owned);
    let html = new_message::page(&g.frame(), &me, &g.cast.directory, "once-value", draft, mail);
    g.pages.push((name.to_owned(), html));
}

fn reply(g: &mut Gallery, conversation: AskId, prompt: &str) -> AskId {
    let agent = Actor::Agent {
        id: "release-bot".parse().unwrap(),
        project: "shop".parse().unwrap(),
        key: KeyId::new(Ulid::from(1_u128)),
        scope: KeyScope::Agent,
    };
    let new = Box::new(new_ask(question(prompt, QuestionBody::Converse)));
    g.cast.run(agent, AskCommand::Reply(conversation, new));
    g.cast.newest()
}

pub(crate) fn gallery(g: &mut Gallery) {
    form(g, "write-nobody", &MessageDraft::default());
    takes(g, true);
    form(g, "write", &MessageDraft::default());
    let mail = format!("replies+{}@example.com", "a2".repeat(28));
    form_with(g, "write-mail", &MessageDraft::default(), Some(&mail));
    let refused = |refusal| MessageDraft {
        agent: "release-bot".to_owned(),
        text: HOSTILE.to_owned(),
        refused: Some(refusal),
    };
    let (field, expected) = ("text", "1 to 10000 characters, without NUL");
    form(g, "write-refused", &refused(Refusal::Invalid { field, expected }));
    form(g, "write-astray", &refused(Refusal::NotFound { what: "agent" }));
    form(g, "write-again", &refused(Refusal::IdempotencyMismatch));

    let written = AskCommand::Write("release-bot".parse().unwrap(), HOSTILE.to_owned().into());
    g.cast.act("mark", written);
    let opening = g.cast.newest();
    g.cast.advance(60);
    g.show("conversation-sent", opening, "mark", None, None);
    let first = reply(g, opening, "Which of the two?");
    let said = Answer::Replied { text: "The second.".to_owned() };
    g.cast.advance(60);
    g.cast.act("mark", AskCommand::Answer(first, Box::new(Reply { answer: said, comment: None })));
    let second = reply(g, opening, HOSTILE);
    g.cast.advance(60);
    let seen = |g: &Gallery, id: AskId| -> Ask { g.cast.seen(id).clone() };
    let around = RequestContext {
        earlier: vec![seen(g, opening), seen(g, first)],
        ..RequestContext::default()
    };
    g.show_with("conversation-reply", second, "mark", &around, None);
    let around = RequestContext {
        later: vec![seen(g, first), seen(g, second)],
        ..RequestContext::default()
    };
    g.show_with("conversation-begun", opening, "mark", &around, None);
    g.cast.run(Actor::System, AskCommand::Erase(opening));
    g.show("conversation-erased", opening, "mark", None, None);
    takes(g, false);
}

fn page(name: &str) -> Html {
    Html::parse_document(&pages().iter().find(|(n, _)| n == name).expect(name).1)
}

fn main_of(name: &str) -> String {
    text(all(&page(name), "main")[0])
}

#[test]
fn a_message_is_written_on_a_page_of_its_own() {
    let shown = page("write");
    assert_eq!(all(&shown, "form[method=post][action='/write']").len(), 1);
    assert_eq!(text(all(&shown, "select#agent")[0]), "release-bot in shop", "the only one");
    assert!(
        main_of("write-nobody").contains("No agent that you may write to accepts conversations")
    );
    assert!(all(&page("write-nobody"), "form[action='/write']").is_empty());
    for (name, why) in [
        ("write-refused", "Write something, up to 10,000 characters"),
        ("write-astray", "Choose one of these agents"),
        ("write-again", "This form was sent before"),
    ] {
        assert!(main_of(name).contains(why), "{name}");
        assert!(main_of(name).starts_with("Nothing was sent"), "{name}");
        assert!(all(&page(name), "textarea#text")[0].inner_html().contains("Pay"), "{name}");
    }
}

#[test]
fn a_conversation_says_who_said_what_and_who_has_the_word() {
    let sent = main_of("conversation-sent");
    assert!(sent.contains("A person wrote to an AI agent release-bot"), "{sent}");
    assert!(sent.contains("release-bot will answer here, and in the inbox."), "{sent}");
    assert!(sent.contains("Written by Mark Osei on the web page (signed in)."), "{sent}");
    assert!(sent.contains("Message sent"), "{sent}");
    let words = all(&page("conversation-sent"), "#conversation .said pre").len();
    assert_eq!(words, 1, "what was written stands there once");
    assert!(!sent.contains("An AI agent is asking you"), "nobody asked");
    let reply = page("conversation-reply");
    let who: Vec<String> =
        all(&reply, "#conversation .said strong").iter().map(|e| text(*e)).collect();
    assert_eq!(who, ["Mark Osei", "release-bot", "Mark Osei", "release-bot"]);
    assert_eq!(all(&reply, "#conversation .said.agents").len(), 2, "its words are its own");
    assert!(all(&reply, "#rounds").is_empty(), "it is no matter of rounds");
    assert_eq!(all(&reply, "form.answer").len(), 1);
    let begun = main_of("conversation-begun");
    assert!(begun.contains("Answer message 4") && begun.contains("waits for an answer"), "{begun}");
    assert!(!begun.contains("will answer here"), "it did");
    assert!(main_of("conversation-erased").contains("(This text was erased.)"));
}
