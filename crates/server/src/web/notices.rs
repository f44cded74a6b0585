//! Notes on top of a page, and every page that is only a note: none of them is a blank or JSON.

use askama::Template;
use kernel::directory::Directory;
use kernel::{Assurance, HumanId, Refusal, Time};

use super::answered::Answered;
use super::when::When;
use super::{Frame, assets, paths, render, words};

/// What just happened, shown on the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The person's answer was recorded.
    Sent,
    /// The same in full: what was decided, and what can be done now.
    Answered(Box<Answered>),
    /// The person took back so many of their answers; so many others were sent already.
    Undone(usize, usize),
    /// The person took the request on.
    Taken,
    /// The person handed the request to somebody.
    Handed(HumanId),
    /// The person put the request aside until then.
    Aside(Time),
    /// The person brought it back.
    Back,
    /// The person's remark was added.
    Commented,
    /// The person picked one of the agent's actions.
    Picked,
    /// The person moved the deadline.
    Extended(Time),
    /// What the person entered on a review page is kept.
    Saved,
    /// The person closed the request without an answer.
    TurnedDown,
    /// The person ended sessions of theirs.
    SignedOut,
    /// The person has one more passkey.
    PasskeyAdded,
    /// The person has one passkey less.
    PasskeyRemoved,
    /// Somebody claimed the request before its owner answered, and the owner was not shown that.
    ClaimedMeanwhile(HumanId),
    /// Somebody has just answered the request; the reader holds a link and does not learn who.
    JustAnswered,
    /// What the person wanted was refused; most often somebody was faster.
    Refused(Refusal),
    /// A passkey was not added, removed or taken.
    Passkey(Refusal),
    /// What the person wrote could not be added.
    Unsaid(Refusal, String),
}

/// A note on top of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Banner {
    /// The name of the style: `yes`, `no` or `over`.
    pub tone: &'static str,
    /// Whether it interrupts (`alert`) or waits to be read (`status`).
    pub role: &'static str,
    /// What happened.
    pub title: String,
    /// What that means.
    pub text: String,
    /// What the person had written, given back.
    pub written: Option<String>,
    /// What was decided, and what can be done now.
    pub answered: Option<Answered>,
}

