//! Numbers about what agents claim and what people do with it.

use dialects::native::InsightsView;
use reqwest::Method;

use crate::{Client, Result};

/// Which numbers are wanted: all that the credential may see of the last 30 days, unless told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insights {
    /// Only of this project.
    pub project: Option<String>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// From this day on, in UTC, such as `2026-02-01`.
    pub from: Option<String>,
    /// Up to this day, and with it.
    pub to: Option<String>,
}

impl Client {
    /// The numbers, a moment behind what happens.
    pub async fn insights(&self, wanted: &Insights) -> Result<InsightsView> {
        let mut url = self.base.clone();
        let Insights { project, agent, from, to } = wanted;
        {
            let mut query = url.query_pairs_mut();
            query.clear();
            for (name, value) in
                [("project", project), ("agent", agent), ("from", from), ("to", to)]
            {
                if let Some(value) = value {
                    query.append_pair(name, value);
                }
            }
        }
        let path = format!("/api/v1/insights?{}", url.query().unwrap_or_default());
        self.call(Method::GET, &path, None::<&()>).await
    }
}
