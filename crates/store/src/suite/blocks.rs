//! Blocks: one chain that never forks, lookups by number and position, and the reads
//! of the verification.

use kernel::audit::Digest;
use kernel::seal::{Block, MerkleTree};
use kernel::testing::{new_ask, yes};
use kernel::{Actor, Ask, AskCommand, Entity};

use super::stage::{Stage, person};
use crate::{SealedBlock, StoredChain};

/// A block over the next `count` records after `last`, without a valid signature.
pub async fn next_block(stage: &Stage, last: Option<&Block>, count: u64) -> SealedBlock {
    let first = last.map_or(1, Block::end);
    let limit = usize::try_from(count).unwrap();
    let hashes = stage.store.hashes(first - 1, limit).await.unwrap();
    let mut tree = MerkleTree::default();
    tree.extend(hashes.into_iter().map(|(_, hash)| hash));
    let block = Block {
        issuer: "http://localhost".to_owned(),
        n: last.map_or(1, |last| last.n + 1),
        first,
        count,
        root: tree.root(),
        prev: last.map_or(Digest::ZERO, Block::hash),
        at: stage.now(),
    };
    let jws = format!("signed {}", block.n);
    SealedBlock { block, jws }
}

/// Three blocks over the first six records.
async fn three(stage: &Stage) -> Vec<SealedBlock> {
    let mut sealed: Vec<SealedBlock> = Vec::new();
    for count in [1, 3, 2] {
        let next = next_block(stage, sealed.last().map(|sealed| &sealed.block), count).await;
        assert!(stage.store.append_block(next.clone()).await.unwrap());
        sealed.push(next);
    }
    sealed
}

pub async fn a_block_follows_the_last(stage: &Stage) {
    assert_eq!(stage.store.block(crate::BlockQuery::Last).await.unwrap(), None);
    let sealed = three(stage).await;
    assert_eq!(stage.store.block(crate::BlockQuery::Last).await.unwrap().as_ref(), sealed.last());
    assert_eq!(stage.store.blocks(0, 100).await.unwrap(), sealed);
}

pub async fn what_does_not_follow_is_refused(stage: &Stage) {
    let one = next_block(stage, None, 2).await;
    let changed = |change: fn(&mut Block)| {
        let mut other = one.clone();
        change(&mut other.block);
        other
    };
    let there = stage.store.last_position().await.unwrap();
    let too_far = next_block(stage, None, there + 1).await;
    for refused in [
        changed(|block| block.n = 2),
        changed(|block| block.prev = Digest::of(b"x")),
        changed(|block| block.first = 2),
        changed(|block| block.count = 0),
        too_far,
    ] {
        assert!(!stage.store.append_block(refused.clone()).await.unwrap(), "{refused:?}");
    }
    assert!(stage.store.append_block(one.clone()).await.unwrap());
    assert!(!stage.store.append_block(one.clone()).await.unwrap(), "not twice");
    let mut forked = next_block(stage, Some(&one.block), 1).await;
    forked.block.prev = Digest::ZERO;
    assert!(!stage.store.append_block(forked).await.unwrap());
    assert_eq!(stage.store.blocks(0, 100).await.unwrap(), [one]);
}

pub async fn of_many_sealers_one_wins(stage: &Stage) {
    let mut last: Option<Block> = None;
    for _ in 0..3 {
        let mut sealing = tokio::task::JoinSet::new();
        for n in 0..8 {
            let mut mine = next_block(stage, last.as_ref(), 1 + n % 2).await;
            mine.jws = format!("by {n}");
            let store = std::sync::Arc::clone(&stage.store);
            sealing.spawn(async move { store.append_block(mine).await.unwrap() });
        }
        let won = sealing.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1);
        last = stage.store.block(crate::BlockQuery::Last).await.unwrap().map(|sealed| sealed.block);
    }
    let blocks = stage.store.blocks(0, 100).await.unwrap();
    assert!(blocks.windows(2).all(|two| two[1].block.prev == two[0].block.hash()));
}

