//! From a receipt to a sealed block of the record, each step of the way.

use dialects::proof::record_check::{Inclusion, InclusionError, LinkedRecord};
use dialects::proof::{BLOCK, Jwks, NameDisclosure, ProofError, ReceiptClaims};
use kernel::audit::Digest;
use kernel::command::AskCommand;
use kernel::seal::Block;
use kernel::testing::{Cast, new_ask, yes};

use crate::fixtures::{current, stranger, trusted};

fn node(l: Digest, r: Digest) -> Digest {
    Digest::of(&[&[1], l.0.as_slice(), &r.0].concat())
}

fn leaf(hash: Digest) -> Digest {
    Digest::of(&[&[0], hash.0.as_slice()].concat())
}

/// An answered ask, and the proof that its answer is the last of three events in a block.
fn told() -> (ReceiptClaims, Inclusion) {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let claims =
        ReceiptClaims::of(cast.seen(id), "https://countersign.example", NameDisclosure::Shown);
    let last: Vec<_> = cast.records().iter().rev().take(3).cloned().collect();
    let [answered, opened, asked] = last.try_into().unwrap();
    let pair = node(leaf(asked.hash), leaf(opened.hash));
    let block = Block {
        issuer: "https://countersign.example".to_owned(),
        n: 1,
        first: 9,
        count: 3,
        root: node(pair, leaf(answered.hash)),
        prev: Digest::ZERO,
        at: cast.now(),
    };
    let record = LinkedRecord {
        subject: answered.subject.to_string(),
        seq: answered.seq,
        prev: answered.prev,
        hash: answered.hash,
        body: Some(answered.body.clone()),
    };
    let block = current().sign(BLOCK, &block);
    (claims.unwrap(), Inclusion { record, position: 11, index: 2, path: vec![pair], block })
}

#[test]
fn every_step_is_checked() {
    let (claims, proof) = told();
    assert_eq!(proof.check(&claims, &trusted()).unwrap().n, 1);
    let harmed = |harm: &dyn Fn(&mut Inclusion)| {
        let mut proof = proof.clone();
        harm(&mut proof);
        proof.check(&claims, &trusted()).unwrap_err()
    };
    assert_eq!(
        harmed(&|proof| proof.record.body.as_mut().unwrap().push(' ')),
        InclusionError::Hash
    );
    assert_eq!(harmed(&|proof| proof.record.prev = Digest::ZERO), InclusionError::Hash);
    assert_eq!(harmed(&|proof| proof.record.seq = 2), InclusionError::OtherEvent);
    assert_eq!(harmed(&|proof| proof.record.subject.push('0')), InclusionError::OtherEvent);
    assert_eq!(harmed(&|proof| proof.index = 1), InclusionError::Path);
    assert_eq!(harmed(&|proof| proof.path.clear()), InclusionError::Path);
    assert_eq!(harmed(&|proof| proof.path[0] = Digest::ZERO), InclusionError::Path);
    let forged = harmed(&|proof| {
        let other = stranger().sign(BLOCK, &1);
        let (signed, _) = proof.block.rsplit_once('.').unwrap();
        proof.block = format!("{signed}.{}", other.rsplit_once('.').unwrap().1);
    });
    assert_eq!(forged, InclusionError::Block(ProofError::Signature));
    let kid = current().public().kid;
    let nothing = proof.check(&claims, &Jwks::default());
    assert_eq!(nothing, Err(InclusionError::Block(ProofError::UnknownKey { kid })));
}
