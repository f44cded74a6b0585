//! Notes on top of a page, and every page that is only a note: none of them is a blank or JSON.

use askama::Template;
use kernel::directory::Directory;
use kernel::{HumanId, Refusal, Time};

use super::when::When;
use super::{Frame, assets, paths, render, words};

/// What just happened, shown on the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The person's answer was recorded.
    Sent,
    /// The person took the request on.
    Taken,
    /// The person handed the request to somebody.
    Handed(HumanId),
    /// The person's remark was added.
    Commented,
    /// The person moved the deadline.
    Extended(Time),
    /// The person hid the request from their own inbox until then.
    Hidden(Time),
    /// The person has it in their inbox again.
    Unhidden,
    /// What the person entered on a review page is kept.
    Saved,
    /// The person closed the request without an answer.
    TurnedDown,
    /// What the person wanted was refused; most often somebody was faster.
    Refused(Refusal),
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
        };
        match self {
            Self::Sent => good("Your answer was sent", "The agent has it now."),
            Self::Taken => {
                good("You have taken this on", "Only you are expected to answer it now.")
            }
            Self::Handed(to) => {
                let name = words::person(directory, to);
                good(&format!("Handed to {name}"), "They have been asked to answer.")
            }
            Self::Commented => good(
                "Your comment was added",
                "Whoever sees this request can read it, and so can the agent.",
            ),
            Self::Extended(until) => {
                let until = When::new(*until, now);
                let title = format!("It now expires {}", until.words);
                good(&title, "The agent was told, and goes on waiting.")
            }
            Self::Hidden(until) => {
                let until = When::new(*until, now);
                let title = format!("Hidden from your inbox; it comes back {}", until.words);
                good(&title, "Nothing changed for anybody else, and the deadline is what it was.")
            }
            Self::Unhidden => good("It is in your inbox again", "Answer it whenever you like."),
            Self::Saved => good(
                "Saved. Nothing was sent yet",
                "Open the same link again to go on, on any device. It is kept until the request ends.",
            ),
            Self::TurnedDown => {
                good("The request is closed", "The agent was told that nobody will answer it.")
            }
            Self::Refused(refusal) => {
                let (title, text) = refused(refusal, directory, now);
                Banner { tone: "no", role: "alert", title, text, written }
            }
            Self::Unsaid(refusal, words) => {
                let (_, text) = refused(refusal, directory, now);
                let title = "Your comment was not added".to_owned();
                Banner { tone: "no", role: "alert", title, text, written: Some(words.clone()) }
            }
        }
    }
}

fn refused(refusal: &Refusal, directory: &Directory, now: Time) -> (String, String) {
    if let Refusal::Invalid { expected, .. } = refusal {
        let text = format!("Nothing was changed. Expected: {expected}.");
        return ("Something needs to be corrected".to_owned(), text);
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
        Refusal::AssuranceTooLow { .. } => (
            "This request needs a stronger sign-in".to_owned(),
            "Your answer was not sent. Sign in again, then answer.",
        ),
        Refusal::NotAllowed { .. } => {
            ("You cannot do this".to_owned(), "Nothing was changed. Ask the owner of this agent.")
        }
        Refusal::Answer(_) | Refusal::Invalid { .. } => {
            ("Something needs to be corrected".to_owned(), "Nothing was changed.")
        }
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => (
            "This request needs a proof that a person answers".to_owned(),
            "Your answer was not sent.",
        ),
        Refusal::NotFound { .. }
        | Refusal::NotOver { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
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
struct Message<'a> {
    frame: &'a Frame,
    title: &'a str,
    paragraphs: Vec<String>,
    link: Option<(&'a str, &'a str)>,
    form: Option<Form<'a>>,
    alert: bool,
}

struct Form<'a> {
    action: &'a str,
    hidden: Vec<(&'a str, &'a str)>,
    button: &'a str,
    label: Option<&'a str>,
}

impl<'a> Message<'a> {
    fn new(frame: &'a Frame, title: &'a str, paragraphs: &[&str]) -> Self {
        let paragraphs = paragraphs.iter().map(|&text| text.to_owned()).collect();
        let link = frame.person.is_some().then_some((paths::INBOX, "Go to your inbox"));
        Self { frame, title, paragraphs, link, form: None, alert: false }
    }

    fn alert(mut self) -> Self {
        self.alert = true;
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

/// 403: the person is known, and may not.
pub fn forbidden(frame: &Frame) -> String {
    let text = "Your account has no permission for this. An administrator can give it to you.";
    render(&Message::new(frame, "You cannot do this", &[text]))
}

/// Sign-in. With a link's token there is a button that posts it; looking never signs anybody in.
pub fn sign_in(frame: &Frame, token: Option<&str>) -> String {
    let Some(token) = token else {
        let text = "Open the sign-in link you were given. The server prints one when it first starts, \
                    and an administrator can make you a new one.";
        return render(&Message::new(frame, "Sign in with your link", &[text]));
    };
    let text =
        "AI agents ask you questions here, and act on what you answer. This link works once.";
    let mut message = Message::new(frame, "Sign in to Countersign", &[text]);
    let hidden = vec![("token", token)];
    let form =
        Form { action: paths::SIGN_IN, hidden, button: "Sign in on this device", label: None };
    (message.form, message.link) = (Some(form), None);
    render(&message)
}

/// A sign-in link that was used or is too old.
pub fn stale_link(frame: &Frame) -> String {
    let text = "Sign-in links work once and not for long. Ask an administrator for a new one.";
    render(&Message::new(frame, "This sign-in link no longer works", &[text]).alert())
}

/// After signing out.
pub fn signed_out(frame: &Frame) -> String {
    let text = "Requests still reach you by the other ways you are notified.";
    render(&Message::new(frame, "You are signed out", &[text]))
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
