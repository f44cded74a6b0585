//! Who is asked: owners, delegates, pools.

use serde_json::{Value, json};

use crate::client::{Client, approve, decide, with};
use crate::world::World;

const RULES: &str = "/hxp/v1/delegation/rules";

/// A third person of project `dev`, who has no part in anything.
async fn bystander(world: &World) -> Client {
    let body = json!({ "id": "user_3", "projects": ["dev"] });
    world.human().save("people", body).await.saved();
    let issued = world.human().post("/api/v1/keys", json!({ "human": "user_3" })).await.is(201);
    world.bearer(issued["secret"].as_str().unwrap())
}

async fn sees(person: &Client, id: &str) -> bool {
    person.inbox("").await.is(200).ids().contains(&id)
}

fn delegated(more: Value) -> Value {
    with(with(approve("Deploy"), json!({ "role": "delegate" })), more)
}

/// HXPX-072, HXPX-075: only the owner sees and answers what was put to them.
#[tokio::test]
async fn the_owner_is_asked_and_nobody_else_knows() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Deploy")).await;
    let bystander = bystander(&world).await;
    for other in [world.member(), bystander] {
        assert!(!sees(&other, &id).await);
        other.resolve(&id, json!({ "result": "approved" })).await.error(404, "not_found");
        other.claim(&id).await.error(404, "not_found");
        let native = format!("/api/v1/asks/{}", ask_id(&id));
        other.get(&native).await.problem(404, "not-found");
        other.post(&format!("{native}/cancel"), json!({})).await.problem(404, "not-found");
    }
    assert!(sees(&world.human(), &id).await);
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    world.end().await;
}

/// HXPX-043, HXPX-072 to HXPX-075: rules lead to the delegate, who answers; the owner still can.
#[tokio::test]
async fn rules_lead_to_the_delegate() {
    let world = World::dev().await;
    let (agent, owner, delegate) = (world.agent(), world.human(), world.member());
    let bystander = bystander(&world).await;
    // An unknown person is stored and skipped.
    let nobody = json!({ "action": "APPROVE", "delegate_to": "not_hired_yet" });
    let echoed = owner.post(RULES, nobody).await.is(201);
    assert_eq!(echoed["delegate_to"], "not_hired_yet");
    assert_eq!(echoed["action"], "APPROVE");
    let listed = json!({ "rules": [
        { "action": "APPROVE", "tag": "finance", "delegate_to": "user_dev_2" },
        { "project_id": "beta", "priority": "high", "delegate_to": "user_dev_2" },
    ]});
    let echoed = owner.post(RULES, listed).await.is(201);
    assert_eq!(echoed["rules"].as_array().unwrap().len(), 2);
    assert_eq!(owner.get(RULES).await.is(200)["rules"].as_array().unwrap().len(), 3);

    let led = [
        delegated(json!({ "metadata": { "tag": "finance" } })),
        delegated(json!({ "metadata": { "tags": ["x", "finance"] } })),
        delegated(json!({ "project_id": "beta", "priority": "high" })),
    ];
    for body in led {
        let id = agent.ask(body).await;
        assert!(sees(&delegate, &id).await && sees(&owner, &id).await);
        assert!(!sees(&bystander, &id).await);
        bystander.resolve(&id, json!({ "result": "approved" })).await.error(404, "not_found");
        let done = delegate.resolve(&id, json!({ "result": "approved" })).await.is(200);
        assert_eq!(done["receipt"]["completed_by"], "user_dev_2");
    }
    let not_led = [
        // Every key a rule gives must match.
        delegated(json!({})),
        delegated(json!({ "metadata": { "tag": "finances" } })),
        delegated(json!({ "project_id": "beta" })),
        with(
            with(decide("Which?", &["a", "b"]), json!({ "role": "delegate" })),
            json!({ "metadata": { "tag": "finance" } }),
        ),
        // Rules are for those who ask for a delegate.
        with(approve("x"), json!({ "metadata": { "tag": "finance" } })),
    ];
    for body in not_led {
        let id = agent.ask(body).await;
        assert!(!sees(&delegate, &id).await && sees(&owner, &id).await);
    }
    // Other people's rules, and other agents, are not touched.
    assert_eq!(delegate.get(RULES).await["rules"], json!([]));
    world.end().await;
}

/// HXPX-073: the first rule that matches wins, until it is removed.
#[tokio::test]
async fn the_first_rule_wins_until_it_is_removed() {
    let world = World::dev().await;
    let owner = world.human();
    let third = bystander(&world).await;
    let first = owner.post(RULES, json!({ "tag": "t", "delegate_to": "user_dev_2" })).await.is(201);
    owner.post(RULES, json!({ "delegate_to": "user_3" })).await.is(201);
    let body = || delegated(json!({ "metadata": { "tag": "t" } }));
    let id = world.agent().ask(body()).await;
    assert!(sees(&world.member(), &id).await && !sees(&third, &id).await);

    let rule = format!("{RULES}/{}", first["rule_id"].as_str().unwrap());
    world.member().delete(&rule).await.error(404, "not_found");
    owner.delete(&rule).await.is(204);
    owner.delete(&rule).await.error(404, "not_found");
    owner.delete(&format!("{RULES}/nonsense")).await.error(404, "not_found");
    let later = world.agent().ask(body()).await;
    assert!(!sees(&world.member(), &later).await && sees(&third, &later).await);
    // Where it went stays where it went.
    assert!(sees(&world.member(), &id).await);
    world.end().await;
}

