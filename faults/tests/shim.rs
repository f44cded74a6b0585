//! The shim under ordinary programs: what survives a power failure, a full disk, and a moved clock.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use faults::disk::{FaultyDisk, compile};
use faults::power_loss::{PowerLoss, UnsyncedFate, resolved};
use faults::random::SeededRandom;
use tempfile::TempDir;

struct ShimSandbox {
    _folder: TempDir,
    data: PathBuf,
    disk: FaultyDisk,
}

impl ShimSandbox {
    /// A covered folder with a file that was there before, and is tracked from now on.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = resolved(folder.path()).unwrap();
        let shim = compile(&root).unwrap();
        let data = root.join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("old"), "old").unwrap();
        let disk = FaultyDisk::new(&shim, data.clone(), root.join("state")).unwrap();
        disk.track().unwrap();
        Self { _folder: folder, data, disk }
    }

    /// Runs a shell on the disk, in the covered folder.
    fn run(&self, script: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(&self.data).envs(self.disk.environment());
        shell.output().unwrap()
    }

    fn sound(&self, script: &str) {
        let out = self.run(script);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    fn power_loss(&self) -> PowerLoss {
        self.disk.lose_power(UnsyncedFate::Nothing, &mut SeededRandom::new(1)).unwrap()
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.data.join(name)).ok()
    }
}

#[test]
fn what_was_synced_stays_and_what_was_not_is_forgotten() {
    let stage = ShimSandbox::new();
    stage.sound("printf synced > a; sync a; printf more >> a; printf lost > b; printf X > old");
    assert_eq!(stage.read("a").as_deref(), Some("syncedmore"));
    let forgotten = stage.power_loss();
    assert_eq!(stage.read("a").as_deref(), Some("synced"));
    assert_eq!(stage.read("b"), None);
    assert_eq!(stage.read("old").as_deref(), Some("old"));
    assert_eq!((forgotten.names, forgotten.files), (1, 2));
    // What is left is what the next run begins with.
    stage.sound("printf again > b; sync b");
    stage.power_loss();
    assert_eq!(stage.read("b").as_deref(), Some("again"));
}

#[test]
fn a_rename_needs_a_sync_of_its_directory() {
    let replaced = "printf new > draft; sync draft; mv draft old";
    let stage = ShimSandbox::new();
    stage.sound(replaced);
    assert_eq!(stage.read("old").as_deref(), Some("new"));
    stage.power_loss();
    assert_eq!(stage.read("old").as_deref(), Some("old"));
    assert_eq!(stage.read("draft").as_deref(), Some("new"));

    let stage = ShimSandbox::new();
    stage.sound(&format!("{replaced}; sync ."));
    stage.power_loss();
    assert_eq!(stage.read("old").as_deref(), Some("new"));
    assert_eq!(stage.read("draft"), None);
}

#[test]
fn a_removed_file_comes_back_until_its_directory_is_synced() {
    let stage = ShimSandbox::new();
    stage.sound("rm old");
    stage.power_loss();
    assert_eq!(stage.read("old").as_deref(), Some("old"));
    stage.sound("rm old; sync .");
    stage.power_loss();
    assert_eq!(stage.read("old"), None);
}

#[test]
fn a_synced_file_is_found_in_a_new_folder() {
    let stage = ShimSandbox::new();
    stage.sound("mkdir -p x/y; printf kept > x/y/f; sync x/y/f; mkdir z; printf lost > z/f");
    stage.power_loss();
    assert_eq!(stage.read("x/y/f").as_deref(), Some("kept"));
    assert!(!stage.data.join("z").exists());
}

#[test]
fn a_disk_that_lies_loses_what_was_synced() {
    let stage = ShimSandbox::new();
    stage.disk.lie().unwrap();
    stage.sound("printf synced > a; sync a; sync .");
    stage.power_loss();
    assert_eq!(stage.read("a"), None);
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_space() {
    let stage = ShimSandbox::new();
    stage.disk.set_full(true).unwrap();
    let refused = stage.run("printf more >> old");
    assert!(!refused.status.success());
    assert_eq!(stage.read("old").as_deref(), Some("old"));
    stage.disk.set_full(false).unwrap();
    stage.sound("printf more >> old");
    assert_eq!(stage.read("old").as_deref(), Some("oldmore"));
}

#[test]
fn the_wall_clock_can_be_moved() {
    let stage = ShimSandbox::new();
    let seconds = || -> i64 {
        String::from_utf8(stage.run("date +%s").stdout).unwrap().trim().parse().unwrap()
    };
    let before = seconds();
    stage.disk.set_clock(-3_600_000).unwrap();
    assert!(seconds() < before - 3_500);
    stage.disk.set_clock(3_600_500).unwrap();
    assert!(seconds() > before + 3_500);
}
