//! Our own API, `/api/v1`: the kernel's types on the wire.

mod acts;
mod ask;
mod audit;
mod create;
mod identities;
mod insights;
mod keys;
mod notices;
mod pages;
mod rules;
mod webhooks;

pub use acts::Erased;
pub use acts::{
    AssignBody, CallbacksView, CancelBody, CommentBody, ExtendBody, PickBody, Uploaded,
    WriteAddress, WriteBody,
};
pub use acts::{BulkAnswer, BulkResult, BulkResults};
pub use ask::{
    AskView, CommentView, ConversationView, EventView, Outcome, ResultView, Revocation, State,
    Viewer,
};
pub use ask::{Looker, Lookers, SnoozeBody, Snoozed, SnoozedAsk};
pub use audit::{BlockPage, BlockView, RecordView, Records};
pub use create::{CreateAsk, OnSilence};
pub use identities::{
    AgentBody, AgentView, GroupBody, GroupView, Me, PersonBody, PersonPatch, PersonView,
    ProfileBody, ProjectBody, ProjectView,
};
pub use insights::{
    ActionView, AgentInsights, CalibrationBin, CalibrationView, DayView, EndedView, InsightsView,
    IntentCount, LoadCount, ReadingView, RefusalReason, RefusalsView, ShareCount, VerdictsView,
    WaitCount, WaitView,
};
pub use keys::{IssueKey, IssuedKey, KeyView, PasskeyView, SessionView, Sessions};
pub use notices::{CodeBody, NoticesBody, NoticesView, WayView};
pub use notices::{DeviceKeys, DeviceTried, DeviceView, Devices, NewDevice, Tried};
pub use notices::{MessageView, MessagesView};
pub use pages::{
    AgentPage, AskCount, AskPage, Comments, DeliveryPage, GroupPage, KeyPage, PeoplePage,
    ProjectPage, Rules, SearchResults, SignInLink, Thread, WebhookPage,
};
pub use rules::{RuleBody, RuleView};
pub use webhooks::{
    CallbackSecret, DeliveryAttempt, DeliveryStatus, DeliveryView, RotateBody, WebhookBody,
    WebhookSecret, WebhookView,
};
