//! The sign-ins that `countersign login` saved: one token for each server, in the user's
//! configuration folder. The file is readable by its owner only and replaced as a whole.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use kernel::Time;
use serde::{Deserialize, Serialize};

use crate::config::{SecretString, variable};

/// The name of the file in the configuration folder.
const FILE: &str = "logins.toml";

/// A saved sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SavedLogin {
    /// The name by which `--profile` selects it.
    pub(super) profile: String,
    /// The server, without a trailing slash.
    pub(super) url: String,
    /// The id of the person.
    pub(super) person: String,
    /// When the token expires, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Time>,
    #[serde(serialize_with = "reveal")]
    pub(super) token: SecretString,
}

/// A token is written nowhere but into the file.
fn reveal<S: serde::Serializer>(token: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(token.reveal())
}

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedLogins {
    /// The profile that is used if no other server is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    #[serde(rename = "login", skip_serializing_if = "Vec::is_empty")]
    logins: Vec<SavedLogin>,
}

/// The file, if this user has a configuration folder: `$XDG_CONFIG_HOME/countersign`, else
/// `~/.config/countersign`.
pub(super) fn path() -> Option<PathBuf> {
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("countersign").join(FILE))
}

/// The name of a server's profile if the user gives none: its host, with the port if it has one.
pub(super) fn profile_name(url: &str) -> String {
    let (_, host) = url.split_once("://").unwrap_or(("", url));
    host.trim_end_matches('/').to_owned()
}

impl SavedLogins {
    /// Reads the file. There are no sign-ins if there is no file. A file that others can read is
    /// refused, as its tokens may be known to them.
    pub(super) fn load() -> anyhow::Result<Self> {
        match path() {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            // There is no file, or it is in a home folder that a service may not look into.
            Err(_) if fs::metadata(path).is_err() => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let mode = fs::metadata(path)?.permissions().mode();
        if mode & 0o077 != 0 {
            bail!(
                "{path} is readable by other users (mode {mode:04o}); run `chmod 600 {path}`, and \
                 `countersign logout` and `countersign login` if others use this computer",
                path = path.display(),
                mode = mode & 0o7777,
            );
        }
        toml::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// Changes the file. It waits for other commands that change it.
    pub(super) fn change(change: impl FnOnce(&mut Self)) -> anyhow::Result<PathBuf> {
        let path = path().context(
            "there is no folder to save the sign-in in: set HOME or XDG_CONFIG_HOME, or pass a \
             token in COUNTERSIGN_TOKEN",
        )?;
        let folder = path.parent().unwrap_or(&path);
        let write = || format!("cannot write {}", path.display());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(write)?;
        let lock = File::create(path.with_extension("lock")).with_context(write)?;
        lock.lock().with_context(write)?;
        let mut saved = Self::read(&path)?;
        change(&mut saved);
        let mut file = tempfile::NamedTempFile::new_in(folder).with_context(write)?;
        file.as_file().set_permissions(Permissions::from_mode(0o600)).with_context(write)?;
        file.write_all(toml::to_string(&saved)?.as_bytes()).with_context(write)?;
        file.as_file().sync_all().with_context(write)?;
        file.persist(&path).with_context(write)?;
        Ok(path)
    }

    /// The sign-in with this name.
    pub(super) fn named(&self, profile: &str) -> Option<&SavedLogin> {
        self.logins.iter().find(|login| login.profile == profile)
    }

    /// The sign-in to this server: the default one if there are several.
    pub(super) fn for_url(&self, url: &str) -> Option<&SavedLogin> {
        let url = url.trim_end_matches('/');
        let default = self.default_login().filter(|login| login.url == url);
        default.or_else(|| self.logins.iter().find(|login| login.url == url))
    }

    /// The sign-in that is used if no server is named.
    pub(super) fn default_login(&self) -> Option<&SavedLogin> {
        self.named(self.default.as_deref()?)
    }

    /// All sign-ins.
    pub(super) fn all(&self) -> &[SavedLogin] {
        &self.logins
    }

    /// Adds a sign-in, or replaces the one of the same name, and makes it the default.
    pub(super) fn add(&mut self, login: SavedLogin) {
        self.default = Some(login.profile.clone());
        self.logins.retain(|other| other.profile != login.profile);
        self.logins.push(login);
    }

    /// Removes a sign-in. If it was the default, the newest of the others becomes the default.
    pub(super) fn remove(&mut self, profile: &str) {
        self.logins.retain(|login| login.profile != profile);
        if self.default.as_deref() == Some(profile) {
            self.default = self.logins.last().map(|login| login.profile.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(profile: &str, url: &str) -> SavedLogin {
        SavedLogin {
            profile: profile.to_owned(),
            url: url.to_owned(),
            person: "ada".to_owned(),
            expires_at: None,
            token: SecretString::new("cs_human_x"),
        }
    }

    #[test]
    fn the_newest_sign_in_is_the_default_until_it_is_removed() {
        let mut saved = SavedLogins::default();
        saved.add(login("a", "https://a.example"));
        saved.add(login("b", "https://b.example"));
        saved.add(login("work", "https://a.example"));
        assert_eq!(saved.default_login().unwrap().profile, "work");
        assert_eq!(saved.for_url("https://a.example/").unwrap().profile, "work");
        saved.remove("work");
        assert_eq!(saved.default_login().unwrap().profile, "b");
        assert_eq!(saved.for_url("https://a.example").unwrap().profile, "a");
        assert!(saved.for_url("https://c.example").is_none());
        saved.remove("a");
        assert_eq!(saved.default_login().unwrap().profile, "b");
        saved.remove("b");
        assert!(saved.default_login().is_none() && saved.all().is_empty());
    }

    #[test]
    fn the_file_is_read_as_it_was_written_and_refused_if_others_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        assert!(SavedLogins::read(&path).unwrap().all().is_empty());
        let mut saved = SavedLogins::default();
        saved.add(login("a", "https://a.example"));
        fs::write(&path, toml::to_string(&saved).unwrap()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let refused = SavedLogins::read(&path).err().unwrap().to_string();
        assert!(refused.contains("(mode 0640)") && refused.contains("chmod 600"), "{refused}");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let read = SavedLogins::read(&path).unwrap();
        assert_eq!(read.named("a").unwrap().token.reveal(), "cs_human_x");
        fs::write(&path, "login = 7").unwrap();
        assert!(SavedLogins::read(&path).err().unwrap().to_string().ends_with("is damaged"));
    }

    #[test]
    fn a_profile_is_named_after_the_host() {
        assert_eq!(profile_name("https://ask.example.com/"), "ask.example.com");
        assert_eq!(profile_name("http://localhost:3402"), "localhost:3402");
    }
}
