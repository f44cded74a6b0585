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

/// A page of asks. It may be short and still go on.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskPage<'a> {
    /// In the order of the list.
    pub asks: Vec<AskView<'a>>,
    /// Pass it as `cursor` for the next page; `null` on the last.
    pub next: Option<String>,
}

page!(
    /// A page of projects.
    ProjectPage {
        /// By name.
        projects: ProjectView
    }
);
page!(
    /// A page of agents.
    AgentPage {
        /// By name.
        agents: AgentView
    }
);
page!(
    /// A page of people.
    PeoplePage {
        /// By name.
        people: PersonView
    }
);
page!(
    /// A page of groups.
    GroupPage {
        /// By name.
        groups: GroupView
    }
);
page!(
    /// A page of credentials. It may be short and still go on.
    KeyPage {
        /// Oldest first.
        keys: KeyView
    }
);

page!(
    /// A page of endpoints. It may be short and still go on.
    WebhookPage {
        /// Oldest first.
        webhooks: WebhookView
    }
);
page!(
    /// A page of what an endpoint was told.
    DeliveryPage {
        /// Newest first.
        deliveries: DeliveryView
    }
);

/// What was found by its words.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchResults<'a> {
    /// Newest first, 200 at most.
    pub asks: Vec<AskView<'a>>,
    /// Whether there may be older ones: as many were found as are looked for.
    pub more: bool,
}

/// How many asks a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskCount {
    /// So many.
    pub count: u64,
    /// Whether they were counted; else it is about so many, or at least so many of a narrowed list.
    pub exact: bool,
}

/// The rounds of one matter.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Thread<'a> {
    /// Oldest first.
    pub asks: Vec<AskView<'a>>,
}

/// Everything that was remarked on an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comments<'a> {
    /// In order.
    pub comments: Vec<CommentView<'a>>,
}

/// A person's delegation rules.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Rules))]
pub struct RuleListView<'a> {
    /// In the order in which they are tried; 1000 at most.
    pub rules: Vec<RuleView<'a>>,
}

/// A one-time sign-in address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignInLink {
    /// Works once, within 24 hours.
    pub url: String,
}
