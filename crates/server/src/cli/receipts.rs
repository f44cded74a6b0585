//! `countersign receipts`: signed proofs of how requests ended. The commands also exist on their
//! own.

use clap::{Args, Subcommand};

use super::Exit;
use super::requests::{ReceiptArgs, RevokeArgs};
use super::verify::VerifyArgs;

#[derive(Args)]
pub(super) struct ReceiptsArgs {
    #[command(subcommand)]
    command: ReceiptsCommand,
}

#[derive(Subcommand)]
enum ReceiptsCommand {
    /// Fetch the signed receipt of a closed request
    #[command(alias = "get")]
    Show(ReceiptArgs),
    /// Verify a receipt, like `countersign verify`
    Verify(VerifyArgs),
    /// Revoke the receipt of a request
    Revoke(RevokeArgs),
}

impl ReceiptsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            ReceiptsCommand::Show(receipt) => receipt.run().await,
            ReceiptsCommand::Verify(verify) => verify.run().await,
            ReceiptsCommand::Revoke(revoke) => revoke.run().await,
        }
    }
}
