//! Power loss: reverts a directory to its synced state, with the notes of `shim/disk.c`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::random::SeededRandom;

/// Disks write whole sectors, in any order.
const SECTOR: usize = 512;
const MAGIC: u32 = 0x4f44_4e55;
const HEAD: usize = 32;

/// Which unsynced changes survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsyncedFate {
    /// All unsynced changes are lost.
    Nothing,
    /// Each changed sector with a probability of one half.
    SomeSectors,
}

/// The amount of lost data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PowerLoss {
    /// Changes of directories.
    pub names: usize,
    /// Files with changed content.
    pub files: usize,
    /// The bytes of these files.
    pub bytes: usize,
}

/// Reverts unsynced changes.
pub fn revert_unsynced(
    folder: &Path,
    state: &Path,
    survives: UnsyncedFate,
    dice: &mut SeededRandom,
) -> anyhow::Result<PowerLoss> {
    let mut forgotten = PowerLoss::default();
    let notes = fs::read_to_string(state.join("names")).unwrap_or_default();
    for change in unsynced(&notes) {
        forgotten.names += usize::from(undo(&change, state)?);
    }
    let mut paths = BTreeMap::new();
    files(folder, &mut paths)?;
    for entry in fs::read_dir(state.join("undo"))? {
        let log = entry?.path();
        let name = log.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let inode: u64 = name.parse().with_context(|| format!("not an inode: {name}"))?;
        // A file that permanently lost its name needs no content.
        let Some(path) = paths.get(&inode) else { continue };
        let now = fs::read(path)?;
        let synced = before(&now, &fs::read(&log)?);
        if synced == now {
            continue;
        }
        let left = match survives {
            UnsyncedFate::Nothing => synced,
            UnsyncedFate::SomeSectors => torn(&synced, &now, dice),
        };
        forgotten.files += 1;
        forgotten.bytes += differing(&left, &now);
        fs::write(path, left)?;
    }
    Ok(forgotten)
}

/// One change of a directory, as the shim recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DirectoryChange<'a> {
    kind: char,
    directory: &'a str,
    inode: &'a str,
    path: &'a str,
    /// The new name after a rename.
    to: &'a str,
    /// The kept file that lost its name, or `0`.
    kept: &'a str,
}

/// The changes that are not durable, newest first.
fn unsynced(notes: &str) -> Vec<DirectoryChange<'_>> {
    let mut synced_files = BTreeSet::new();
    let mut synced_directories = BTreeSet::new();
    let mut durable_names: Vec<&str> = Vec::new();
    let mut changes = Vec::new();
    // In reverse, because a sync makes earlier changes durable.
    for line in notes.lines().rev() {
        let words: Vec<&str> = line.split('\t').collect();
        let change = match words[..] {
            ["F", inode] => {
                synced_files.insert(inode);
                continue;
            }
            ["S", directory] => {
                synced_directories.insert(directory);
                continue;
            }
            [kind @ ("C" | "L" | "M"), directory, inode, path] => {
                DirectoryChange { kind: first(kind), directory, inode, path, to: "", kept: "0" }
            }
            [kind @ ("U" | "D"), directory, inode, path, kept] => {
                DirectoryChange { kind: first(kind), directory, inode, path, to: "", kept }
            }
            ["R", directory, inode, path, to, kept] => {
                DirectoryChange { kind: 'R', directory, inode, path, to, kept }
            }
            // The last line, if the process died while writing it.
            _ => continue,
        };
        let created = change.kind == 'C' && synced_files.contains(change.inode);
        // The directory of a file that survives also survives.
        let below =
            change.kind == 'M' && durable_names.iter().any(|name| is_below(name, change.path));
        if synced_directories.contains(change.directory) || created || below {
            durable_names.push(if change.kind == 'R' { change.to } else { change.path });
        } else {
            changes.push(change);
        }
    }
    changes
}

fn first(word: &str) -> char {
    word.chars().next().unwrap_or(' ')
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Undoes one change. Returns whether there was one to undo.
fn undo(change: &DirectoryChange<'_>, state: &Path) -> anyhow::Result<bool> {
    let path = Path::new(change.path);
    let is_it = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|found| found.ino().to_string() == change.inode)
    };
    let kept = || state.join("kept").join(change.kept);
    match change.kind {
        'C' | 'L' if is_it(path) => fs::remove_file(path)?,
        'M' if is_it(path) => fs::remove_dir_all(path)?,
        'U' if change.kept != "0" && !path.exists() && has_folder(path) => {
            fs::hard_link(kept(), path)?;
        }
        'D' if !path.exists() && has_folder(path) => fs::create_dir(path)?,
        'R' if is_it(Path::new(change.to)) && has_folder(path) => {
            fs::rename(change.to, path)?;
            if change.kept != "0" {
                fs::hard_link(kept(), change.to)?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn has_folder(path: &Path) -> bool {
    path.parent().is_some_and(Path::exists)
}

/// Every file below a directory, by inode.
fn files(folder: &Path, found: &mut BTreeMap<u64, PathBuf>) -> anyhow::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files(&entry.path(), found)?;
        } else if kind.is_file() {
            found.insert(entry.metadata()?.ino(), entry.path());
        }
    }
    Ok(())
}

