//! Addresses that mail to us goes to. Whoever writes to one has read the email or the page it stood
//! on: the address is what is trusted, never `From:`, which anybody can write into an email.
//!
//! ```text
//! replies+<56 letters and digits>@example.com
//!         16 bytes: the ask, or the agent · 8 bytes: whom it was given to · 11 bytes: our signature
//! ```
//!
//! An address of an email answers one ask. An [`Invitation`] is somebody's own for one agent, and good
//! for as long as they may write to it. Which of the two it is, the signature says.
//!
//! Mail systems may lower the case of what stands before the `@`, and it may have no more than 64 bytes.
//! So the 35 bytes are written in base 32, which leaves 7 for the name, and case says nothing.

use std::fmt;

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::audit::Digest;
use kernel::directory::Means;
use kernel::{AgentId, AskId, HumanId};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use ulid::Ulid;

/// How long what stands before the `@` may be (RFC 5321, 4.5.3.1.1).
const LONGEST_LOCAL: usize = 64;
/// How long an address may be (the path of RFC 5321, 4.5.3.1.3, without its brackets).
const LONGEST_ADDRESS: usize = 254;
const WHAT: usize = 16;
const WHOM: usize = 8;
const SIGNATURE: usize = 11;
const BYTES: usize = WHAT + WHOM + SIGNATURE;
/// How long a token is as text.
const TOKEN: usize = BYTES * 8 / 5;
/// How long the name before the token may be.
const LONGEST_NAME: usize = LONGEST_LOCAL - TOKEN - 1;
/// What is signed besides, so that a signature under the same key for something else is none here.
const ANSWER: &[u8] = b"an answer by mail";
const INVITATION: &[u8] = b"a conversation by mail";

/// Makes addresses that answers go to, and reads them.
#[derive(Clone)]
pub struct ReplyAddresses {
    name: String,
    domain: String,
    key: [u8; 32],
}

/// Whom an address was given to: enough of a digest to tell people apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressOwner([u8; WHOM]);

impl AddressOwner {
    /// Whoever reads what is sent by this means.
    pub fn of(means: &Means) -> Self {
        Self::of_mark(&means.mark())
    }

    /// The same, by the mark of the means.
    pub fn of_mark(mark: &Digest) -> Self {
        let mut whom = [0; WHOM];
        for (to, from) in whom.iter_mut().zip(mark.0) {
            *to = from;
        }
        Self(whom)
    }

    /// Somebody known by something else than a means.
    pub const fn new(bytes: [u8; WHOM]) -> Self {
        Self(bytes)
    }
}

/// As it is written down.
impl fmt::Display for AddressOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// What an address says: who was asked what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyAddress {
    /// What is answered.
    pub ask: AskId,
    /// Whom the address was given to.
    pub whom: AddressOwner,
}

/// What an address says that lets somebody write to an agent: who, and to which. Digests, since names
/// have no room; whoever knows both names finds that they are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invitation {
    agent: [u8; WHAT],
    whom: [u8; WHOM],
}

impl Invitation {
    /// The one by which this person writes to this agent.
    pub fn new(agent: &AgentId, human: &HumanId) -> Self {
        Self { agent: named(agent.as_str()), whom: named(human.as_str()) }
    }

    /// Whether this agent is written to.
    pub fn is_to(&self, agent: &AgentId) -> bool {
        self.agent == named(agent.as_str())
    }

    /// Whether it was given to this person.
    pub fn is_of(&self, human: &HumanId) -> bool {
        self.whom == named(human.as_str())
    }
}

/// As much of the digest of a name as there is room for.
fn named<const N: usize>(name: &str) -> [u8; N] {
    let mut some = [0; N];
    for (to, from) in some.iter_mut().zip(Digest::of(name.as_bytes()).0) {
        *to = from;
    }
    some
}

