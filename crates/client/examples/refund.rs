//! An agent that asks before it gives money back.
//!
//! `COUNTERSIGN_API_KEY=dev-agent-key cargo run -p countersign-client --example refund`

use std::time::Duration;

use client::Client;
use client::asking::{AnswerState, Approval};

#[tokio::main(flavor = "current_thread")]
async fn main() -> client::Result<()> {
    println!("{}", refund(&Client::from_env()?, 120).await?);
    Ok(())
}

/// Asks, and says what becomes of the refund.
pub(crate) async fn refund(countersign: &Client, amount: u32) -> client::Result<String> {
    let outcome = countersign
        .ask(format!("Refund €{amount} to Ada Lovelace?"))
        .context("The parcel was lost; the carrier confirmed it this morning.")
        .approve()
        .detail("amount", amount)
        .detail("order", 4711)
        .editable()
        .timeout(Duration::from_hours(1))
        .on_silence("fail")
        .wait()
        .await?;
    Ok(match &outcome.said {
        AnswerState::Answered(Approval::Approved { edits }) => {
            // A person may have changed the amount: theirs counts.
            let edited = edits.as_ref().and_then(|edits| edits.get("amount")?.as_u64());
            format!("refunded €{}", edited.unwrap_or_else(|| amount.into()))
        }
        AnswerState::Answered(Approval::Rejected | Approval::ChangesRequested) => {
            format!("not refunded: {}", outcome.comment().unwrap_or("no reason given"))
        }
        AnswerState::Defaulted(_) | AnswerState::Expired(_) | AnswerState::Failed => {
            "not refunded: nobody answered".to_owned()
        }
        AnswerState::Revoked(_) | AnswerState::Cancelled | AnswerState::Erased => {
            "not refunded".to_owned()
        }
    })
}
