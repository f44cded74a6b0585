//! Addresses for inbound emails. A sender who writes to one has read the email or the page that
//! showed it. The server trusts this address, and never `From:`, which anyone can forge.
//!
//! ```text
//! replies+<56 base 32 characters>@example.com
//!         16 bytes: ask or agent · 8 bytes: person it was issued to · 11 bytes: signature
//! ```
//!
//! A reply address is for one ask. An [`Invitation`] belongs to one person and one agent, and is
//! valid as long as the person may write to the agent. The signature distinguishes the two.
//!
//! Mail systems may change the case of the part before the `@`, and limit it to 64 bytes. The 35
//! bytes are therefore encoded in base 32, which leaves 7 for the name and ignores case.

use std::fmt;

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::audit::Digest;
use kernel::directory::ContactMethod;
use kernel::{AgentId, AskId, HumanId};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use ulid::Ulid;

/// The longest local part (RFC 5321, 4.5.3.1.1).
const LONGEST_LOCAL: usize = 64;
/// The longest address (the path of RFC 5321, 4.5.3.1.3, without its brackets).
const LONGEST_ADDRESS: usize = 254;
const SUBJECT_BYTES: usize = 16;
const OWNER_BYTES: usize = 8;
const SIGNATURE: usize = 11;
const BYTES: usize = SUBJECT_BYTES + OWNER_BYTES + SIGNATURE;
/// The length of a token as text.
const TOKEN: usize = BYTES * 8 / 5;
/// The longest name before the token.
const LONGEST_NAME: usize = LONGEST_LOCAL - TOKEN - 1;
/// The purpose is part of the signed data, so that a signature for another purpose under the same
/// key is invalid here.
const ANSWER: &[u8] = b"an answer by mail";
const INVITATION: &[u8] = b"a conversation by mail";

/// Creates and reads the addresses that answers go to.
#[derive(Clone)]
pub struct ReplyAddresses {
    name: String,
    domain: String,
    key: [u8; 32],
}

/// The person an address was issued to: a truncated digest that distinguishes people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressOwner([u8; OWNER_BYTES]);

impl AddressOwner {
    /// The person who reads messages sent by this contact method.
    pub fn of(means: &ContactMethod) -> Self {
        Self::from_digest(&means.digest())
    }

    /// The same, by the digest of the contact method.
    pub fn from_digest(mark: &Digest) -> Self {
        let mut whom = [0; OWNER_BYTES];
        for (to, from) in whom.iter_mut().zip(mark.0) {
            *to = from;
        }
        Self(whom)
    }

    /// A person who is identified by something other than a contact method.
    pub const fn new(bytes: [u8; OWNER_BYTES]) -> Self {
        Self(bytes)
    }
}

/// As it is stored.
impl fmt::Display for AddressOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// The content of a reply address: the ask and the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyAddress {
    /// The ask to answer.
    pub ask: AskId,
    /// The person the address was issued to.
    pub whom: AddressOwner,
}

/// The content of an address at which a person writes to an agent. It holds digests, because the
/// names are too long. A caller who knows both names can compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invitation {
    agent: [u8; SUBJECT_BYTES],
    whom: [u8; OWNER_BYTES],
}

impl Invitation {
    /// The invitation of this person to this agent.
    pub fn new(agent: &AgentId, human: &HumanId) -> Self {
        Self { agent: named(agent.as_str()), whom: named(human.as_str()) }
    }

    /// Whether the invitation is for this agent.
    pub fn is_to(&self, agent: &AgentId) -> bool {
        self.agent == named(agent.as_str())
    }

    /// Whether the invitation belongs to this person.
    pub fn is_of(&self, human: &HumanId) -> bool {
        self.whom == named(human.as_str())
    }
}

/// The beginning of the digest of a name.
fn named<const N: usize>(name: &str) -> [u8; N] {
    let mut some = [0; N];
    for (to, from) in some.iter_mut().zip(Digest::of(name.as_bytes()).0) {
        *to = from;
    }
    some
}

/// The content of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedAddress {
    /// A reply to one ask.
    Reply(ReplyAddress),
    /// An invitation to write to an agent.
    Invitation(Invitation),
}

/// Why replies cannot go to an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReplyAddress {
    /// It is not an email address.
    #[error("expected an address such as replies@example.com")]
    NoAddress,
    /// It is too long to add a token.
    #[error(
        "{0} leaves no room for a token: the part before the @ can have at most 7 characters of \
         A-Z, a-z, 0-9, . and -"
    )]
    Name(String),
}

