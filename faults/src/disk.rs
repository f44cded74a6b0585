//! A disk and a clock that fail on demand, for processes started with [`Disk::environment`]. The work is
//! done by `shim/disk.c`, which is preloaded and reads a control file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::dice::Dice;
use crate::power::{self, Forgotten, Surviving};

const SOURCE: &str = include_str!("../shim/disk.c");
/// The size of the control file, and where its fields are: `struct control` in the shim.
const CONTROL: u64 = 4096;
const CLOCK_MS: u64 = 0;
const FULL: u64 = 8;
const SLOW_US: u64 = 12;
const TRACKING: u64 = 16;
const LYING: u64 = 20;

/// The covered folder of one process tree, and the notes of the shim about it.
pub struct Disk {
    folder: PathBuf,
    state: PathBuf,
    shim: PathBuf,
    control: File,
}

/// Compiles the shim into a folder.
pub fn compile(folder: &Path) -> anyhow::Result<PathBuf> {
    let (source, shim) = (folder.join("disk.c"), folder.join("disk.so"));
    fs::write(&source, SOURCE)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
    let status = compiler.arg(&shim).arg(&source).status().context("no C compiler (cc)")?;
    ensure!(status.success(), "the shim does not compile");
    Ok(shim)
}

impl Disk {
    /// Covers a folder, which need not exist yet. The state folder must be on the same file system and
    /// is made writable for everybody, because `PostgreSQL` does not run as root.
    pub fn new(shim: &Path, folder: PathBuf, state: PathBuf) -> anyhow::Result<Self> {
        for part in [state.clone(), state.join("undo"), state.join("kept")] {
            fs::create_dir_all(&part)?;
            fs::set_permissions(&part, Permissions::from_mode(0o777))?;
        }
        let path = state.join("control");
        let mut options = OpenOptions::new();
        let control = options.read(true).write(true).create(true).truncate(true).open(&path)?;
        control.set_len(CONTROL)?;
        fs::set_permissions(&path, Permissions::from_mode(0o666))?;
        Ok(Self { folder, state, shim: shim.to_owned(), control })
    }

    /// What processes on this disk need in their environment.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("LD_PRELOAD".into(), self.shim.clone().into()),
            ("FAULTS_FOLDER".into(), self.folder.clone().into()),
            ("FAULTS_STATE".into(), self.state.clone().into()),
        ]
    }

    /// Moves the wall clock of the processes away from the machine's.
    pub fn set_clock(&self, millis: i64) -> anyhow::Result<()> {
        self.write(CLOCK_MS, &millis.to_ne_bytes())
    }

    /// Whether every write fails because no space is left.
    pub fn set_full(&self, full: bool) -> anyhow::Result<()> {
        self.write(FULL, &u32::from(full).to_ne_bytes())
    }

    /// How much longer every write and every sync takes.
    pub fn set_slow(&self, by: Duration) -> anyhow::Result<()> {
        let micros = u32::try_from(by.as_micros()).unwrap_or(u32::MAX);
        self.write(SLOW_US, &micros.to_ne_bytes())
    }

    /// Notes from now on what is not synced, so that it can be forgotten. What is there now counts as
    /// synced.
    pub fn track(&self) -> anyhow::Result<()> {
        self.write(TRACKING, &1_u32.to_ne_bytes())
    }

    /// Makes every sync report success and sync nothing: a disk on which nothing is durable.
    pub fn lie(&self) -> anyhow::Result<()> {
        self.write(LYING, &1_u32.to_ne_bytes())
    }

    /// Forgets what was not synced. All processes on this disk must be dead.
    pub fn lose_power(&self, survives: Surviving, dice: &mut Dice) -> anyhow::Result<Forgotten> {
        let forgotten = power::forget(&self.folder, &self.state, survives, dice)?;
        for part in ["undo", "kept"] {
            for entry in fs::read_dir(self.state.join(part))? {
                fs::remove_file(entry?.path())?;
            }
        }
        match fs::remove_file(self.state.join("names")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)?,
            Ok(()) | Err(_) => Ok(forgotten),
        }
    }

    fn write(&self, at: u64, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.control.write_all_at(bytes, at)?)
    }
}