/// HXPX-043, HXPX-073: rules that make no sense; of a list with one of them nothing is kept.
#[tokio::test]
async fn bad_rules_are_refused() {
    let world = World::dev().await;
    let owner = world.human();
    for rule in [
        json!({}),
        json!({ "delegate_to": "" }),
        json!({ "delegate_to": 7 }),
        json!({ "delegate_to": "user_dev_2", "action": "SIGN" }),
        json!({ "delegate_to": "user_dev_2", "tag": 7 }),
        json!({ "rules": [] }),
        json!({ "rules": [{ "delegate_to": "user_dev_2" }, { "tag": "x" }] }),
    ] {
        owner.post(RULES, rule).await.error(400, "invalid_rule");
    }
    assert_eq!(owner.get(RULES).await["rules"], json!([]));
    world.end().await;
}

/// HXPX-056, HXPX-072, HXPX-075: a pool sees, one takes it, nobody learns who.
#[tokio::test]
async fn one_of_a_pool_takes_it_and_stays_anonymous() {
    let world = World::dev().await;
    let (agent, owner, member) = (world.agent(), world.human(), world.member());
    let third = bystander(&world).await;
    let pool = || with(approve("Deploy"), json!({ "role": "pool" }));
    let id = agent.ask(pool()).await;
    assert!(sees(&member, &id).await && sees(&third, &id).await && sees(&owner, &id).await);
    let taken = member.claim(&id).await.is(200);
    assert_eq!(taken["status"], "assigned");
    for reply in [
        third.claim(&id).await,
        third.resolve(&id, json!({ "result": "approved" })).await,
        owner.claim(&id).await,
    ] {
        let told = reply.error(409, "conflict");
        assert!(!told.text.contains("user_dev_2"), "{}", told.text);
    }
    let done = member.resolve(&id, json!({ "result": "approved" })).await.is(200);
    let name = done["receipt"]["completed_by"].as_str().unwrap();
    assert!(name.starts_with("pool_member_"), "{name}");
    let seen = agent.poll(&id).await.is(200);
    assert_eq!(seen["receipt"]["completed_by"], name);
    let listed = agent.list("").await.is(200);
    let late = owner.resolve(&id, json!({ "result": "approved" })).await.error(409, "conflict");
    for text in [&seen.text, &listed.text, &late.text] {
        assert!(!text.contains("user_dev_2"), "{text}");
    }
    // The next time the same person is somebody else.
    let next = agent.ask(pool()).await;
    let done = member.resolve(&next, json!({ "result": "approved" })).await.is(200);
    assert_ne!(done["receipt"]["completed_by"], name);
    // The owner may always answer, also what somebody else has taken.
    let owned = agent.ask(pool()).await;
    member.claim(&owned).await.is(200);
    owner.resolve(&owned, json!({ "result": "approved" })).await.is(200);
    world.end().await;
}

/// HXPX-075: a pool is limited by group and tags.
#[tokio::test]
async fn a_pool_is_for_the_qualified() {
    let world = World::dev().await;
    let (agent, member) = (world.agent(), world.member());
    let body = json!({
        "id": "lawyer", "projects": ["dev"], "groups": ["legal"], "skills": ["contracts"],
    });
    world.human().save("people", body).await.saved();
    let issued = world.human().post("/api/v1/keys", json!({ "human": "lawyer" })).await.is(201);
    let lawyer = world.bearer(issued["secret"].as_str().unwrap());
    for metadata in [
        json!({ "group": "legal" }),
        json!({ "tag": "contracts" }),
        json!({ "group": "legal", "tags": ["contracts"] }),
    ] {
        let pool = json!({ "role": "pool", "metadata": metadata });
        let id = agent.ask(with(approve("Sign off"), pool)).await;
        assert!(sees(&lawyer, &id).await, "{metadata}");
        assert!(!sees(&member, &id).await, "{metadata}");
        member.claim(&id).await.error(404, "not_found");
        member.resolve(&id, json!({ "result": "approved" })).await.error(404, "not_found");
        lawyer.resolve(&id, json!({ "result": "approved" })).await.is(200);
    }
    // Nobody of another project, whatever they know.
    let pool = with(approve("x"), json!({ "role": "pool" }));
    let elsewhere = world.agent_2().ask(pool).await;
    assert!(!sees(&lawyer, &elsewhere).await);
    assert!(sees(&world.human(), &elsewhere).await);
    world.end().await;
}

/// A person who was deactivated is neither asked nor let in.
#[tokio::test]
async fn whoever_left_is_not_asked() {
    let world = World::dev().await;
    world.human().post(RULES, json!({ "delegate_to": "user_dev_2" })).await.is(201);
    let before = world.agent().ask(delegated(json!({}))).await;
    let left = json!({ "id": "user_dev_2", "projects": ["dev"], "active": false });
    world.human().save("people", left).await.saved();
    world.member().inbox("").await.error(401, "unauthorized");
    let refused = world.member().resolve(&before, json!({ "result": "approved" })).await;
    refused.error(401, "unauthorized");
    let after = world.agent().ask(delegated(json!({}))).await;
    assert!(sees(&world.human(), &after).await && sees(&world.human(), &before).await);
    world.end().await;
}

/// The native name of a request.
pub(crate) fn ask_id(request_id: &str) -> String {
    dialects::hxp_execution::ask_id(request_id).unwrap().to_string()
}