impl Notice {
    /// The note in words. `written` is what the person had entered, when it could not be used.
    pub fn banner(&self, directory: &Directory, now: Time, written: Option<String>) -> Banner {
        let good = |title: &str, text: &str| Banner {
            tone: "yes",
            role: "status",
            title: title.to_owned(),
            text: text.to_owned(),
            written: None,
            answered: None,
        };
        match self {
            Self::Sent => good("Your answer was sent", "The agent has it now."),
            Self::Answered(answered) => Banner {
                tone: answered.tone,
                answered: Some((**answered).clone()),
                ..good(&answered.what, &format!("Sent to {}.", answered.agent))
            },
            Self::Undone(undone, late) => undone_banner(*undone, *late, good),
            Self::Taken => {
                good("You have taken this on", "Only you are expected to answer it now.")
            }
            Self::Handed(to) => {
                let name = words::person(directory, to);
                good(&format!("Handed to {name}"), "They have been asked to answer.")
            }
            Self::Aside(until) => good(
                &format!("Put aside, back {}", When::new(*until, now).words),
                "It comes back by itself. Until then it is under “Put aside”; for others nothing changes.",
            ),
            Self::Back => good("It is back", "The request stands in your inbox again."),
            Self::Commented => good(
                "Your comment was added",
                "Whoever sees this request can read it, and so can the agent.",
            ),
            Self::Picked => good(
                "The agent was told what you want",
                "This is not an answer: the request still waits for one.",
            ),
            Self::Extended(until) => {
                let until = When::new(*until, now);
                let title = format!("It now expires {}", until.words);
                good(&title, "The agent was told, and goes on waiting.")
            }
            Self::Saved => good(
                "Saved. Nothing was sent yet",
                "Open the same link again to go on, on any device. It is kept until the request ends.",
            ),
            Self::TurnedDown => {
                good("The request is closed", "The agent was told that nobody will answer it.")
            }
            Self::SignedOut => {
                good("Signed out", "What was signed in there opens nothing any more.")
            }
            Self::PasskeyAdded => good(
                "Passkey added",
                "You can sign in with it from now on. Your other contact methods were notified.",
            ),
            Self::PasskeyRemoved => good(
                "Passkey removed",
                "It opens nothing here any more. Your device may still list it.",
            ),
            Self::ClaimedMeanwhile(by) => Banner {
                tone: "no",
                role: "alert",
                title: format!("{} has claimed this request", words::person(directory, by)),
                text: "Your answer was not sent; everything you entered is still here. To answer \
                       anyway, tick the box above your answer."
                    .to_owned(),
                written,
                answered: None,
            },
            Self::JustAnswered => Banner {
                tone: "no",
                role: "alert",
                title: "This request was just answered".to_owned(),
                text: "Your answer was not sent. The other answer takes effect in a moment, unless it \
                       is undone."
                    .to_owned(),
                written,
                answered: None,
            },
            Self::Refused(refusal) => {
                let (title, text) = refused(refusal, directory, now);
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
            Self::Passkey(refusal) => {
                let (mut title, mut text) = refused(refusal, directory, now);
                if let Refusal::NotAllowed { why } = refusal {
                    "Your passkey was not accepted".clone_into(&mut title);
                    text = format!("Nothing was changed: {why}.");
                }
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
            Self::Unsaid(refusal, words) => {
                let (_, text) = refused(refusal, directory, now);
                let title = "Your comment was not added".to_owned();
                let written = Some(words.clone());
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
        }
    }
}

fn undone_banner(undone: usize, late: usize, good: impl Fn(&str, &str) -> Banner) -> Banner {
    let sent = match late {
        1 => "1 answer was already sent and stands.".to_owned(),
        n => format!("{n} answers were already sent and stand."),
    };
    let alert = |title: &str, text: &str| Banner { tone: "no", role: "alert", ..good(title, text) };
    match (undone, late) {
        (0, 0 | 1) => {
            alert("Too late to undo", "Your answer was already sent to the agent, so it stands.")
        }
        (0, _) => alert("Too late to undo", &sent),
        (1, 0) => good("Your answer was undone", "Nothing was sent. The request is open again."),
        (n, 0) => good(
            &format!("{n} answers were undone"),
            "Nothing was sent. The requests are open again.",
        ),
        (n, _) => alert(&format!("{n} of {} answers were undone", n + late), &sent),
    }
}

fn refused(refusal: &Refusal, directory: &Directory, now: Time) -> (String, String) {
    if let Refusal::Invalid { expected, .. } = refusal {
        let text = format!("Nothing was changed. Expected: {expected}.");
        return ("Something needs to be corrected".to_owned(), text);
    }
    if let Refusal::Quota(quota) = refusal {
        return (
            "A limit of this server was reached".to_owned(),
            format!("Nothing was changed: {quota}."),
        );
    }
    let (title, text) = in_words(refusal, directory, now);
    (title, text.to_owned())
}

fn in_words(refusal: &Refusal, directory: &Directory, now: Time) -> (String, &'static str) {
    let ago = |at: &Time| When::new(*at, now).words;
    match refusal {
        Refusal::AlreadyAnswered { by, at } => (
            format!("Already answered by {}, {}", words::by(directory, by), ago(at)),
            "Your answer was not sent. What they said stands below.",
        ),
        Refusal::AlreadyCancelled { by, at } => (
            format!("Withdrawn by {}, {}", words::by(directory, by), ago(at)),
            "Your answer was not sent: nobody waits for it any more.",
        ),
        Refusal::TimedOut { at } => (
            format!("Time ran out {}", ago(at)),
            "Your answer came too late and was not sent. What happens now stands below.",
        ),
        Refusal::TakenBy { by } => (
            format!("{} has taken this on", words::person(directory, by)),
            "Your answer was not sent. They are expected to answer.",
        ),
        Refusal::BeingAnswered { by } => (
            format!("{} has just answered this request", words::person(directory, by)),
            "Nothing was sent from this page. Their answer takes effect in a moment, unless they undo it.",
        ),
        Refusal::AssuranceTooLow { need: Assurance::Passkey, .. } => (
            "This request needs your passkey".to_owned(),
            "Your answer was not sent: it was not confirmed with a passkey of yours.",
        ),
        Refusal::AssuranceTooLow { .. } => (
            "This request needs a stronger sign-in".to_owned(),
            "Your answer was not sent. Sign in again, then answer.",
        ),
        Refusal::ApprovalTooWeak { need: Assurance::Passkey, .. } => (
            "Approving this request needs your passkey".to_owned(),
            "Your answer was not sent: the request is irreversible or critical. Open it and confirm \
             your approval with a passkey. Rejecting it needs none.",
        ),
        Refusal::ApprovalTooWeak { .. } => (
            "Approving this request needs somebody who is signed in".to_owned(),
            "Your answer was not sent: the request is irreversible or critical. Sign in to approve it. \
             Rejecting it needs no sign-in.",
        ),
        Refusal::NotAllowed { .. } => {
            ("You cannot do this".to_owned(), "Nothing was changed. Ask the owner of this agent.")
        }
        Refusal::Answer(_) | Refusal::Invalid { .. } | Refusal::InvalidAt { .. } => {
            ("Something needs to be corrected".to_owned(), "Nothing was changed.")
        }
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => (
            "This request needs a proof that a person answers".to_owned(),
            "Your answer was not sent.",
        ),
        Refusal::Precondition { .. } | Refusal::Immutable { .. } => (
            "The task has gone on without this".to_owned(),
            "Your answer was not sent: its task does not wait for it any more.",
        ),
        Refusal::PastDeadline { at } => (
            format!("The time for this task was up {}", ago(at)),
            "Nothing was changed. The task shows what happens now.",
        ),
        Refusal::NotFound { .. }
        | Refusal::Stale { .. }
        | Refusal::TooComplex { .. }
        | Refusal::Quota(_)
        | Refusal::Claims { .. }
        | Refusal::NotOver { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
        | Refusal::SilenceTooWeak { .. }
        | Refusal::Changed { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::NoDeadline
        | Refusal::NotDue => {
            ("That did not work".to_owned(), "Nothing was changed. Load the page and try again.")
        }
    }
}

/// A page that is only a note, perhaps with one thing to do.
#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct Message<'a> {
    frame: &'a Frame,
    title: &'a str,
    paragraphs: Vec<String>,
    link: Option<(&'a str, &'a str)>,
    form: Option<Form<'a>>,
    alert: bool,
    /// What was not reached, if that is all it says: `page`, or what became of a `form`.
    unreached: Option<&'static str>,
}

struct Form<'a> {
    action: &'a str,
    hidden: Vec<(&'a str, &'a str)>,
    button: &'a str,
    label: Option<&'a str>,
}

impl<'a> Message<'a> {
    pub(super) fn new(frame: &'a Frame, title: &'a str, paragraphs: &[&str]) -> Self {
        let paragraphs = paragraphs.iter().map(|&text| text.to_owned()).collect();
        let link = frame.person.is_some().then_some((paths::INBOX, "Go to your inbox"));
        Self { frame, title, paragraphs, link, form: None, alert: false, unreached: None }
    }

    pub(super) fn alert(mut self) -> Self {
        self.alert = true;
        self
    }

    pub(super) fn linked(mut self, href: &'a str, words: &'a str) -> Self {
        self.link = Some((href, words));
        self
    }

    pub(super) fn unreached(mut self, what: &'static str) -> Self {
        self.unreached = Some(what);
        self
    }
}

/// 404: no such request, or none this person may see; both look the same.
pub fn not_found(frame: &Frame) -> String {
    let text = "It does not exist, or it is not yours to see. If someone sent you the link, ask them \
                to hand the request to you.";
    render(&Message::new(frame, "There is nothing here for you", &[text]))
}

/// A review link that opens nothing: wrong, cut off, or of a request that is not there. All look the
/// same.
pub fn no_such_link(frame: &Frame) -> String {
    let text = "It may have been cut off when it was copied, or it was never valid. Open the whole \
                link as it was sent to you, or ask whoever sent it for a new one.";
    render(&Message::new(frame, "This link opens nothing", &[text]).alert())
}

/// 429: a page that was sent far more often than a person would.
pub fn too_fast(frame: &Frame, back: &str) -> String {
    let text =
        "This page was sent very often within a minute. What you entered last may not be kept.";
    let mut message = Message::new(frame, "Wait a moment", &[text]).alert();
    message.link = Some((back, "Load it again"));
    render(&message)
}

/// 404: a request that has no receipt.
pub fn no_receipt(frame: &Frame) -> String {
    let text = "A request has a receipt once it is over, as long as its words were not erased.";
    render(&Message::new(frame, "There is no receipt", &[text]))
}

/// 403: the person is known, and may not.
pub fn forbidden(frame: &Frame) -> String {
    let text = "Your account has no permission for this. An administrator can give it to you.";
    render(&Message::new(frame, "You cannot do this", &[text]))
}

/// A link was asked for. It says the same whoever the address belongs to.
pub fn link_sent(frame: &Frame) -> String {
    let text = "If somebody here has that address, a letter with a sign-in link is on its way. The link \
                works once, within 15 minutes.";
    let more = "Nothing came? Look among unwanted mail, or ask an administrator whether your address \
                is known here.";
    let mut message = Message::new(frame, "Look into your mail", &[text, more]);
    message.link = Some((paths::SIGN_IN, "Back to signing in"));
    render(&message)
}

/// A sign-in link that was used or is too old.
pub fn stale_link(frame: &Frame) -> String {
    let text = "Sign-in links work once and not for long. Ask for a new one.";
    let mut message = Message::new(frame, "This sign-in link no longer works", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in another way"));
    render(&message)
}

/// A passkey that is unknown here, was removed, or did not sign what it should.
pub fn passkey_refused(frame: &Frame) -> String {
    let text = "It may have been removed, or the page was open too long. Try once more, or sign in \
                another way.";
    let mut message = Message::new(frame, "That passkey does not work here", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in"));
    render(&message)
}

/// An answer that needs a passkey, of somebody who has none that counts. `waits` is when one begins to.
pub fn passkey_needed(frame: &Frame, waits: Option<Time>) -> String {
    let Some(from) = waits else {
        let text = "Being signed in is not enough for this one. Your answer was not sent. Add a \
                    passkey, then answer again.";
        let mut message = Message::new(frame, "This request needs a passkey", &[text]).alert();
        message.link = Some((paths::PASSKEYS, "Add a passkey"));
        return render(&message);
    };
    let text = "Your passkey was added a short while ago and does not confirm answers yet. Your answer \
                was not sent. Ask an administrator to confirm your passkey, or answer later.";
    let mut message = Message::new(frame, "Your passkey does not count yet", &[text]).alert();
    message.paragraphs.push(format!("It counts {}.", When::new(from, frame.now).words));
    message.link = Some((paths::PASSKEYS, "Your passkeys"));
    render(&message)
}

/// A server that has no passkeys, and why.
pub fn no_passkeys(frame: &Frame, why: &str) -> String {
    let mut message = Message::new(frame, "This server has no passkeys", &[]).alert();
    message.paragraphs.push(format!("An administrator can change that: {why}."));
    render(&message)
}

/// Somebody came back from the provider of identities, and it did not go well.
pub fn provider_refused(frame: &Frame) -> String {
    let text = "It was broken off, took too long, or something does not fit. Try once more; if it \
                happens again, an administrator finds the reason in the log.";
    let mut message = Message::new(frame, "You could not be signed in", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in"));
    render(&message)
}

/// Somebody came back from the provider of identities whom nobody knows here.
pub fn not_known(frame: &Frame) -> String {
    let text = "Your organisation knows you, but nobody added you here. An administrator can.";
    let mut message = Message::new(frame, "You are not known here", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in another way"));
    render(&message)
}

/// 429: somebody tries to sign in again and again.
pub fn too_many_attempts(frame: &Frame) -> String {
    let text = "There were too many attempts to sign in from where you are. Wait a minute, then try \
                again.";
    render(&Message::new(frame, "Wait a moment", &[text]).alert())
}

/// After signing out.
pub fn signed_out(frame: &Frame, provider: Option<&str>) -> String {
    let text = "Requests still reach you by the other ways you are notified.";
    let mut message = Message::new(frame, "You are signed out", &[text]);
    if let Some(name) = provider {
        message.paragraphs.push(format!("You may still be signed in with {name}."));
        message.link = Some((paths::SIGN_OUT_OIDC, "Sign out there too"));
    }
    render(&message)
}

/// A form whose CSRF value is no longer good; `back` leads to a fresh page.
pub fn stale_page(frame: &Frame, back: &str) -> String {
    let text = "You were signed out or signed in again since you opened it. Nothing was sent.";
    let mut message = Message::new(frame, "This page was open too long", &[text]).alert();
    message.link = Some((back, "Load it again"));
    render(&message)
}

/// 413: an upload or text beyond the limit.
pub fn too_large(frame: &Frame, back: &str) -> String {
    let text = "The server takes smaller files and texts. Nothing was sent.";
    let mut message = Message::new(frame, "That was too large", &[text]).alert();
    message.link = Some((back, "Go back to the request"));
    render(&message)
}

/// 500: our fault. The reference finds it in the log.
pub fn server_error(frame: &Frame, reference: &str) -> String {
    let mut message = Message::new(
        frame,
        "Something went wrong on our side",
        &["Load the page to see whether your answer arrived before you send it again."],
    )
    .alert();
    message.paragraphs.push(format!("If it happens again, tell an administrator: {reference}"));
    render(&message)
}

/// 503: not ready, or shutting down.
pub fn unavailable(frame: &Frame) -> String {
    let text = "The server is starting, stopping or busy. Nothing is lost: requests and answers are \
                kept. Try again in a minute.";
    render(&Message::new(frame, "Countersign is not available right now", &[text]).alert())
}

/// Where a token for a terminal is made.
pub fn token_form(frame: &Frame) -> String {
    let text = "With a token, the countersign command and your own programs answer in your name. It is \
                shown once. Anyone who has it can answer as you.";
    let mut message = Message::new(frame, "A token for your terminal", &[text]);
    message.form = Some(Form {
        action: paths::TOKENS,
        hidden: Vec::new(),
        button: "Make a token and show it once",
        label: Some("Where you will use it"),
    });
    render(&message)
}

/// A token just made.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// The token; only this page ever shows it.
    pub token: &'a str,
    /// What the person called it.
    pub label: &'a str,
    /// Until when it works.
    pub expires: Option<Time>,
    /// Where the server is.
    pub server_url: &'a str,
}

/// The token, once.
pub fn token_made(frame: &Frame, new: &NewToken<'_>) -> String {
    render(&TokenPage {
        frame,
        token: new.token,
        label: words::Words::of(new.label),
        expires: new.expires.map(|at| When::new(at, frame.now)),
        server_url: new.server_url.trim_end_matches('/'),
    })
}

#[derive(Template)]
#[template(path = "token.html")]
struct TokenPage<'a> {
    frame: &'a Frame,
    token: &'a str,
    label: words::Words,
    expires: Option<When>,
    server_url: &'a str,
}
