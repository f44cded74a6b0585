//! `countersign completions SHELL`

use clap::{Args, Command};
use clap_complete::Shell;

use super::Exit;
use super::output::say;

#[derive(Args)]
pub(super) struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, command: &mut Command) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "countersign", &mut script);
        say!("{}", String::from_utf8_lossy(&script).trim_end());
        Exit::Done
    }
}
