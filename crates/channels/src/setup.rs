//! How a channel is created from its settings, and what the server provides.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kernel::Time;
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use crate::channel::Channel;

/// The timeout for an answer from a platform.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// Returns the current time.
pub type ClockFn = Arc<dyn Fn() -> Time + Send + Sync>;

/// The complete settings of one channel.
pub trait ChannelSetup {
    /// The channel that the settings create.
    type Channel: Channel + ?Sized;

    /// The name of the channel, as in [`Channel::name`].
    const NAME: &'static str;

    /// Whether messages go to a person's address: an id, a phone number, an email address.
    const TAKES_ADDRESS: bool = true;

    /// Creates the channel, or says what is wrong with its settings.
    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String>;
}

/// What the server provides to every channel.
pub struct ChannelContext {
    /// The server's clock, which can be moved in development.
    pub clock: ClockFn,
    /// The real clock, which signatures need because platforms use it.
    pub wall_clock: ClockFn,
    /// Ends listeners when the server stops.
    pub stop: CancellationToken,
    /// Where failing dependencies are logged.
    pub outages: Box<dyn OpenOutageLog>,
}

impl ChannelContext {
    /// A client for calls with an immediate answer. It follows no redirects, because
    /// platforms send none.
    pub fn http(&self) -> Result<Client, String> {
        let client = Client::builder()
            .http1_only()
            .timeout(RESPONSE_TIMEOUT)
            .connect_timeout(RESPONSE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        client.map_err(|error| error.to_string())
    }

    /// A client for long polling, without a timeout for the answer.
    pub fn patient_http(&self) -> Result<Client, String> {
        let client = Client::builder().http1_only().connect_timeout(RESPONSE_TIMEOUT).build();
        client.map_err(|error| error.to_string())
    }
}

/// Creates the log of a dependency.
pub trait OpenOutageLog: Send + Sync {
    /// The log of the dependency with this name.
    fn open(&self, dependency: &str) -> Box<dyn OutageLog>;
}

/// Logs once when a dependency begins to fail, and once when it has recovered.
pub trait OutageLog: Send + Sync {
    /// Records that a call to the dependency worked.
    fn worked(&self, user: &str);

    /// Records that a call to the dependency failed.
    fn failed(&self, user: &str, error: &dyn fmt::Display);
}