pub async fn a_position_finds_its_block(stage: &Stage) {
    assert_eq!(stage.store.block(crate::BlockQuery::At(1)).await.unwrap(), None);
    three(stage).await;
    let mut found = Vec::new();
    for position in 0..8 {
        found.push(
            stage
                .store
                .block(crate::BlockQuery::At(position))
                .await
                .unwrap()
                .map(|sealed| sealed.block.n),
        );
    }
    assert_eq!(
        found,
        [None, Some(1), Some(2), Some(2), Some(2), Some(3), Some(3), None],
        "positions 0 to 7"
    );
}

pub async fn blocks_come_in_pages(stage: &Stage) {
    let sealed = three(stage).await;
    assert_eq!(stage.store.blocks(0, 2).await.unwrap(), sealed[..2]);
    assert_eq!(stage.store.blocks(2, 2).await.unwrap(), sealed[2..]);
    assert_eq!(stage.store.blocks(3, 2).await.unwrap(), []);
}

pub async fn anchoring_is_remembered(stage: &Stage) {
    assert_eq!(stage.store.anchored().await.unwrap(), None);
    stage.store.anchor(0).await.unwrap();
    assert_eq!(stage.store.anchored().await.unwrap(), Some(0));
    stage.store.anchor(3).await.unwrap();
    stage.store.anchor(2).await.unwrap();
    assert_eq!(stage.store.anchored().await.unwrap(), Some(3), "it never goes back");
}

/// A few asks, one of them erased.
async fn play(stage: &Stage) {
    for n in 0..4 {
        let id = stage.ask(new_ask()).await;
        stage.run(person("olga"), AskCommand::Open(id)).await;
        stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
        if n == 1 {
            stage.run(Actor::System, AskCommand::Erase(id)).await;
        }
    }
}

pub async fn hashes_are_those_of_the_records(stage: &Stage) {
    play(stage).await;
    let records = stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap();
    let all: Vec<_> = records.iter().map(|(position, record)| (*position, record.hash)).collect();
    assert_eq!(stage.store.hashes(0, 1000).await.unwrap(), all);
    assert_eq!(stage.store.hashes(3, 2).await.unwrap(), all[3..5]);
    let (last, record) = records.last().unwrap();
    assert_eq!(stage.store.last_position().await.unwrap(), *last);
    let found = stage.store.position(record.subject.clone(), record.seq).await.unwrap();
    assert_eq!(found, Some(*last));
    assert_eq!(stage.store.position(record.subject.clone(), 99).await.unwrap(), None);
}

pub async fn rows_are_the_records(stage: &Stage) {
    play(stage).await;
    let records = stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap();
    let rows = stage.store.rows(crate::FeedQuery::After(0), 1000).await.unwrap();
    assert_eq!(rows.len(), records.len());
    for (row, (position, record)) in rows.iter().zip(&records) {
        assert_eq!(row.position, *position);
        assert_eq!(row.open().unwrap(), record.event().unwrap());
    }
    assert_eq!(stage.store.rows(crate::FeedQuery::After(2), 3).await.unwrap(), rows[2..5]);
}

pub async fn chains_are_whole_and_have_their_state(stage: &Stage) {
    play(stage).await;
    let mut by_subject = stage.store.rows(crate::FeedQuery::After(0), 1000).await.unwrap();
    by_subject.sort_by(|a, b| (&a.subject, a.seq).cmp(&(&b.subject, b.seq)));
    for limit in [1, 2, 5, 1000] {
        let (mut chains, mut after): (Vec<StoredChain>, _) = (Vec::new(), None);
        loop {
            let page = stage.store.chains(after, limit).await.unwrap();
            chains.extend(page.chains);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let joined: Vec<_> = chains.iter().flat_map(|chain| chain.rows.clone()).collect();
        assert_eq!(joined, by_subject, "{limit} at a time");
        assert!(chains.is_sorted_by(|one, next| one.subject < next.subject));
        for chain in chains {
            let held = chain.state.unwrap();
            let entity = if chain.subject.starts_with("ask_") {
                let ask: Ask = serde_json::from_str(&held.state).unwrap();
                Entity::Ask(Box::new(ask))
            } else {
                serde_json::from_str(&held.state).unwrap()
            };
            assert_eq!(entity.subject().to_string(), chain.subject);
            assert_eq!(entity.head().seq, held.version);
            assert_eq!(chain.rows.last().unwrap().seq, held.version);
        }
    }
}
