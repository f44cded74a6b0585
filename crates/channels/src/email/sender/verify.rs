//! Verifies the signatures of an email with keys from the DNS.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernel::{SenderVerification, Time};
use mail_auth::arc::Set;
use mail_auth::common::cache::NoCache;
use mail_auth::common::crypto::Algorithm;
use mail_auth::common::verify::{DomainKey, VerifySignature};
use mail_auth::dkim::{DkimError, Signature};
use mail_auth::hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use mail_auth::hickory_resolver::system_conf::read_system_conf;
use mail_auth::{
    AuthenticatedMessage, DkimResult, DnsError, Error, MessageAuthenticator, Parameters,
    ResolverCache, Txt,
};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{headers, results};
use crate::sender_claim::{SenderClaim, UnverifiedSender};

/// The most signatures of one email that are checked. More of them would only cost time.
const MOST_SIGNATURES: usize = 5;
/// The most forwarders that an email may have passed.
const MOST_SEALS: usize = 10;
/// The most emails that are verified concurrently. Others wait, within their own timeout.
const AT_ONCE: usize = 16;
/// The flag of a key record that is marked as a test (`t=y`, RFC 6376, 3.6.1): emails signed with
/// it count as unsigned.
const TESTING: u64 = 0x10;

/// The name servers for keys, and the trusted forwarders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderSettings {
    /// The name servers for keys.
    pub dns: Dns,
    /// The timeout for verifying one email, with all lookups.
    pub timeout: Duration,
    /// Domains whose ARC seals are trusted, in lower case.
    pub arc_sealers: Vec<String>,
}

/// The name servers for keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dns {
    /// The name servers of this machine.
    System,
    /// These name servers.
    Servers(Vec<SocketAddr>),
    /// None: senders are not verified.
    Off,
}

/// Verifies the senders of emails.
pub struct SenderVerifier {
    /// Absent if senders are not verified.
    resolver: Option<MessageAuthenticator>,
    timeout: Duration,
    arc_sealers: Vec<String>,
    turns: Semaphore,
}

impl fmt::Debug for SenderVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderVerifier")
            .field("enabled", &self.is_enabled())
            .finish_non_exhaustive()
    }
}

