//! A disk and a clock that fail on demand, for processes started with [`FaultyDisk::environment`].
//! `shim/disk.c` implements this. It is preloaded and reads a control file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::power_loss::{self, PowerLoss, UnsyncedFate};
use crate::random::SeededRandom;

const SOURCE: &str = include_str!("../shim/disk.c");
/// The size of the control file, and the offsets of its fields: `struct control` in the shim.
const CONTROL: u64 = 4096;
const CLOCK_MS: u64 = 0;
const FULL: u64 = 8;
const SLOW_US: u64 = 12;
const TRACKING: u64 = 16;
const LYING: u64 = 20;

/// The covered directory of one process tree, and the shim's notes about it.
pub struct FaultyDisk {
    folder: PathBuf,
    state: PathBuf,
    shim: PathBuf,
    control: File,
}

/// Compiles the shim into a directory.
pub fn compile(folder: &Path) -> anyhow::Result<PathBuf> {
    let (source, shim) = (folder.join("disk.c"), folder.join("disk.so"));
    fs::write(&source, SOURCE)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
    let status = compiler.arg(&shim).arg(&source).status().context("no C compiler (cc)")?;
    ensure!(status.success(), "the shim does not compile");
    Ok(shim)
}

impl FaultyDisk {
    /// Covers a directory, which need not exist yet. The state directory must be on the same file
    /// system. It is made world-writable, because `PostgreSQL` does not run as root.
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

    /// The environment of processes on this disk.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("LD_PRELOAD".into(), self.shim.clone().into()),
            ("FAULTS_FOLDER".into(), self.folder.clone().into()),
            ("FAULTS_STATE".into(), self.state.clone().into()),
        ]
    }

    /// Sets the difference between the wall clock of the processes and the machine's.
    pub fn set_clock(&self, millis: i64) -> anyhow::Result<()> {
        self.write(CLOCK_MS, &millis.to_ne_bytes())
    }

    /// Sets whether every write fails because no space is left.
    pub fn set_full(&self, full: bool) -> anyhow::Result<()> {
        self.write(FULL, &u32::from(full).to_ne_bytes())
    }

    /// Sets the delay of every write and sync.
    pub fn set_slow(&self, by: Duration) -> anyhow::Result<()> {
        let micros = u32::try_from(by.as_micros()).unwrap_or(u32::MAX);
        self.write(SLOW_US, &micros.to_ne_bytes())
    }

    /// From now on, records unsynced changes, so that they can be reverted. Existing data
    /// counts as synced.
    pub fn track(&self) -> anyhow::Result<()> {
        self.write(TRACKING, &1_u32.to_ne_bytes())
    }

    /// Makes every sync report success without syncing: a disk on which nothing is durable.
    pub fn lie(&self) -> anyhow::Result<()> {
        self.write(LYING, &1_u32.to_ne_bytes())
    }

    /// Reverts unsynced changes. All processes on this disk must be dead.
    pub fn lose_power(
        &self,
        survives: UnsyncedFate,
        dice: &mut SeededRandom,
    ) -> anyhow::Result<PowerLoss> {
        let forgotten = power_loss::revert_unsynced(&self.folder, &self.state, survives, dice)?;
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