/// What an address says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedAddress {
    /// Which email it stood in.
    Reply(ReplyAddress),
    /// Who may write to which agent.
    Invitation(Invitation),
}

/// Not an address answers can go to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReplies {
    /// It is none at all.
    #[error("expected an address such as replies@example.com")]
    NoAddress,
    /// There is no room for a token.
    #[error(
        "{0} has no room for a token: before the @ there may be at most 7 letters, digits, . or -"
    )]
    Name(String),
}

impl ReplyAddresses {
    /// Answers go to this address, with a token behind a `+`. The key is for nothing else.
    pub fn new(address: &str, key: [u8; 32]) -> Result<Self, BadReplies> {
        let address = address.trim().to_ascii_lowercase();
        let (name, domain) = address.rsplit_once('@').ok_or(BadReplies::NoAddress)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        let labels = |domain: &str| {
            domain
                .split('.')
                .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
        };
        if domain.is_empty() || !domain.chars().all(plain) || !labels(domain) {
            return Err(BadReplies::NoAddress);
        }
        if name.is_empty()
            || name.len() > LONGEST_NAME
            || !name.chars().all(plain)
            || name.split('.').any(str::is_empty)
            || name.len() + 1 + TOKEN + 1 + domain.len() > LONGEST_ADDRESS
        {
            return Err(BadReplies::Name(name.to_owned()));
        }
        Ok(Self { name: name.to_owned(), domain: domain.to_owned(), key })
    }

    /// The address for answers to this ask by whoever it is given to. The same every time.
    pub fn address(&self, reply: ReplyAddress) -> String {
        format!("{}+{}@{}", self.name, self.token(reply), self.domain)
    }

    /// The token in it.
    pub fn token(&self, ReplyAddress { ask, whom }: ReplyAddress) -> String {
        self.sealed(ANSWER, &ask.ulid().to_bytes(), whom.0)
    }

    /// The address at which somebody writes to an agent. The same every time.
    pub fn invitation(&self, Invitation { agent, whom }: Invitation) -> String {
        format!("{}+{}@{}", self.name, self.sealed(INVITATION, &agent, whom), self.domain)
    }

    /// The address without a token: where mail goes, and of no use to whoever has nothing else.
    pub fn bare(&self) -> String {
        format!("{}@{}", self.name, self.domain)
    }

    fn sealed(&self, purpose: &[u8], what: &[u8; WHAT], whom: [u8; WHOM]) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(what);
        bytes.extend_from_slice(&whom);
        let signature = self.signature(purpose, &bytes);
        bytes.extend_from_slice(&signature);
        BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
    }

    /// What an address says, if we made it.
    pub fn read(&self, address: &str) -> Option<OpenedAddress> {
        self.open(&self.token_in(address)?)
    }

    /// The token in an address, if it is one of ours and the token is good. In lower case.
    pub fn token_of(&self, address: &str) -> Option<String> {
        let token = self.token_in(address)?;
        self.open(&token).map(|_| token)
    }

    /// What a token says, if we made it.
    pub fn open(&self, token: &str) -> Option<OpenedAddress> {
        if token.len() != TOKEN {
            return None;
        }
        let bytes = BASE32_NOPAD.decode(token.to_ascii_uppercase().as_bytes()).ok()?;
        let (said, signature) = bytes.split_at_checked(WHAT + WHOM)?;
        let is_for =
            |purpose: &[u8]| -> bool { self.signature(purpose, said).ct_eq(signature).into() };
        let (what, whom) = said.split_first_chunk::<WHAT>()?;
        let whom = *whom.first_chunk::<WHOM>()?;
        if is_for(ANSWER) {
            let ask = AskId::new(Ulid::from_bytes(*what));
            return Some(OpenedAddress::Reply(ReplyAddress { ask, whom: AddressOwner(whom) }));
        }
        is_for(INVITATION).then_some(OpenedAddress::Invitation(Invitation { agent: *what, whom }))
    }

    /// Whether an address is ours, with a token or without.
    pub fn is_ours(&self, address: &str) -> bool {
        let address = address.to_ascii_lowercase();
        address.rsplit_once('@').is_some_and(|(local, domain)| {
            domain == self.domain && local.split('+').next() == Some(self.name.as_str())
        })
    }

    /// The domain answers go to.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    fn token_in(&self, address: &str) -> Option<String> {
        // Nothing of ours is longer, and some emails name thousands of addresses.
        if address.len() > LONGEST_ADDRESS {
            return None;
        }
        let address = address.to_ascii_lowercase();
        let (local, domain) = address.rsplit_once('@')?;
        let token = local.strip_prefix(&self.name)?.strip_prefix('+')?;
        (domain == self.domain).then(|| token.to_owned())
    }

    fn signature(&self, purpose: &[u8], said: &[u8]) -> [u8; SIGNATURE] {
        let mut signature = [0; SIGNATURE];
        // HMAC takes keys of any length, so there is always a signature.
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) {
            mac.update(purpose);
            mac.update(self.domain.as_bytes());
            mac.update(said);
            for (to, from) in signature.iter_mut().zip(mac.finalize().into_bytes()) {
                *to = from;
            }
        }
        signature
    }
}