/// The content of a file before the changes in its undo log.
fn before(now: &[u8], log: &[u8]) -> Vec<u8> {
    let mut records = Vec::new();
    let mut rest = log;
    // An incomplete record at the end belongs to a change that never happened.
    while let Some((record, behind)) = record(rest) {
        records.push(record);
        rest = behind;
    }
    let mut content = now.to_vec();
    for (size, offset, replaced) in records.into_iter().rev() {
        let end = offset + replaced.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        if let Some(place) = content.get_mut(offset..end) {
            place.copy_from_slice(replaced);
        }
        content.resize(size, 0);
    }
    content
}

/// The size before a change, its offset, and the bytes it replaced.
type OverwrittenBytes<'a> = (usize, usize, &'a [u8]);

fn record(log: &[u8]) -> Option<(OverwrittenBytes<'_>, &[u8])> {
    let word = |at: usize| Some(u64::from_ne_bytes(log.get(at..at + 8)?.try_into().ok()?));
    let magic = u32::from_ne_bytes(log.get(..4)?.try_into().ok()?);
    let number = |at: usize| usize::try_from(word(at)?).ok();
    let (size, offset, length) = (number(8)?, number(16)?, number(24)?);
    let replaced = log.get(HEAD..HEAD.checked_add(length)?)?;
    (magic == MAGIC).then_some(((size, offset, replaced), log.get(HEAD + length..)?))
}

/// A random mix of sectors from both contents.
fn torn(synced: &[u8], now: &[u8], dice: &mut SeededRandom) -> Vec<u8> {
    let size = if dice.one_in(2) { synced.len() } else { now.len() };
    let mut left = vec![0; size];
    for (n, sector) in left.chunks_mut(SECTOR).enumerate() {
        let from = if dice.one_in(2) { synced } else { now };
        let at = (n * SECTOR).min(from.len());
        let part = from.get(at..(at + sector.len()).min(from.len())).unwrap_or_default();
        if let Some(place) = sector.get_mut(..part.len()) {
            place.copy_from_slice(part);
        }
    }
    left
}

fn differing(one: &[u8], other: &[u8]) -> usize {
    let common = one.iter().zip(other).filter(|(one, other)| one != other).count();
    common + one.len().abs_diff(other.len())
}

/// A directory that the shim can cover: absolute, and without symbolic links.
pub fn resolved(folder: &Path) -> anyhow::Result<PathBuf> {
    let resolved = folder.canonicalize()?;
    ensure!(
        resolved.to_str().is_some_and(|path| !path.contains(['\t', '\n'])),
        "an odd folder name"
    );
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(records: &[(u64, u64, &[u8])]) -> Vec<u8> {
        let mut log = Vec::new();
        for (size, offset, replaced) in records {
            log.extend(u64::from(MAGIC).to_ne_bytes());
            for word in [*size, *offset, replaced.len() as u64] {
                log.extend(word.to_ne_bytes());
            }
            log.extend(*replaced);
        }
        log
    }

    #[test]
    fn changes_are_undone_backwards_and_half_a_record_is_ignored() {
        // "abc", then "aXYZ" from offset 1, then truncated to 2.
        let log = logged(&[(3, 1, b"bc"), (4, 2, b"YZ")]);
        assert_eq!(before(b"aX", &log), b"abc");
        assert_eq!(before(b"aXYZ", &logged(&[(3, 1, b"bc")])), b"abc");
        let half = [logged(&[(3, 1, b"bc")]), logged(&[(4, 0, b"aXYZ")])[..30].to_vec()].concat();
        assert_eq!(before(b"aXYZ", &half), b"abc");
        assert_eq!(before(b"new", &logged(&[(0, 0, b"")])), b"");
    }

    #[test]
    fn what_a_sync_makes_durable() {
        let kinds = |notes: &str| -> String { unsynced(notes).iter().map(|c| c.kind).collect() };
        // A sync of a file also covers its creation and that of its directories.
        assert_eq!(kinds("M\t1\t2\t/d/a\nC\t2\t3\t/d/a/f\n"), "CM");
        assert_eq!(kinds("M\t1\t2\t/d/a\nC\t2\t3\t/d/a/f\nF\t3\n"), "");
        // A sync of a file makes no rename durable. A sync of its directory does.
        let renamed = "C\t1\t3\t/d/new\nF\t3\nR\t1\t3\t/d/new\t/d/f\t0\n";
        assert_eq!(kinds(&format!("{renamed}F\t3\n")), "R");
        assert_eq!(kinds(&format!("{renamed}S\t1\n")), "");
        assert_eq!(kinds(&format!("{renamed}S\t9\n")), "R");
        // Only earlier changes become durable.
        assert_eq!(kinds("S\t1\nU\t1\t3\t/d/f\t1\n"), "U");
        // The last line may be incomplete.
        assert_eq!(kinds("U\t1\t3\t/d/f\t1\nR\t1\t3\t/d"), "U");
    }

    #[test]
    fn torn_content_is_made_of_sectors_of_both() {
        let (synced, now) = (vec![1; 8 * SECTOR + 5], vec![2; 9 * SECTOR]);
        let left = torn(&synced, &now, &mut SeededRandom::new(3));
        assert!([synced.len(), now.len()].contains(&left.len()));
        for sector in left[..8 * SECTOR].chunks(SECTOR) {
            assert!(sector.iter().all(|byte| *byte == sector[0]));
        }
        assert!(left.contains(&1) && left.contains(&2));
    }
}
