use proptest::prelude::*;
use serde_json::json;

use super::*;

fn made(template: &str) -> Result<AgentEmailBody, BrokenTemplate> {
    let event = json!({
        "run_id": "run_1", "call_id": "call_1",
        "spec": {
            "fn": "refund", "kwargs": { "amount": 120, "to": "<b>Ada</b> & co", "note": "a\u{202e}b" },
            "reject_options": [{ "name": "too_dear", "title": "Too dear" }, { "name": "later" }],
        },
    });
    let base_url = "https://ask.example.com/a2h/calls/1".parse().unwrap();
    let known =
        TemplateContext { event: &event, base_url: &base_url, kind: "v1beta2.function_call" };
    render(template, known)
}

/// A2H-090, A2H-091.
#[test]
fn a_template_as_agents_write_them() {
    let template = r#"<html><body>
<h1>{{ event.spec.fn }} wants you</h1>
<pre>{{ event.spec.kwargs | tojson(indent=2) }}</pre>
{% if type == "v1beta2.function_call" %}
<p>To {{ event.spec.kwargs.to or "nobody" }}: {{ event.spec.state.missing or "no state" }}</p>
<a href="{{ urls.base_url }}?approve=true" style="background-color: green; color: white">Approve</a>
<a href="{{ urls.base_url }}?reject=true">Deny</a>
{% for option in event.spec.reject_options %}
<a href="{{ urls.base_url }}?reject=true&option={{ option.name }}">{{ option.title or option.name }}</a>
{% endfor %}
{% else %}<p>ReplyAddress to this letter.</p>{% endif %}
</body></html>"#;
    let AgentEmailBody { html, text } = made(template).unwrap();
    insta::assert_snapshot!(format!("{html}\n----\n{text}"));
}

#[test]
fn what_templates_can_say() {
    for (template, text) in [
        ("{{ event.run_id }}", "run_1"),
        ("{{ event['run_id'] }}", "run_1"),
        ("{{ event.no.such.thing }}x", "x"),
        ("{{ event.spec.kwargs.get('amount') }}", "120"),
        (
            "{% for k, v in event.spec.kwargs.items() %}{{ k }}={{ v }};{% endfor %}",
            "amount=120;note=a⟨U+202E⟩b;to=<b>Ada</b> & co;",
        ),
        ("{% for k, v in event.spec.kwargs|items %}{{ loop.index }}{% endfor %}", "123"),
        ("{{ event.spec.fn|upper }}{{ event.x|default('y') }}", "REFUNDy"),
        ("{{ event.spec.reject_options|length }}", "2"),
        ("{{ (event.spec.reject_options|first).name }}", "too_dear"),
        ("{% if event.x is defined %}a{% else %}b{% endif %}", "b"),
        ("{{ event.spec.fn|tojson }}", "\"refund\""),
    ] {
        assert_eq!(made(template).unwrap().text.trim(), text, "{template}");
    }
}

#[test]
fn a_broken_template_says_why() {
    let (long, deep) =
        ("a".repeat(70_000), "{% if 1 %}".repeat(2000) + &"{% endif %}".repeat(2000));
    let loops = "{% for a in event.spec.fn %}".repeat(7) + "x" + &"{% endfor %}".repeat(7);
    let wide = format!("{{% for a in event.spec.fn %}}{}{{% endfor %}}", "a".repeat(60_000));
    let chain = format!("{{{{ event{} }}}}", "|tojson".repeat(60));
    let brackets = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
    for (template, why) in [
        ("{{ event", "is not closed"),
        ("{% if x %}", "line 1 of the template: unexpected end of input"),
        ("a\n{{ x|nothing }}b", "line 2 of the template: filter nothing is unknown"),
        ("{{ range(10) }}", "line 1 of the template: range is unknown"),
        ("{{ event.spec.fn.nope() }}", "line 1 of the template: unknown function nope()"),
        ("{{ event|tojson(indent=400) }}", "an indent is at most 4"),
        ("{% include 'x' %}", "unknown tag \"include\"; allowed tags"),
        ("<script>x</script>", "the rendered email is empty"),
        ("", "the rendered email is empty"),
        (&long, "the template exceeds"),
        (&deep, ""),
        (&loops, "too many steps"),
        (&wide, "the rendered email exceeds"),
        (&chain, "a string becomes too long"),
        (&brackets, ""),
    ] {
        let BrokenTemplate { why: said } = made(template).unwrap_err();
        let shown: String = template.chars().take(60).collect();
        assert!(said.contains(why), "{shown}: {said}");
    }
}

#[test]
fn a_call_that_is_too_large_is_not_filled_in() {
    let (event, base_url) = (json!("a".repeat(300_000)), "https://a.example/".parse().unwrap());
    let known = TemplateContext { event: &event, base_url: &base_url, kind: "x" };
    assert!(render("{{ event }}", known).is_err());
}

/// The number of steps is bounded, but each step can be expensive.
#[test]
fn dear_steps_are_bounded_too() {
    let event = json!({ "big": "a".repeat(60_000), "many": vec![1; 30_000] });
    let base_url = "https://a.example/".parse().unwrap();
    let known = TemplateContext { event: &event, base_url: &base_url, kind: "x" };
    for dear in ["event|tojson == 'x'", "event.big|upper == 'x'", "event.many|join('ab') == 'x'"] {
        let template =
            format!("x{{% for a in event.many %}}{{% if {dear} %}}{{% endif %}}{{% endfor %}}");
        let BrokenTemplate { why } = render(&template, known).unwrap_err();
        assert!(why.contains("a string becomes too long"), "{dear}: {why}");
    }
    let compared =
        "{% for a in event.many %}{% if event.many == event.big %}{% endif %}{% endfor %}";
    let BrokenTemplate { why } = render(compared, known).unwrap_err();
    assert!(why.contains("too many steps"), "{why}");
}

proptest! {
    #[test]
    fn no_template_breaks_it(
        parts in proptest::collection::vec("(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}| if | for | in | endif | endfor |event|\\.|\\||tojson|'|\"|\\(|\\)|\\[|\\]|<a href=|<p>|>|,|~|-|\\\\|é|\n)", 0..30)
    ) {
        let _ = made(&parts.concat());
    }
}