impl SenderVerifier {
    /// A verifier with these settings. A machine without name servers still accepts replies, but
    /// verifies no senders.
    pub fn new(settings: SenderSettings) -> Result<Self, String> {
        let config = match &settings.dns {
            Dns::Off => None,
            Dns::System => match read_system_conf() {
                Ok((config, _)) => Some(config),
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "cannot find the name servers of this machine, so senders of emails are \
                         not verified; set mail_dns"
                    );
                    None
                }
            },
            Dns::Servers(servers) => Some(named(servers)),
        };
        let resolver =
            config.map(|config| MessageAuthenticator::new(config, options(settings.timeout)));
        let resolver = resolver.transpose().map_err(|error| error.to_string())?;
        let SenderSettings { timeout, arc_sealers, .. } = settings;
        Ok(Self { resolver, timeout, arc_sealers, turns: Semaphore::new(AT_ONCE) })
    }

    /// Whether senders are verified.
    pub fn is_enabled(&self) -> bool {
        self.resolver.is_some()
    }

    /// Verifies that an email came from the address it claims. Finishes within the configured
    /// timeout. A DNS failure is a reason like any other, and is not retried.
    pub async fn verify(
        &self,
        claim: &SenderClaim,
        now: Time,
    ) -> Result<SenderVerification, UnverifiedSender> {
        let Some(resolver) = &self.resolver else { return Err(UnverifiedSender::Disabled) };
        let judged = async {
            let _turn = self.turns.acquire().await.map_err(|_| UnverifiedSender::Lookup)?;
            self.judge(resolver, claim, now).await
        };
        timeout(self.timeout, judged).await.unwrap_or(Err(UnverifiedSender::Lookup))
    }

    async fn judge(
        &self,
        resolver: &MessageAuthenticator,
        claim: &SenderClaim,
        now: Time,
    ) -> Result<SenderVerification, UnverifiedSender> {
        let mut message =
            AuthenticatedMessage::parse(&claim.raw).ok_or(UnverifiedSender::Malformed)?;
        // Both parsers must find the same headers. Otherwise the signature would cover other
        // headers than the ones read.
        if message.headers.len() != claim.fields {
            return Err(UnverifiedSender::Malformed);
        }
        let keys = DkimKeys::default();
        let mut why = partial(&message).unwrap_or(UnverifiedSender::Unsigned);
        message.dkim_headers.retain(|header| {
            match acceptable(claim, &header.header, now) {
                Ok(()) => true,
                // A failed signature of another domain is not worth reporting.
                Err(UnverifiedSender::Unsigned) => false,
                Err(reason) => {
                    why = reason;
                    false
                }
            }
        });
        message.dkim_headers.truncate(MOST_SIGNATURES);
        for header in &message.dkim_headers {
            if let Err(reason) = keys.look_up(resolver, &header.header).await {
                why = reason;
            }
        }
        let checked = resolver.verify_dkim(Parameters::new(&message).with_txt_cache(&keys)).await;
        for output in checked {
            let Some(signature) = output.signature() else { continue };
            match output.result() {
                DkimResult::Pass => {
                    return Ok(SenderVerification::Dkim {
                        domain: signature.d.to_ascii_lowercase(),
                    });
                }
                DkimResult::Neutral(Error::Dkim(DkimError::FailedBodyHashMatch)) => {
                    why = UnverifiedSender::Changed;
                }
                DkimResult::Neutral(Error::Dkim(DkimError::SignatureExpired)) => {
                    why = UnverifiedSender::Expired;
                }
                DkimResult::Fail(_) | DkimResult::Neutral(_) => why = UnverifiedSender::Invalid,
                // The key lookup already determined the reason.
                DkimResult::PermError(_) | DkimResult::TempError(_) | DkimResult::None => {}
            }
        }
        match self.verify_forwarders(resolver, claim, &message, &keys, now).await {
            Some(sealed) => Ok(sealed),
            None => Err(why),
        }
    }

    /// Checks the statements of forwarders. The operator must trust all forwarders that the email
    /// passed, because each of them could change it.
    async fn verify_forwarders(
        &self,
        resolver: &MessageAuthenticator,
        claim: &SenderClaim,
        message: &AuthenticatedMessage<'_>,
        keys: &DkimKeys,
        now: Time,
    ) -> Option<SenderVerification> {
        let trusted = |domain: &str| {
            self.arc_sealers.iter().any(|sealer| sealer.eq_ignore_ascii_case(domain))
        };
        let (seals, signatures) = (&message.as_headers, &message.ams_headers);
        let last = &signatures.last()?.header;
        let acceptable = seals.len() <= MOST_SEALS
            && seals.iter().all(|seal| trusted(&seal.header.d) && is_sound(seal.header.a))
            && trusted(&last.d)
            && is_sound(last.a)
            && claim.is_covered_by(&last.h)
            && !is_expired(last.x, now);
        if !acceptable {
            return None;
        }
        keys.look_up(resolver, last).await.ok()?;
        for seal in seals {
            keys.look_up(resolver, &seal.header).await.ok()?;
        }
        let chain = resolver.verify_arc(Parameters::new(message).with_txt_cache(keys)).await;
        if *chain.result() != DkimResult::Pass {
            return None;
        }
        let sealer = chain.sets().last()?.seal.header.d.to_ascii_lowercase();
        let says = |set: &Set<'_>| results::dkim_domains(set.results.value).unwrap_or_default();
        let mut domains = chain.sets().iter().flat_map(says);
        let domain = domains.find(|domain| claim.is_aligned_with(domain))?;
        Some(SenderVerification::Arc { domain, sealer })
    }
}

