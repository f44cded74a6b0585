//! A name server with TXT records, for the public keys of signatures.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// How the name server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DnsBehavior {
    /// It answers from its records.
    Answers,
    /// It answers with a server failure.
    Fails,
    /// It never answers.
    Silent,
}

/// A name server on loopback over UDP. It stops when it is dropped.
#[derive(Debug)]
pub struct NameServer {
    /// The address it listens on.
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl NameServer {
    /// A name server with these records: names without a trailing dot, and texts.
    pub async fn open(records: &[(String, String)], mood: DnsBehavior) -> io::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        let address = socket.local_addr()?;
        let records: HashMap<String, String> = records.iter().cloned().collect();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        // The task ends when the set is dropped.
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut buffer = [0; 2048];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                counted.fetch_add(1, Ordering::SeqCst);
                let query = buffer.get(..length).unwrap_or_default();
                if let Some(answer) = answer(query, &records, mood) {
                    // The client may be gone.
                    let _ = socket.send_to(&answer, from).await;
                }
            }
        });
        Ok(Self { address, asked, _serving: serving })
    }

    /// The number of queries so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The answer to one query (RFC 1035, 4).
fn answer(query: &[u8], records: &HashMap<String, String>, mood: DnsBehavior) -> Option<Vec<u8>> {
    let (mut name, mut at) = (Vec::new(), 12);
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        name.push(String::from_utf8_lossy(query.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let question = query.get(12..at + 4)?;
    let known = records.get(&name.join("."));
    let code: u8 = match (mood, known) {
        (DnsBehavior::Silent, _) => return None,
        (DnsBehavior::Fails, _) => 2,
        (DnsBehavior::Answers, Some(_)) => 0,
        (DnsBehavior::Answers, None) => 3,
    };
    let known = known.filter(|_| mood == DnsBehavior::Answers);
    let mut answer = query.get(..2)?.to_vec();
    answer.extend([0x85, 0x80 | code, 0, 1, 0, u8::from(known.is_some()), 0, 0, 0, 0]);
    answer.extend(question);
    if let Some(text) = known {
        let mut data = Vec::new();
        for part in text.as_bytes().chunks(255) {
            data.push(u8::try_from(part.len()).ok()?);
            data.extend(part);
        }
        // The name of the query, TXT, IN, a TTL of one minute.
        answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
        answer.extend(u16::try_from(data.len()).ok()?.to_be_bytes());
        answer.extend(data);
    }
    Some(answer)
}
