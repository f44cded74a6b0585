//! Laws of Merkle trees and their proofs.

use kernel::audit::Digest;
use kernel::seal::{MerkleTree, path, proves};
use proptest::prelude::*;
use proptest::sample::Index;

/// Some record hashes, no two alike.
fn records() -> impl Strategy<Value = Vec<Digest>> {
    (1..200_u32, any::<u32>()).prop_map(|(n, seed)| {
        let one = |i: u32| Digest::of(&[seed.to_be_bytes(), i.to_be_bytes()].concat());
        (0..n).map(one).collect()
    })
}

fn root(records: &[Digest]) -> Digest {
    let mut tree = MerkleTree::default();
    tree.extend(records.iter().copied());
    tree.root()
}

fn flip(digest: Digest, bit: Index) -> Digest {
    let mut bytes = digest.0;
    let bit = bit.index(256);
    bytes[bit / 8] ^= 1 << (bit % 8);
    Digest(bytes)
}

proptest! {
    // Each case hashes tens of thousands of nodes.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_record_has_a_path_that_proves_it(records in records()) {
        let (root, count) = (root(&records), records.len() as u64);
        for (index, record) in records.iter().enumerate() {
            let path = path(&records, index).unwrap();
            prop_assert!(path.len() <= 8);
            prop_assert!(proves(*record, index as u64, count, &path, root), "{}", index);
        }
        prop_assert_eq!(path(&records, records.len()), None);
    }

    #[test]
    fn nothing_else_is_proven(
        records in records(),
        at in any::<Index>(),
        bit in any::<Index>(),
        step in any::<Index>(),
        other in any::<Index>(),
    ) {
        let (root, count) = (root(&records), records.len() as u64);
        let index = at.index(records.len());
        let (record, path) = (records[index], path(&records, index).unwrap());
        let holds = |record, index: usize, path: &[Digest], root| {
            proves(record, index as u64, count, path, root)
        };
        prop_assert!(holds(record, index, &path, root));
        prop_assert!(!holds(flip(record, bit), index, &path, root));
        prop_assert!(!holds(record, index, &path, flip(root, bit)));
        let other = other.index(records.len());
        if other != index {
            prop_assert!(!holds(record, other, &path, root), "{} for {}", other, index);
            prop_assert!(!holds(records[other], index, &path, root));
        }
        prop_assert!(!holds(record, records.len(), &path, root));
        let longer = [path.clone(), vec![record]].concat();
        prop_assert!(!holds(record, index, &longer, root));
        if !path.is_empty() {
            let step = step.index(path.len());
            let mut flipped = path.clone();
            flipped[step] = flip(flipped[step], bit);
            prop_assert!(!holds(record, index, &flipped, root));
            prop_assert!(!holds(record, index, &path[1..], root));
        }
    }

    /// A tree grown in steps is the tree of the whole, and each size has its own root.
    #[test]
    fn a_tree_grows_to_the_same_root(records in records()) {
        let mut tree = MerkleTree::default();
        let mut roots = std::collections::BTreeSet::new();
        for (n, record) in records.iter().enumerate() {
            tree.push(*record);
            prop_assert_eq!(tree.root(), root(&records[..=n]));
            prop_assert!(roots.insert(tree.root()));
        }
        prop_assert_eq!(tree.len(), records.len() as u64);
    }
}
