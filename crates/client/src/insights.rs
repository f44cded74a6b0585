//! Statistics about agents' claims and people's answers.

use dialects::native::InsightsView;
use reqwest::Method;

use crate::{Client, Result};

/// A filter. By default it covers everything that the credential may see of the last 30 days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insights {
    pub project: Option<String>,
    pub agent: Option<String>,
    /// The first day, in UTC, such as `2026-02-01`.
    pub from: Option<String>,
    /// The last day, inclusive.
    pub to: Option<String>,
}

impl Client {
    /// The statistics, which are slightly delayed.
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
