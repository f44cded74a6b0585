//! Conversations people begin in Slack, and where else they write to us.

use channels::testing::slack::inbound::{event, mentioned, wrote};
use channels::testing::slack::{Workspace, person};
use serde_json::{Value, json};

use crate::a2h::A2H;
use crate::channels_phone::{NUMBER_OF_ADA, texted, with_twilio, write};
use crate::conversations::opened;
use crate::fake_platforms::{ADA, id, in_slack_as, office, posted, slack_calls, whispered};
use crate::fake_push_device::waits;
use crate::fake_webhook_receiver::Hook;
use crate::native::{ASKS, approval, asked, yes};
use crate::webhooks::endpoint;
use crate::world::World;

const EVE: &str = "U0EVE";

async fn says(world: &World, payload: &Value) {
    slack_calls(world, &event(payload, world.now())).await.is(200);
}

async fn begun(world: &World) -> Vec<String> {
    let list = world.agent().get("/api/v1/conversations").await.is(200);
    let text = |ask: &Value| ask["result"]["answer"]["text"].as_str().unwrap().to_owned();
    list["asks"].as_array().unwrap().iter().map(text).collect()
}

/// How often somebody was told something only they see.
fn whispers(slack: &Workspace) -> usize {
    slack.calls_of("chat.postEphemeral").len()
}

async fn takes_conversations(world: &World, agent: &str) {
    world.add_agent(agent, "dev", "user_dev").await;
    let body = json!({ "project": "dev", "owner": "user_dev", "conversations": true });
    world.human().put(&format!("/api/v1/agents/{agent}"), body).await.is(200);
}

/// A2H-114, A2H-110: what somebody tells the app alone is for the only agent that could be meant,
/// and the agent goes on in that thread.
#[tokio::test]
async fn words_to_the_app_begin_a_conversation() {
    let (slack, world) = office().await;
    opened(&world).await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({ "format": "humanlayer" })).await;
    let first = wrote("Ev1", "D0ADA", None, ADA, "Please refund order 7");
    says(&world, &first).await;
    assert!(whispered(&slack).starts_with("agent_dev has your message"), "{}", whispered(&slack));
    let told = whispers(&slack);
    says(&world, &first).await;
    assert_eq!((begun(&world).await.len(), whispers(&slack)), (1, told), "heard once");
    hook.heard_times(1).await;
    let heard: Value = serde_json::from_slice(&hook.heard()[0].1).unwrap();
    assert_eq!(heard["type"], "agent_slack.received");
    let thread = &heard["event"];
    let ts = "1770000100.000200";
    assert_eq!((&thread["thread_ts"], &thread["channel_id"]), (&json!(ts), &json!("D0ADA")));
    let message = json!({
        "from_user_id": ADA, "channel_id": "D0ADA", "content": "Please refund order 7",
        "message_id": ts, "message_ts": ts,
    });
    assert_eq!(thread["events"], json!([message]));
    assert!(thread["team_id"].is_string(), "{thread}");

    let before = slack.messages().len();
    let channel = json!({ "channel_id": thread["contact_channel_id"] });
    let spec = json!({ "msg": "All of it?", "channel": channel });
    let contact = json!({ "run_id": "r", "call_id": "c", "spec": spec });
    world.agent().post(&format!("{A2H}/human_contacts"), contact).await.is(200);
    let asked = posted(&slack, before + 1).await;
    assert_eq!((asked.channel.as_str(), asked.thread_ts.as_deref()), ("D0ADA", Some(ts)));
    waits(&world, 0).await;
    says(&world, &wrote("Ev2", "D0ADA", Some(ts), ADA, "yes, all")).await;
    let over = world.agent().get(&format!("{A2H}/human_contacts/c")).await.is(200);
    assert_eq!(over["status"]["response"], "yes, all");
    assert_eq!(begun(&world).await.len(), 1);
    world.end().await;
}