impl fmt::Debug for ReplyAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replies({}@{})", self.name, self.domain)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replies() -> ReplyAddresses {
        ReplyAddresses::new("Replies@Example.com", [7; 32]).unwrap()
    }

    fn reply() -> ReplyAddress {
        let ask = AskId::new(Ulid::from_parts(1_770_000_000_000, 42));
        ReplyAddress { ask, whom: AddressOwner::of(&Means::email("ada@example.com")) }
    }

    #[test]
    fn an_address_has_room_for_everything_and_is_read_back() {
        let address = replies().address(reply());
        insta::assert_snapshot!(address, @"replies+agobyofeaaaaaaaaaaaaaaaafknwfi5cxtt4q2axzivapz4w7sgrpdid@example.com");
        let local = address.split('@').next().unwrap();
        assert_eq!(local.len(), LONGEST_LOCAL);
        let said = Some(OpenedAddress::Reply(reply()));
        assert_eq!(replies().read(&address), said);
        assert_eq!(replies().read(&address.to_uppercase()), said, "case says nothing");
        let token = replies().token_of(&address.to_uppercase()).unwrap();
        assert_eq!(replies().open(&token), said);
        assert_eq!(format!("{:?}", replies()), "Replies(replies@example.com)");
    }

    /// A2H-113: somebody's own address for an agent is theirs, for that agent, and answers no ask.
    #[test]
    fn an_invitation_names_one_person_and_one_agent() {
        let (agent, human): (AgentId, HumanId) =
            ("agent_dev".parse().unwrap(), "ada".parse().unwrap());
        let address = replies().invitation(Invitation::new(&agent, &human));
        insta::assert_snapshot!(address, @"replies+kmwsmjob3qqtq24rldoo73qd73664qynic6vpxqdbicthr6xgb5p54z3@example.com");
        let Some(OpenedAddress::Invitation(said)) = replies().read(&address.to_uppercase()) else {
            panic!("{address}");
        };
        assert_eq!(said, Invitation::new(&agent, &human));
        assert!(said.is_to(&agent) && said.is_of(&human));
        assert!(!said.is_to(&"agent_dev_2".parse().unwrap()));
        assert!(!said.is_of(&"eve".parse().unwrap()));
        assert_eq!(replies().bare(), "replies@example.com");
        // Whoever knows what it is made of cannot make one, nor one of the other kind.
        let reply = ReplyAddress {
            ask: AskId::new(Ulid::from_bytes(said.agent)),
            whom: AddressOwner::new(said.whom),
        };
        assert_ne!(replies().address(reply), address);
        let other = ReplyAddresses::new("replies@example.com", [8; 32]).unwrap();
        assert_eq!(other.read(&address), None);
    }

    #[test]
    fn no_other_address_is_read() {
        let good = replies().address(reply());
        let token = replies().token(reply());
        let other = AddressOwner::of(&Means::email("eve@example.com"));
        let others = replies().token(ReplyAddress { whom: other, ..reply() });
        let (asked, signed) = (token.get(..26).unwrap(), others.get(26..).unwrap());
        for (what, address) in [
            ("no token", "replies@example.com".to_owned()),
            ("an empty one", "replies+@example.com".to_owned()),
            ("another domain", good.replace("example.com", "example.org")),
            ("a domain inside ours", good.replace("example.com", "mail.example.com")),
            ("another name", good.replace("replies+", "reply+")),
            ("another separator", good.replace("replies+", "replies-")),
            ("one letter less", good.replace(&token, &token[1..])),
            ("one letter more", good.replace(&token, &format!("{token}a"))),
            ("another token behind it", good.replace(&token, &format!("{token}+{token}"))),
            ("no base 32", good.replace(&token, &token.replace('a', "1"))),
            ("no letters", good.replace(&token, &"é".repeat(TOKEN / 2))),
            (
                "another key",
                ReplyAddresses::new("replies@example.com", [8; 32]).unwrap().address(reply()),
            ),
            ("put together", format!("replies+{asked}{signed}@example.com")),
            ("no domain", format!("replies+{token}")),
            ("brackets", format!("<{good}>")),
            ("very long", format!("{}{good}", "a".repeat(100_000))),
            ("nothing", String::new()),
        ] {
            assert_eq!(replies().read(&address), None, "{what}");
        }
        // The same key under another domain: a test system's addresses are not the real one's.
        let elsewhere = ReplyAddresses::new("replies@example.org", [7; 32]).unwrap();
        assert_eq!(elsewhere.open(&token), None);
    }

    #[test]
    fn settings_that_can_and_cannot_be() {
        for address in ["a@b", "reply@example.com", "replies@mail.example.com", " A.B@Example.COM "]
        {
            ReplyAddresses::new(address, [0; 32]).unwrap();
        }
        for address in [
            "",
            "replies",
            "@example.com",
            "replies@",
            "replies@exa mple.com",
            "replies@example..com",
            "replies@-example.com",
            "answers8@example.com",
            "re+ply@example.com",
            "r\"x@example.com",
            ".re@example.com",
            "a\r\n@example.com",
        ] {
            assert!(ReplyAddresses::new(address, [0; 32]).is_err(), "{address}");
        }
        let long = format!("replies@{}.example", "a".repeat(200));
        assert!(ReplyAddresses::new(&long, [0; 32]).is_err());
    }

    #[test]
    fn what_is_ours() {
        for (address, ours) in [
            ("replies@example.com", true),
            ("REPLIES+whatever@EXAMPLE.com", true),
            ("ada@example.com", false),
            ("replies@example.org", false),
            ("replies", false),
        ] {
            assert_eq!(replies().is_ours(address), ours, "{address}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_signed_is_read_and_nothing_else(
            ask in any::<u128>(), whom in any::<[u8; WHOM]>(), at in 0..TOKEN, to in "[a-z2-7]"
        ) {
            let reply = ReplyAddress { ask: AskId::new(Ulid(ask)), whom: AddressOwner::new(whom) };
            let token = replies().token(reply);
            prop_assert_eq!(replies().open(&token), Some(OpenedAddress::Reply(reply)));
            let mut changed = token.clone();
            changed.replace_range(at..=at, &to);
            prop_assert_eq!(replies().open(&changed).is_some(), changed == token);
        }

        #[test]
        fn no_text_breaks_it(text in "\\PC*") {
            let address = format!("replies+{text}@example.com");
            prop_assert_eq!(replies().read(&address), None);
            prop_assert_eq!(replies().open(&text), None);
        }
    }
}
