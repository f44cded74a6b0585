//! Our own API, `/api/v1`: the kernel's types on the wire.

mod ask;
mod ask_actions;
mod audit;
mod create;
mod identities;
mod insights;
mod keys;
mod notifications;
mod pages;
mod rules;
mod webhooks;

pub use ask::{
    AskOutcome, AskStatus, AskView, CommentView, ConversationView, EventView, ResultView,
    RevocationView, Viewer,
};
pub use ask::{PresenceView, PresentPerson, SnoozeBody, Snoozed, SnoozedAsk};
pub use ask_actions::ErasureResult;
pub use ask_actions::{
    AssignBody, CallbacksView, CancelBody, CommentBody, ExtendBody, PickBody, UploadedFile,
    WriteAddress, WriteBody,
};
pub use ask_actions::{BulkAnswer, BulkResult, BulkResults};
pub use audit::{BlockPage, BlockView, RecordListView, RecordView};
pub use create::{CreateAsk, SilenceAction};
pub use identities::{
    AgentBody, AgentView, GroupBody, GroupView, Me, PersonBody, PersonPatch, PersonView,
    ProfileBody, ProjectBody, ProjectView,
};
pub use insights::{
    ActionView, AgentInsights, CalibrationBin, CalibrationView, DayView, EndedView, InsightsView,
    IntentCount, LoadCount, ReadingView, RefusalReason, RefusalsView, ShareCount, VerdictsView,
    WaitCount, WaitView,
};
pub use keys::{IssueKey, IssuedKey, KeyView, PasskeyView, SessionListView, SessionView};
pub use notifications::{
    CodeBody, ContactMethodView, NotificationSettingsBody, NotificationSettingsView,
};
pub use notifications::{
    DeviceKeys, DeviceListView, DeviceTestResult, DeviceTestView, DeviceView, NewDevice,
};
pub use notifications::{MessageView, MessagesView};
pub use pages::{
    AgentPage, AskCount, AskPage, Comments, DeliveryPage, GroupPage, KeyPage, PeoplePage,
    ProjectPage, RuleListView, SearchResults, SignInLink, Thread, WebhookPage,
};
pub use rules::{RuleBody, RuleView};
pub use webhooks::{
    CallbackSecret, DeliveryAttempt, DeliveryStatus, DeliveryView, RotateBody, WebhookBody,
    WebhookSecret, WebhookView,
};