/// A2H-114: a mention names the agent first. Who could mean several is told which; whoever we do
/// not know is told nothing.
#[tokio::test]
async fn a_mention_names_an_agent() {
    let (slack, world) = office().await;
    opened(&world).await;
    takes_conversations(&world, "clerk").await;
    world.add_agent("shy", "dev", "user_dev").await;
    in_slack_as(&world.human(), &slack, ADA).await;
    slack.person(person(EVE, "eve@example.net"));
    says(&world, &mentioned("Ev1", "C0OPS", ADA, "agent_dev: please refund order 7")).await;
    says(&world, &mentioned("Ev2", "C0OPS", ADA, "Agent_Dev please stop")).await;
    assert_eq!(begun(&world).await, ["please stop", "please refund order 7"]);
    for (n, words, answer) in [
        (3, "please refund order 7", "Begin with the name of an agent: agent_dev, clerk."),
        (4, "nobody: hi there", "Begin with the name of an agent: agent_dev, clerk."),
        (5, "shy: hi there", "shy does not accept conversations. Nothing was sent."),
        (6, "clerk:", "Nothing was sent to clerk"),
    ] {
        says(&world, &mentioned(&format!("Ev{n}"), "C0OPS", ADA, words)).await;
        assert!(whispered(&slack).starts_with(answer), "{words}: {}", whispered(&slack));
    }
    let told = (whispers(&slack), slack.messages().len());
    says(&world, &mentioned("Ev7", "C0OPS", EVE, "agent_dev: pay me")).await;
    says(&world, &wrote("Ev8", "D0EVE", None, EVE, "agent_dev: pay me")).await;
    says(&world, &wrote("Ev9", "C0OPS", None, ADA, "agent_dev: said to others")).await;
    assert_eq!((whispers(&slack), slack.messages().len()), told, "nobody is told that we are here");
    assert_eq!(begun(&world).await.len(), 2);
    world.end().await;
}

/// What answers a request answers it; what cannot is for whom it names, and a word alone for
/// nobody.
#[tokio::test]
async fn what_answers_a_request_begins_nothing() {
    let (slack, world) = office().await;
    opened(&world).await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let before = slack.messages().len();
    let ask = asked(&world.agent(), approval()).await;
    let message = posted(&slack, before + 1).await;
    waits(&world, 0).await;
    says(&world, &wrote("Ev1", "D0ADA", None, ADA, "agent_dev: is this the new one?")).await;
    assert_eq!(begun(&world).await, ["is this the new one?"]);
    says(&world, &wrote("Ev2", "D0ADA", None, ADA, "what is this about?")).await;
    assert!(
        whispered(&slack).starts_with("Your answer was not understood"),
        "{}",
        whispered(&slack)
    );
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    says(&world, &wrote("Ev3", "D0ADA", None, ADA, "yes")).await;
    assert_eq!(world.agent().get(&ask).await["result"]["answer"]["verdict"], "approved");
    // Too late, and nothing else waits.
    says(&world, &wrote("Ev4", "D0ADA", None, ADA, "no")).await;
    let said = whispered(&slack);
    assert!(said.contains("which request") && said.contains("its name: agent_dev."), "{said}");
    let other = id(&message).replace("D0ADA/", "");
    says(&world, &wrote("Ev5", "D0ADA", Some(&other), ADA, "agent_dev: and this?")).await;
    assert_eq!(begun(&world).await.len(), 1, "a thread is about its request");
    waits(&world, 0).await;
    world.end().await;
}

/// The same where a text names an agent: a number that is somebody's is enough.
#[tokio::test]
async fn a_text_message_names_an_agent() {
    let (twilio, world) = with_twilio().await;
    opened(&world).await;
    let ask = asked(&world.agent(), approval()).await;
    texted(&twilio, 2).await;
    waits(&world, 0).await;
    write(&world, &twilio, "SM1", NUMBER_OF_ADA, "agent_dev: stop the batch").await;
    assert!(texted(&twilio, 3).await.starts_with("agent_dev has your message"));
    write(&world, &twilio, "SM1", NUMBER_OF_ADA, "agent_dev: stop the batch").await;
    write(&world, &twilio, "SM2", "+4930999999", "agent_dev: pay me").await;
    assert_eq!(begun(&world).await, ["stop the batch"]);
    let found = world.agent().get("/api/v1/conversations").await.is(200);
    assert_eq!(found["asks"][0]["result"]["via"], "sms");
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    // Nothing waits: words without a name are for nobody.
    waits(&world, 0).await;
    let had = twilio.sent().len();
    write(&world, &twilio, "SM3", NUMBER_OF_ADA, "stop it now").await;
    assert!(texted(&twilio, had + 1).await.contains("begin with its name: agent_dev."));
    assert_eq!(begun(&world).await.len(), 1);
    assert!(ask.starts_with(ASKS));
    world.end().await;
}
