//! The key file in a data directory.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::VaultContent;
use super::shared::MasterKey;
use channels::SecretString;

const FILE: &str = "server-keys.json";
/// The file with the master key, if the settings have none.
pub const MASTER_FILE: &str = "master.key";

/// The key file. One process at a time replaces it as a whole, and never writes it in place: a
/// reader, or a start after a crash, finds either the old or the new version.
///
/// Private signing keys are encrypted in it: under the master key from the settings, or under the
/// one in `master.key` beside it, which is created if there is neither.
pub struct KeyFile {
    path: PathBuf,
    given: Option<MasterKey>,
}

/// The key under which the private signing keys of a file are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileEncryption {
    /// The master key from the settings.
    Given,
    /// The master key beside the file.
    Kept,
    /// None: an earlier version wrote the file, or there is none yet.
    Nothing,
}

/// Identifies a version of the file without reading it.
pub type FileStamp = (u64, i64, i64, u64);

impl KeyFile {
    pub fn of(data: &Path, given: Option<MasterKey>) -> Self {
        Self { path: data.join(FILE), given }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn damaged(&self) -> String {
        format!("{} is damaged", self.path.display())
    }

    /// The current version of the file, if it exists.
    pub fn stamp(&self) -> Option<FileStamp> {
        let found = fs::metadata(&self.path).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec(), found.len()))
    }

    /// The content of the file, if it exists. Signing keys whose master key is
    /// missing stay encrypted.
    pub fn read(&self) -> anyhow::Result<Option<VaultContent>> {
        let Some(mut stored) = self.parsed()? else { return Ok(None) };
        self.unseal(&mut stored)?;
        Ok(Some(stored))
    }

    fn parsed(&self) -> anyhow::Result<Option<VaultContent>> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(|| self.damaged()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.path.display()))
            }
        }
    }

    /// Reads or creates the file, applies a change, and replaces the file if it differs.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut VaultContent) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let _alone = self.lock()?;
        let (before, under) = self.decrypted()?;
        let mut stored = before.clone().unwrap_or_else(VaultContent::generate);
        let changed = change(&mut stored)?;
        // The first change encrypts keys that an earlier version left unencrypted.
        let bare = under == FileEncryption::Nothing
            && stored.signing.iter().any(|key| key.secret.is_some());
        if before.as_ref() != Some(&stored) || bare {
            let master = match (under, self.stored_master_key()?, &self.given) {
                (FileEncryption::Given | FileEncryption::Nothing, _, Some(given)) => given.clone(),
                (_, Some(kept), _) => kept,
                // On disk before anything is encrypted under it.
                (_, None, _) => self.create_master_key()?,
            };
            self.write(&stored, &master)?;
        }
        Ok(changed)
    }

    /// Encrypts the signing keys under the master key from the settings, if there is one and they
    /// are under the one beside the file, which is then removed. Only for a server that starts: a
    /// command with other settings must not lock the server out.
    pub fn adopt(&self) -> anyhow::Result<()> {
        let Some(given) = &self.given else { return Ok(()) };
        let _alone = self.lock()?;
        let (Some(stored), under) = self.decrypted()? else { return Ok(()) };
        if under == FileEncryption::Kept {
            self.write(&stored, given)?;
        }
        self.remove_master_key()
    }

    /// Encrypts the signing keys under another master key, which the server needs from now on.
    pub fn rewrap(&self, next: &MasterKey) -> anyhow::Result<()> {
        let _alone = self.lock()?;
        let (stored, _) = self.decrypted()?;
        let stored = stored.with_context(|| format!("{} not found", self.path.display()))?;
        self.write(&stored, next)?;
        self.remove_master_key()
    }

    /// Copies the file and the master key beside it, as one consistent state.
    pub fn copy_to(&self, folder: &Path) -> anyhow::Result<()> {
        let _alone = self.lock()?;
        for name in [FILE, MASTER_FILE] {
            match fs::read(self.path.with_file_name(name)) {
                Ok(bytes) => replace_file(&folder.join(name), &bytes)
                    .with_context(|| format!("cannot write {}", folder.join(name).display()))?,
                Err(error) if error.kind() == ErrorKind::NotFound && name == MASTER_FILE => {}
                Err(error) => {
                    let from = self.path.with_file_name(name);
                    return Err(error).with_context(|| format!("cannot read {}", from.display()));
                }
            }
        }
        Ok(())
    }

    /// The content of the file with all signing keys decrypted, and the key they
    /// are encrypted under.
    fn decrypted(&self) -> anyhow::Result<(Option<VaultContent>, FileEncryption)> {
        let Some(mut stored) = self.parsed()? else { return Ok((None, FileEncryption::Nothing)) };
        let under = self.unseal(&mut stored)?;
        let sealed = stored.signing.iter().find(|key| key.sealed.is_some());
        if let Some(key) = sealed {
            bail!(
                "the signing key {} in {} cannot be decrypted: set the master_key that it was \
                 encrypted with, or restore {} from a backup of this installation",
                key.kid,
                self.path.display(),
                self.master_path().display()
            );
        }
        Ok((Some(stored), under))
    }

    fn unseal(&self, stored: &mut VaultContent) -> anyhow::Result<FileEncryption> {
        let kept = self.stored_master_key()?;
        let mut under = FileEncryption::Nothing;
        for key in &mut stored.signing {
            let Some(sealed) = &key.sealed else { continue };
            let masters = [(&self.given, FileEncryption::Given), (&kept, FileEncryption::Kept)];
            let opened = masters.into_iter().find_map(|(master, named)| {
                Some((master.as_ref()?.unseal(&key.kid, sealed)?, named))
            });
            if let Some((secret, named)) = opened {
                (key.secret, key.sealed) = (Some(secret), None);
                under = named;
            }
        }
        Ok(under)
    }

    fn write(&self, stored: &VaultContent, master: &MasterKey) -> anyhow::Result<()> {
        let mut stored = stored.clone();
        for key in &mut stored.signing {
            if let Some(secret) = key.secret.take() {
                key.sealed = Some(master.seal(&key.kid, &secret)?);
            }
        }
        let text = serde_json::to_vec_pretty(&stored)?;
        replace_file(&self.path, &text)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn master_path(&self) -> PathBuf {
        self.path.with_file_name(MASTER_FILE)
    }

    /// The master key beside the file.
    fn stored_master_key(&self) -> anyhow::Result<Option<MasterKey>> {
        let path = self.master_path();
        match fs::read_to_string(&path) {
            Ok(text) => {
                let read = MasterKey::read(&SecretString::new(text));
                read.map(Some).with_context(|| format!("{} is damaged", path.display()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    fn create_master_key(&self) -> anyhow::Result<MasterKey> {
        let (path, made) = (self.master_path(), MasterKey::generate());
        replace_file(&path, made.encoded().as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(made)
    }

    fn remove_master_key(&self) -> anyhow::Result<()> {
        let path = self.master_path();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", path.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Locks the file until the result is dropped or the process ends.
    fn lock(&self) -> anyhow::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let locked = options.open(self.path.with_extension("lock")).and_then(|lock| {
            lock.lock()?;
            Ok(lock)
        });
        locked.with_context(|| format!("cannot lock {}", self.path.display()))
    }
}

/// Replaces a file atomically and durably. Only its owner can read it.
pub fn replace_file(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let draft = path.with_extension("new");
    // A crash may have left it, with unknown permissions.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(contents)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    // The new name is durable after its directory is synced.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use kernel::Time;

    use super::*;
    use crate::key_ring::{KeyRing, PublishedKeys, first, rotate};

    /// Remains of a crash and fields of later versions do no harm.
    #[test]
    fn replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let seed = "5".repeat(64);
        let later = format!(r#"{{"evidence":"e","seed":"{seed}","invented":{{"later":1}}}}"#);
        fs::write(&path, later).unwrap();
        fs::write(path.with_extension("new"), "half a fi").unwrap();
        let file = KeyFile::of(folder.path(), None);
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
        assert!(KeyFile::of(folder.path(), None).read().is_err());
    }

    fn given(n: u8) -> MasterKey {
        MasterKey::read(&SecretString::new(hex::encode([n; 32]))).unwrap()
    }

    fn secrets(file: &KeyFile) -> Vec<Option<String>> {
        file.read().unwrap().unwrap().signing.into_iter().map(|key| key.secret).collect()
    }

    /// A directory of an earlier version: two unencrypted keys, of which one is retired.
    fn bare() -> (tempfile::TempDir, Vec<Option<String>>) {
        let folder = tempfile::tempdir().unwrap();
        let mut stored = VaultContent::generate();
        stored.signing.push(first(&[1; 32], Time::from_millis(0)));
        rotate(&mut stored.signing, &[2; 32], Time::from_millis(1));
        fs::write(folder.path().join(FILE), serde_json::to_vec(&stored).unwrap()).unwrap();
        (folder, vec![Some(hex::encode([1; 32])), Some(hex::encode([2; 32]))])
    }

    fn touch(file: &KeyFile) -> anyhow::Result<()> {
        file.change(|_| Ok(()))
    }

    fn text(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join(FILE)).unwrap()
    }

    fn in_the_open(folder: &tempfile::TempDir) -> bool {
        let text = text(folder);
        text.contains(&hex::encode([1; 32])) || text.contains(&hex::encode([2; 32]))
    }

    /// An upgrade may be killed at any point: after the master key was written, or while the new
    /// file is written.
    #[test]
    fn keys_in_the_open_are_encrypted_without_a_step() {
        for killed in ["before", "after the master key", "in the new file", "in the new master key"]
        {
            let (folder, before) = bare();
            let file = KeyFile::of(folder.path(), None);
            match killed {
                "after the master key" => drop(file.create_master_key().unwrap()),
                "in the new file" => {
                    file.create_master_key().unwrap();
                    fs::write(file.path().with_extension("new"), "{").unwrap();
                }
                "in the new master key" => {
                    fs::write(file.master_path().with_extension("new"), "x").unwrap();
                }
                _ => {}
            }
            assert!(in_the_open(&folder));
            assert_eq!(secrets(&file), before, "{killed}");
            touch(&file).unwrap();
            assert!(!in_the_open(&folder), "{killed}");
            assert_eq!(secrets(&file), before, "{killed}");
            let stamp = file.stamp();
            touch(&file).unwrap();
            assert_eq!(file.stamp(), stamp, "encrypted once");
            let mode = fs::metadata(file.master_path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    /// Without the master key all public data is readable, and nothing is written.
    #[test]
    fn a_copy_without_the_master_key_signs_nothing() {
        let (folder, _) = bare();
        let file = KeyFile::of(folder.path(), None);
        touch(&file).unwrap();
        fs::remove_file(file.master_path()).unwrap();
        for without in [None, Some(given(9))] {
            let file = KeyFile::of(folder.path(), without);
            assert_eq!(secrets(&file), [None, None]);
            let stored = file.read().unwrap().unwrap();
            assert!(
                PublishedKeys::of(&stored.signing).is_ok() && KeyRing::of(&stored.signing).is_err()
            );
            let error = touch(&file).unwrap_err().to_string();
            assert!(error.contains("master_key") && error.contains("master.key"), "{error}");
            assert!(!file.master_path().exists(), "no new one is made");
        }
    }

    /// An encrypted key is bound to its id: in the place of another key it cannot be decrypted.
    #[test]
    fn encrypted_keys_cannot_be_swapped() {
        let (folder, _) = bare();
        let file = KeyFile::of(folder.path(), Some(given(1)));
        touch(&file).unwrap();
        let mut stored = file.parsed().unwrap().unwrap();
        let (one, two) = (stored.signing[0].sealed.clone(), stored.signing[1].sealed.clone());
        (stored.signing[0].sealed, stored.signing[1].sealed) = (two, one);
        fs::write(file.path(), serde_json::to_vec(&stored).unwrap()).unwrap();
        assert_eq!(secrets(&file), [None, None]);
    }

    /// The master key from the settings takes effect when a server starts, not when a command runs.
    #[test]
    fn a_server_adopts_the_master_key_of_its_settings() {
        let (folder, before) = bare();
        let kept = KeyFile::of(folder.path(), None);
        touch(&kept).unwrap();
        let with = KeyFile::of(folder.path(), Some(given(1)));
        with.change(|stored| {
            stored.evidence.push('x');
            Ok(())
        })
        .unwrap();
        assert_eq!(secrets(&kept), before, "still under the one beside it");
        for _ in 0..2 {
            with.adopt().unwrap();
            assert_eq!(secrets(&with), before);
            assert!(!with.master_path().exists());
        }
        assert!(touch(&kept).is_err());
        // The process was killed between the new file and the removal of the old master key.
        kept.create_master_key().unwrap();
        with.adopt().unwrap();
        assert!(!with.master_path().exists());

        let next = given(2);
        with.rewrap(&next).unwrap();
        assert!(touch(&with).is_err());
        assert_eq!(secrets(&KeyFile::of(folder.path(), Some(next))), before);
    }

    #[test]
    fn a_copy_has_what_it_takes() {
        let (folder, before) = bare();
        let file = KeyFile::of(folder.path(), None);
        touch(&file).unwrap();
        let to = tempfile::tempdir().unwrap();
        file.copy_to(to.path()).unwrap();
        assert_eq!(secrets(&KeyFile::of(to.path(), None)), before);
    }
}
