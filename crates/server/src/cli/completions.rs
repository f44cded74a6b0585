//! `countersign completions SHELL`

use clap::{Args, Command};
use clap_complete::Shell;

use super::Exit;

#[derive(Args)]
pub(super) struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, command: &mut Command) -> Exit {
        clap_complete::generate(self.shell, command, "countersign", &mut std::io::stdout());
        Exit::Done
    }
}
