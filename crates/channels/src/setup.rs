//! How a channel is made from its settings, and what the server gives it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kernel::Time;
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use crate::channel::Channel;

/// How long a platform may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Says what time it is.
pub type ClockFn = Arc<dyn Fn() -> Time + Send + Sync>;

/// The complete settings of one channel.
pub trait Setup {
    /// What the settings make.
    type Channel: Channel + ?Sized;

    /// What the channel is called, as in [`Channel::name`].
    const NAME: &'static str;

    /// Whether messages go to an address that a person can be given: an id, a number, an email address.
    const TAKES_ADDRESS: bool = true;

    /// Makes the channel, or says what is wrong with its settings.
    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String>;
}

/// What the server gives every channel.
pub struct ChannelContext {
    /// The server's time, which can be moved in development.
    pub clock: ClockFn,
    /// The time that platforms go by, for signatures.
    pub wall_clock: ClockFn,
    /// Ends listeners when the server stops.
    pub stop: CancellationToken,
    /// Where failing dependencies are logged.
    pub outages: Box<dyn OpenOutageLog>,
}

impl ChannelContext {
    /// A client for calls that are answered at once. It follows no redirect: platforms make none.
    pub fn http(&self) -> Result<Client, String> {
        let client = Client::builder()
            .http1_only()
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        client.map_err(|error| error.to_string())
    }

    /// A client for platforms that answer when there is something to say.
    pub fn patient_http(&self) -> Result<Client, String> {
        let client = Client::builder().http1_only().connect_timeout(PATIENCE).build();
        client.map_err(|error| error.to_string())
    }
}

/// Makes the log of a dependency.
pub trait OpenOutageLog: Send + Sync {
    /// The log of the dependency with this name.
    fn open(&self, dependency: &str) -> Box<dyn OutageLog>;
}

/// Logs when a dependency begins to fail and when it has recovered, once each.
pub trait OutageLog: Send + Sync {
    /// A call to the dependency worked.
    fn worked(&self, user: &str);

    /// A call to the dependency failed.
    fn failed(&self, user: &str, error: &dyn fmt::Display);
}