impl ReplyAddresses {
    /// Replies go to this address, with a token after a `+`. The key must have no other use.
    pub fn new(address: &str, key: [u8; 32]) -> Result<Self, InvalidReplyAddress> {
        let address = address.trim().to_ascii_lowercase();
        let (name, domain) = address.rsplit_once('@').ok_or(InvalidReplyAddress::NoAddress)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        let labels = |domain: &str| {
            domain
                .split('.')
                .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
        };
        if domain.is_empty() || !domain.chars().all(plain) || !labels(domain) {
            return Err(InvalidReplyAddress::NoAddress);
        }
        if name.is_empty()
            || name.len() > LONGEST_NAME
            || !name.chars().all(plain)
            || name.split('.').any(str::is_empty)
            || name.len() + 1 + TOKEN + 1 + domain.len() > LONGEST_ADDRESS
        {
            return Err(InvalidReplyAddress::Name(name.to_owned()));
        }
        Ok(Self { name: name.to_owned(), domain: domain.to_owned(), key })
    }

    /// The address for this person's answers to this ask. Always the same.
    pub fn address(&self, reply: ReplyAddress) -> String {
        format!("{}+{}@{}", self.name, self.token(reply), self.domain)
    }

    /// The token of such an address.
    pub fn token(&self, ReplyAddress { ask, whom }: ReplyAddress) -> String {
        self.sealed_token(ANSWER, &ask.ulid().to_bytes(), whom.0)
    }

    /// The address at which a person writes to an agent. Always the same.
    pub fn invitation(&self, Invitation { agent, whom }: Invitation) -> String {
        format!("{}+{}@{}", self.name, self.sealed_token(INVITATION, &agent, whom), self.domain)
    }

    /// The address without a token. An email to it is not accepted as an answer.
    pub fn without_token(&self) -> String {
        format!("{}@{}", self.name, self.domain)
    }

    fn sealed_token(
        &self,
        purpose: &[u8],
        what: &[u8; SUBJECT_BYTES],
        whom: [u8; OWNER_BYTES],
    ) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(what);
        bytes.extend_from_slice(&whom);
        let signature = self.signature(purpose, &bytes);
        bytes.extend_from_slice(&signature);
        BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
    }

    /// The content of an address, if this server issued it.
    pub fn read(&self, address: &str) -> Option<OpenedAddress> {
        self.open(&self.token_in(address)?)
    }

    /// The token of an address in lower case, if this server issued it and the token is valid.
    pub fn token_of(&self, address: &str) -> Option<String> {
        let token = self.token_in(address)?;
        self.open(&token).map(|_| token)
    }

    /// The content of a token, if this server issued it.
    pub fn open(&self, token: &str) -> Option<OpenedAddress> {
        if token.len() != TOKEN {
            return None;
        }
        let bytes = BASE32_NOPAD.decode(token.to_ascii_uppercase().as_bytes()).ok()?;
        let (said, signature) = bytes.split_at_checked(SUBJECT_BYTES + OWNER_BYTES)?;
        let is_for =
            |purpose: &[u8]| -> bool { self.signature(purpose, said).ct_eq(signature).into() };
        let (what, whom) = said.split_first_chunk::<SUBJECT_BYTES>()?;
        let whom = *whom.first_chunk::<OWNER_BYTES>()?;
        if is_for(ANSWER) {
            let ask = AskId::new(Ulid::from_bytes(*what));
            return Some(OpenedAddress::Reply(ReplyAddress { ask, whom: AddressOwner(whom) }));
        }
        is_for(INVITATION).then_some(OpenedAddress::Invitation(Invitation { agent: *what, whom }))
    }

    /// Whether the address belongs to this server, with or without a token.
    pub fn is_ours(&self, address: &str) -> bool {
        let address = address.to_ascii_lowercase();
        address.rsplit_once('@').is_some_and(|(local, domain)| {
            domain == self.domain && local.split('+').next() == Some(self.name.as_str())
        })
    }

    /// The domain that replies go to.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    fn token_in(&self, address: &str) -> Option<String> {
        // No address of this server is longer, and some emails name thousands of addresses.
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
        // HMAC takes keys of any length, so this never fails.
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
        ReplyAddress { ask, whom: AddressOwner::of(&ContactMethod::email("ada@example.com")) }
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

    /// A2H-113: an invitation is for one person and one agent, and answers no ask.
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
        assert_eq!(replies().without_token(), "replies@example.com");
        // Knowing the contents is not enough to forge an address, or to turn one kind
        // into the other.
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
        let other = AddressOwner::of(&ContactMethod::email("eve@example.com"));
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
        // The same key with another domain: addresses of a test system are invalid on
        // the production system.
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
            ask in any::<u128>(), whom in any::<[u8; OWNER_BYTES]>(), at in 0..TOKEN, to in "[a-z2-7]"
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
