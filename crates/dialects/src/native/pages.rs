//! Lists on the wire: the items, and the cursor of the next page.

use serde::{Deserialize, Serialize};

use super::{
    AgentView, AskView, CommentView, DeliveryView, GroupView, KeyView, PersonView, ProjectView,
    RuleView, WebhookView,
};

macro_rules! page {
    ($(#[$doc:meta])* $page:ident { $(#[$of:meta])* $items:ident: $item:ty }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $page {
            $(#[$of])*
            pub $items: Vec<$item>,
            /// Pass it as `cursor` for the next page; `null` on the last.
            pub next: Option<String>,
        }

        impl $page {
            pub fn new($items: Vec<$item>, next: Option<String>) -> Self {
                Self { $items, next }
            }
        }
    };
}

/// A page of asks. A short page can still have a next page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskPage<'a> {
    /// The asks, in the order of the list.
    pub asks: Vec<AskView<'a>>,
    /// Pass it as `cursor` for the next page; `null` on the last.
    pub next: Option<String>,
}

page!(
    /// A page of projects.
    ProjectPage {
        /// The items, by ID.
        projects: ProjectView
    }
);
page!(
    /// A page of agents.
    AgentPage {
        /// The items, by ID.
        agents: AgentView
    }
);
page!(
    /// A page of people.
    PeoplePage {
        /// The items, by ID.
        people: PersonView
    }
);
page!(
    /// A page of groups.
    GroupPage {
        /// The items, by ID.
        groups: GroupView
    }
);
page!(
    /// A page of credentials. A short page can still have a next page.
    KeyPage {
        /// The credentials, oldest first.
        keys: KeyView
    }
);

page!(
    /// A page of webhook endpoints. A short page can still have a next page.
    WebhookPage {
        /// The webhook endpoints, oldest first.
        webhooks: WebhookView
    }
);
page!(
    /// A page of the deliveries to a webhook endpoint.
    DeliveryPage {
        /// The deliveries, newest first.
        deliveries: DeliveryView
    }
);

/// The results of a search.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchResults<'a> {
    /// The asks, newest first, at most 200.
    pub asks: Vec<AskView<'a>>,
    /// Whether older matches may exist, because the limit was reached.
    pub more: bool,
}

/// The number of asks in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskCount {
    /// The number.
    pub count: u64,
    /// Whether the number is exact. Otherwise it is an estimate, or a lower bound for a filtered
    /// list.
    pub exact: bool,
}

/// The thread of an ask: all its rounds.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Thread<'a> {
    /// The rounds, oldest first.
    pub asks: Vec<AskView<'a>>,
}

/// The comments on an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comments<'a> {
    /// The comments, oldest first.
    pub comments: Vec<CommentView<'a>>,
}

/// A person's delegation rules.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Rules))]
pub struct RuleListView<'a> {
    /// The rules, in the order in which the server applies them; at most 1000.
    pub rules: Vec<RuleView<'a>>,
}

/// A one-time sign-in link.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignInLink {
    /// The link. It works once, within 24 hours.
    pub url: String,
}