/// Whether a signature can prove the sender. Checked before its key is looked up.
fn acceptable(
    claim: &SenderClaim,
    signature: &Signature,
    now: Time,
) -> Result<(), UnverifiedSender> {
    if !claim.is_aligned_with(&signature.d) {
        return Err(UnverifiedSender::Unsigned);
    }
    if signature.l != 0 {
        return Err(UnverifiedSender::PartialBody);
    }
    if !is_sound(signature.a) || signature.v != 1 {
        return Err(UnverifiedSender::Invalid);
    }
    if !claim.is_covered_by(&signature.h) {
        return Err(UnverifiedSender::NotCovered);
    }
    if is_expired(signature.x, now) {
        return Err(UnverifiedSender::Expired);
    }
    Ok(())
}

/// SHA-1 is obsolete (RFC 8301).
fn is_sound(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::RsaSha256 | Algorithm::Ed25519Sha256)
}

fn is_expired(until: u64, now: Time) -> bool {
    let now = u64::try_from(now.millis().div_euclid(1000)).unwrap_or_default();
    until != 0 && until <= now
}

/// Whether a signature was skipped because it covers only a part of the body.
fn partial(message: &AuthenticatedMessage<'_>) -> Option<UnverifiedSender> {
    let partial = |error: &Error| *error == Error::Dkim(DkimError::SignatureLength);
    message
        .errors
        .iter()
        .any(|found| partial(&found.header))
        .then_some(UnverifiedSender::PartialBody)
}

/// These name servers, over UDP, with TCP for long answers.
fn named(servers: &[SocketAddr]) -> ResolverConfig {
    let server = |server: &SocketAddr| {
        let mut named = NameServerConfig::udp_and_tcp(server.ip());
        named.connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
        for connection in &mut named.connections {
            connection.port = server.port();
        }
        named
    };
    ResolverConfig::from_name_servers(servers.iter().map(server).collect())
}

fn options(whole: Duration) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    // One retry for a lost packet, within the timeout.
    options.attempts = 1;
    options.timeout = whole / 2;
    options.use_hosts_file = ResolveHosts::Never;
    options
}

/// The keys of one email. It serves only signatures that were found acceptable before.
#[derive(Default)]
struct DkimKeys(Mutex<HashMap<Box<str>, Txt>>);

impl DkimKeys {
    /// Looks up the key of a signature, unless it is already known.
    async fn look_up(
        &self,
        resolver: &MessageAuthenticator,
        signature: &impl VerifySignature,
    ) -> Result<(), UnverifiedSender> {
        let name = signature.domain_key().to_ascii_lowercase();
        if !headers::is_domain(name.trim_end_matches('.')) {
            return Err(UnverifiedSender::Invalid);
        }
        if self.get::<str>(&name).is_some_and(|known| matches!(known, Txt::DomainKey(_))) {
            return Ok(());
        }
        let none: Option<&NoCache<Box<str>, Txt>> = None;
        let (found, why) = match resolver.txt_lookup::<DomainKey>(name.as_str(), none).await {
            Ok(key) if key.has_flag(TESTING) => {
                (Txt::Error(Error::Dkim(DkimError::RevokedPublicKey)), Err(UnverifiedSender::NoKey))
            }
            Ok(key) => (Txt::DomainKey(key), Ok(())),
            Err(error @ Error::Dns(DnsError::Resolver(_))) => {
                (Txt::Error(error), Err(UnverifiedSender::Lookup))
            }
            Err(error) => (Txt::Error(error), Err(UnverifiedSender::NoKey)),
        };
        self.insert(name.into(), found, Instant::now());
        why
    }
}

impl ResolverCache<Box<str>, Txt> for DkimKeys {
    fn get<Q>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        Some(known.unwrap_or(Txt::Error(Error::Dns(DnsError::InvalidRecordType))))
    }

    fn remove<Q>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    fn insert(&self, name: Box<str>, key: Txt, _: Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, key);
    }
}
