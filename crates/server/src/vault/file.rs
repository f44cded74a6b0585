//! The file of a data folder.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Stored;

const FILE: &str = "server-keys.json";

/// The file. It is replaced whole, by one process at a time, and never written in
/// place: whoever reads it meanwhile, or after a crash, finds all of the old one or all of the new.
pub struct KeyFile {
    path: PathBuf,
}

/// What tells one state of the file from the next without reading it.
pub(crate) type Stamp = (u64, i64, i64, u64);

impl KeyFile {
    pub(crate) fn of(data: &Path) -> Self {
        Self { path: data.join(FILE) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn damaged(&self) -> String {
        format!("{} is damaged", self.path.display())
    }

    /// Which state of the file is there, if one is.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let found = fs::metadata(&self.path).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec(), found.len()))
    }

    /// What is in the file, if there is one.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Stored>> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(|| self.damaged()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.path.display()))
            }
        }
    }

    /// Reads the file or makes one, lets it be changed, and replaces it if it was.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Stored) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let _alone = self.lock().with_context(|| format!("cannot lock {}", self.path.display()))?;
        let before = self.read()?;
        let mut stored = before.clone().unwrap_or_else(Stored::fresh);
        let changed = change(&mut stored)?;
        if before.as_ref() != Some(&stored) {
            let text = serde_json::to_vec_pretty(&stored)?;
            replace_file(&self.path, &text)
                .with_context(|| format!("cannot write {}", self.path.display()))?;
        }
        Ok(changed)
    }

    /// Held until it is dropped, or the process ends however it ends.
    fn lock(&self) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(self.path.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }
}

/// Replaces a file whole and durably; only its owner may read it.
pub(crate) fn replace_file(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let draft = path.with_extension("new");
    // What a crash may have left; its rights are not known.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(contents)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    // The new name is on disk when its folder is.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What a crash left behind, and what a later version wrote, do no harm.
    #[test]
    fn replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let seed = "5".repeat(64);
        let later = format!(r#"{{"evidence":"e","seed":"{seed}","invented":{{"later":1}}}}"#);
        fs::write(&path, later).unwrap();
        fs::write(path.with_extension("new"), "half a fi").unwrap();
        let file = KeyFile::of(folder.path());
        let refused: anyhow::Result<()> = file.change(|stored| {
            stored.evidence.clear();
            anyhow::bail!("not today")
        });
        assert!(refused.is_err());
        let before = file.stamp();
        assert_eq!(file.change(|stored| Ok(stored.evidence.clone())).unwrap(), "e");
        assert_eq!(file.stamp(), before, "nothing changed, nothing was written");
        file.change(|stored| {
            stored.evidence.push('f');
            Ok(())
        })
        .unwrap();
        assert_ne!(file.stamp(), before);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""ef""#) && text.contains(r#""later": 1"#), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!path.with_extension("new").exists());
    }

    #[test]
    fn damage_is_said_and_not_papered_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(KeyFile::of(folder.path()).read().is_err());
    }
}
