### The frame of every page, parts that pages share, the inbox, the history, insights, and single
### messages.

## Times

time-just-now = just now
time-within-a-minute = in less than a minute
time-minutes-ago = { $n } min ago
time-in-minutes = in { $n } min
time-hours-ago = { $n } h ago
time-in-hours = in { $n } h
time-days-ago = { $n ->
    [one] { $n } day ago
   *[other] { $n } days ago
}
time-in-days = { $n ->
    [one] in { $n } day
   *[other] in { $n } days
}
# A day that is far away, such as 13 Mar 2027.
time-on-day = on { $day }

## Values

value-empty = (empty)
value-none = (none)
value-no-name = (no name)
value-yes = yes
value-no = no
percent = { $n } %
size-bytes = { $n ->
    [one] { $n } byte
   *[other] { $n } bytes
}
text-lines = { $n ->
    [one] { $n } line
   *[other] { $n } lines
}
text-characters = { $n ->
    [one] { $n } character
   *[other] { $n } characters
}
text-erased = The text of this request was erased.
# Above a long text that scrolls. $extent is "40 lines" or "2,000 characters".
text-scroll = All { $extent } are here: scroll inside
text-open-all = Open all { $extent }
# A line of a file that is too long for the page.
diff-cut-line = { $text }… ({ $n } more characters)
# Before the description of a picture in an agent's text.
markdown-image = picture, not loaded:
# For screen readers, after the address of a link to another site.
link-opens-elsewhere = (opens another site)
list-more = and { $n } more, which the API has
# Large numbers in charts, where there is little room.
chart-thousands = { $n }k
chart-millions = { $n }M

## People, agents and channels

person-erased = erased person
actor-agent = the agent { $id }
actor-link-holder = someone with the link
# A person whom the agent quotes.
actor-relay = someone the agent speaks for
# A person reached at an address that the agent chose.
actor-guest = someone at an address from the agent
# How an answer arrived, after the name of the person who gave it.
via-web = on the web page
via-terminal = in the terminal
via-notification = from a notification
via-slack = in Slack
via-email = by email
via-sms = by text message
via-whatsapp = in WhatsApp
via-telegram = in Telegram
via-webhook = through a webhook
via-api = through the API
via-link = with the review link
via-agent = through the agent
via-timer = when the deadline passed
via-script = by a script, in a test

## How certain the identity of a person who answered is

assurance-none = no one answered
assurance-address-of-agent = identity unknown; the agent chose the address
assurance-link-of-agent = with a link that the agent was given; only the agent says that a person answered
assurance-agent-attested = only the agent says that a person answered
assurance-reached-for-agent = identity unknown; the agent asked to reach them there
assurance-link = anyone with the link
assurance-channel = identity checked by the messaging service
assurance-session = signed in
assurance-passkey = confirmed with a passkey
assurance-dkim = sender verified by a DKIM signature of { $domain }
assurance-arc = sender verified by a DKIM signature of { $domain }, as the trusted forwarder { $sealer } sealed (ARC)
assurance-reply-address = to a reply address sent to their verified email address; the sender was not verified

## Requests

urgency-critical = Critical
urgency-high = High
urgency-normal = Normal
urgency-low = Low
kind-approve = Approve or reject
kind-choose = Choose
kind-provide = Fill in
kind-confirm = Confirm
kind-escalate = Something failed
kind-converse = Reply
default-skip = The agent continues without an answer
default-approve = The agent goes ahead as if you had approved
default-reject = The agent acts as if you had rejected it
default-abort = The agent stops
confirm-go-ahead = Confirm and go ahead
confirm-do-not-go-ahead = Do not go ahead
browser-on-system = { $browser } on { $system }
browser-unknown-on-system = A browser on { $system }
browser-unknown = A browser

## What the agent claims about its message

claims-title = Agent's claims (unverified)
claims-confidence = Confidence
claims-effort = Effort
claims-assumptions = Assumptions
claims-limits = Limits
claims-questions = Open questions
claims-actions = Actions
claims-picked = requested
claims-comment = Tell the agent
claims-comment-note = a comment, not your answer
claims-comment-send = Send to the agent
claims-confidence-of = confidence { $percent }
claims-verify = should be verified
claims-refuses = refuses
claims-limits-count = { $n ->
    [one] { $n } limit
   *[other] { $n } limits
}
claims-complexity = complexity { $load }/10
claims-seconds-to-read = { $n } s to read
claims-minutes-to-read = { $n } min to read
refusal-safety = The agent refuses for safety reasons.
refusal-legal = The agent refuses for legal reasons.
refusal-capability = The agent refuses because it cannot do it.
refusal-policy = The agent refuses because of a policy.
refusal-unknown = The agent refuses. It gives no reason.
refusal-hard = It will not do it in any form.
refusal-soft = The refusal can be discussed.
refusal-redirect = It offers an alternative.
refusal-no-redirect = It has no alternative.
safety-high-risk = It sees a high risk of harm.
safety-some-risk = It sees some risk of harm.
safety-policy = It says that a policy was triggered.
action-ask-followup = Ask a follow-up question
action-refine-request = Be more specific
action-simplify = Simplify it
action-expand = Say more
action-generate-variant = Make another version
action-compare-options = Compare the options
action-verify-sources = Check the sources
action-create-plan = Make a plan
action-export-schema = Export the schema
action-show-examples = Show examples

## Tasks

task-state-created = Not assigned
task-state-assigned = Not started
task-state-in-progress = In progress
task-state-blocked = Blocked
task-state-review-ready = Ready for review
task-state-under-review = In review
task-state-accepted = Accepted
task-state-done = Done
task-state-cancelled = Cancelled
task-state-rejected = Rejected
# Why a task went from one party to another.
handover-assign = to work on it
handover-checkpoint = for a decision
handover-approve = to continue
handover-reject = because of the decision
handover-handoff = handed over
checkpoint-input = Give information
checkpoint-escalation = The agent cannot continue alone
checkpoint-interrupt = You stopped the agent
checkpoint-pending = Waiting for an answer
checkpoint-approved = Approved by { $who }
checkpoint-rejected = Rejected by { $who }, which ended the task
checkpoint-chosen = Decided by { $who }
checkpoint-provided = Answered by { $who }
checkpoint-reassigned = Reassigned to the agent { $agent } by { $who }
checkpoint-reassigned-elsewhere = Reassigned by { $who }
checkpoint-timed-out = No one answered in time
checkpoint-expired = Closed without an answer
checkpoint-withdrawn = Withdrawn
checkpoint-cancelled = The task was cancelled first
verdict-accepted = Accepted
verdict-plan-approved = Plan approved
verdict-changes-requested = Changes requested
verdict-rejected = Rejected
severity-blocker = Must change
severity-major = Should change
severity-minor = Could be better
severity-nit = A matter of taste
# The purpose of a message to an agent at work.
intent-clarify = Clarify
intent-redirect = Change direction
intent-constrain = Add a constraint
intent-abort-hint = Suggest stopping
permission-allow = Allowed
permission-deny = Forbidden
grant-run-over = during a run that has ended
grant-next-run = during the next run
grant-this-run = during this run
grant-task = for the whole task
grant-until = until { $at }
autonomy-autonomous = Anything the task needs
autonomy-plan-then-implement = Nothing before its plan is approved
autonomy-confirm-each-action = Only approved actions
autonomy-read-only = Read only
payload-diff = a change
payload-blob = a file
payload-ref = a reference
payload-inline = a text

## The frame of every page

nav-inbox = Inbox
# For screen readers, after the number of requests in the inbox.
nav-waiting = waiting

## Words that several pages share

common-agent = Agent
common-project = Project
common-receipt = Receipt
common-close = Close
common-cancel = Cancel
common-back-to-inbox = Back to the inbox
common-cannot-be-undone = This can't be undone

## Facts that the server knows about a request

known-kind = Kind of request
known-who-answers = Who answers
known-if-nobody-answers = If nobody answers

## Changes to a proposal, for screen readers

changed-proposed = The agent proposed:
changed-now = Changed to:
changed-lines = { $label }, line by line

## Notes on top of a page

banner-written = What you wrote
banner-next = Next: <bdi>{ $prompt }</bdi>
banner-see-request = See the request and its receipt
button-suggested = Agent suggests
undo = Undo
# The number counts down.
undo-answer-in = The agent gets your answer in <span data-left>{ $seconds }</span> s.
undo-answers-in = The agents get your answers in <span data-left>{ $seconds }</span> s.
problems-title = { $count ->
    [one] One thing needs to be corrected
   *[other] { $count } things need to be corrected
}
problems-kept = Nothing was sent. Everything else you entered is still there.
problems-files-again = Please choose files again.

## Keys

keys-title = Keyboard shortcuts
keys-next = Next and previous request
keys-open = Open it
keys-approve = Approve or reject, if the whole question is in the row
keys-confirm = Confirm the second step of an irreversible or critical request
keys-undo = Undo your last answer, while that is possible
keys-option = Choose that option
keys-comment = Open it to write a comment
keys-select = Select it, to answer several together
keys-snooze = Snooze it
keys-search = Search
keys-go = Go to the inbox, to the history, to the tasks
keys-these = Show these keyboard shortcuts

## Filters of lists

filter-expires = Expires
filter-any-time = Any time
filter-every-project = Every project
filter-every-agent = Every agent
filter-kind = Kind
filter-every-kind = Every kind
filter-ended-by = Closed by
filter-anybody = Anyone
filter-outcome = Outcome
filter-every-outcome = Every outcome
nav-history = History

## Lists

common-search = Search
common-filter = Filter
common-apply = Apply
common-optional = optional
common-error = Error:
common-approve = Approve
common-reject = Reject
common-choose = Choose
common-did-not-work = That did not work
filter-within-an-hour = Within an hour
filter-within-a-day = Within a day
filter-clear = Clear filter
search-newest = These are the newest { $n }. Add a word to find the one you mean.
list-end = No more results.
list-back = Back to the list
list-beginning = Back to the beginning
list-pages = Pages
agent-in-project = <bdi>{ $agent }</bdi> in <bdi>{ $project }</bdi>
# Above the text of an agent.
agent-says = The agent says

## Inbox

inbox-tabs = Which requests
inbox-tab-all = All
inbox-tab-mine = Assigned to me
inbox-tab-groups = My groups
inbox-tab-everyone = Everyone’s
inbox-tab-snoozed = Snoozed
# $n is a number or a text such as 10000+.
inbox-waiting = { $n } waiting
inbox-caught-up = All caught up
inbox-snoozed = { $n } snoozed
inbox-nothing-snoozed = Nothing snoozed
inbox-no-match = No open requests match
inbox-matches = { $n ->
    [one] { $n } request matches
   *[other] { $n } requests match
}
inbox-more-matches = More than { $n } requests match
inbox-none-similar = No similar requests left
inbox-critical = { $n } critical
inbox-write = Write to an agent
inbox-search = Search requests
inbox-search-label = Words in requests
inbox-search-history = Search history
inbox-no-match-hint = It may have been answered: <a href="{ $href }">search the history</a>.
inbox-snoozed-hint = Requests that you snooze are listed here until they come back.
inbox-caught-up-hint = You have answered everything. New requests appear here.
inbox-empty-hint = New requests appear here.
inbox-show-new = Show new requests
inbox-review-selected = Review <span data-selected>the selected requests</span>…
inbox-review-selected-note = You see a summary first. Nothing is sent yet.
inbox-more = Show more requests
inbox-recent = Recent
first-title = Send yourself the first request
first-key-hint = An agent asks with an API key. Create one to see three ways to ask: curl, Python and the terminal. The request appears here, and your answer goes back to the agent.
first-key = Create a key
first-no-agent = You own no agent yet. Requests reach you when an agent asks you or a group you are in; an administrator can add an agent for you.
first-demo-hint = Or see an example first.
first-demo = Let the demo agent ask
first-demo-note = A made-up question. Nothing happens, whatever you answer.

## A row of the inbox

row-expires-soon = Expires { $time }
row-due-soon = Due { $time }
row-goes-ahead-soon = Goes ahead { $time }
row-expires = expires { $time }
row-due = due { $time }
row-goes-ahead = goes ahead { $time }
row-was-due = was due { $time }
row-task = Task
row-claimed-by = Claimed by <bdi>{ $name }</bdi>
row-claimed-by-you = Claimed by you
row-select = Select: { $prompt }
row-similar = { $n ->
    [one] { $n } similar request
   *[other] { $n } similar requests
}
row-similar-or-more = { $n } or more similar requests
row-similar-total = { $n } similar requests, { $total } in total
row-verify = Verify this
row-claims = The agent says: <bdi>{ $line }</bdi>
row-from = <strong>{ $agent }</strong> in { $project }
row-asked-at = asked { $time }
row-asked = Asked:
row-by = by <bdi>{ $who }</bdi>
row-being-answered = being answered by <bdi>{ $name }</bdi>
row-comes-back = comes back { $time }
row-show-all = Show all
row-review-together = Review together…
row-view = View
row-open = Open
row-read-and-answer = Read and answer
row-snooze = Snooze…
row-wake = Move back to the inbox
row-this-request = this request
viewers-one = { $name } is looking at it
viewers-two = { $name } and { $other } are looking at it
viewers-many = { $name } and { $others } others are looking at it

## Snooze and reassign

snooze-title = Snooze or reassign
snooze-until = Snooze until
snooze-hint = It leaves your own lists and comes back by itself. For others nothing changes, and it may expire in the meantime.
snooze-hour = In one hour
snooze-tomorrow = Tomorrow morning
snooze-tomorrow-time = At 9:00<span data-utc> UTC</span>
snooze-week = Next week
snooze-week-time = Monday at 9:00<span data-utc> UTC</span>
snooze-pick = Or pick a time<span data-utc> in UTC</span>
snooze-time-wrong = Choose a time in the future, within ten years
snooze-send = Snooze until then
snooze-full = You have snoozed 500 requests, which is the maximum. Move some back to your inbox first.
snooze-reassign = Reassign
snooze-reassign-more = Reassign…
snooze-reassign-send = Reassign this request
snooze-nobody-else = No one else is in this project.
snooze-to = Who should answer
snooze-person-wrong = Choose a person who is in this project
snooze-choose-person = Choose a person
snooze-note = Note

## Review together

bulk-title = { $n ->
    [one] Answer { $n } request
   *[other] Answer { $n } requests together
}
bulk-nothing-sent = Nothing is sent yet
bulk-none = None of these can be answered together
bulk-nothing-selected = You selected nothing, or it was answered in the meantime. Select requests in the list first.
bulk-count = { $n ->
    [one] { $n } request
   *[other] { $n } requests
}
bulk-total = total
bulk-comment = Comment for all of them
bulk-each = Each gets its own answer and receipt.
# A button that does nothing and that nobody sees: it makes the Enter key harmless.
bulk-press = Press one below
# A script writes the number of requests in place of the words in the span.
bulk-approve = Approve <span data-what>the selected requests</span>
bulk-reject = Reject <span data-what>the selected requests</span>
bulk-confirm = Go ahead with <span data-what>the selected requests</span>
bulk-decline = Do not go ahead with <span data-what>the selected requests</span>
bulk-retry = Retry <span data-what>the selected requests</span>
bulk-skip = Skip <span data-what>the selected requests</span>
bulk-abort = Abort <span data-what>the selected requests</span>
bulk-choose = Choose <bdi>“{ $option }”</bdi> for <span data-what>the selected requests</span>
bulk-choose-suggested = Choose <bdi>“{ $option }”</bdi> (Agent suggests) for <span data-what>the selected requests</span>
bulk-abort-note = The agents give up what they were doing. This can't be undone.
bulk-rest = { $n ->
    [one] { $n } of them needs another answer and stays open.
   *[other] { $n } of them need another answer and stay open.
}
bulk-left-out = { $n ->
    [one] { $n } request is left out
   *[other] { $n } requests are left out
}
bulk-answer-alone = Answer it on its own page
bulk-answered = { $n ->
    [one] { $n } request is answered
   *[other] { $n } requests are answered
}
bulk-answered-title = Answered
bulk-nothing-answered = Nothing was answered
bulk-sent-later = They are sent when the time has passed, unless a request is cancelled before.
bulk-refused = { $n ->
    [one] { $n } was not answered
   *[other] { $n } were not answered
}
bulk-unknown-request = A request that does not exist
bulk-confirm-title = Confirm your answer
bulk-needs-proof = It needs a proof that you are a person
bulk-needs-sign-in = It needs a stronger sign-in
bulk-needs-passkey = It needs your passkey
bulk-needs-reason = Its rejection needs its own reason
bulk-irreversible = It is irreversible
bulk-critical = It is critical
bulk-does-not-fit = This list can't show all of it: open it
bulk-own-answer = Needs its own answer
bulk-task-went-on = Its task has continued without it
bulk-task-expired = The time for its task was up { $ago }
bulk-not-found = It does not exist, or you can't see it
bulk-changed = It has just changed; view it again
bulk-failed = That did not work; open it
refused-answered = Already answered by { $who }, { $ago }
refused-withdrawn = Withdrawn by { $who }, { $ago }
refused-expired = Expired { $ago }
refused-claimed = { $who } has claimed it
refused-being-answered = { $who } has just answered it

## Notes on top of a page: what the last action did

banner-sent = Your answer was sent
banner-sent-text = The agent has it now.
banner-sent-to = Sent to { $agent }.
banner-answered = Answered
banner-answers-sent = Your answers were sent. Each has its own receipt.
banner-open-request = Open the request
banner-claimed = You have claimed this request
banner-claimed-text = Only you are expected to answer it now.
banner-reassigned = Reassigned to { $name }
banner-reassigned-text = They have been asked to answer.
banner-snoozed = Snoozed, back { $until }
banner-snoozed-text = It comes back by itself. Until then it is under “Snoozed”; for others nothing changes.
banner-woken = Back in your inbox
banner-woken-text = The request is in your inbox again.
banner-commented = Your comment was added
banner-commented-text = Everyone who can see this request can read it, and so can the agent.
banner-picked = The agent was notified
banner-picked-text = This is not an answer: the request still waits for one.
banner-extended = It now expires { $until }
banner-extended-text = The agent was notified and keeps waiting.
banner-saved = Saved. Nothing was sent yet
banner-saved-text = Open the same link again to continue, on any device. It is kept until the request ends.
banner-declined = The request is closed
banner-declined-text = The agent was notified that nobody will answer it.
banner-signed-out = Signed out
banner-signed-out-text = These sessions can no longer be used.
banner-passkey-added = Passkey added
banner-passkey-added-text = You can sign in with it from now on. Your other contact methods were notified.
banner-passkey-removed = Passkey removed
banner-passkey-removed-text = You can no longer sign in with it. Your device may still list it.
banner-passkey-refused = Your passkey was not accepted
banner-claimed-meanwhile = { $name } has claimed this request
banner-claimed-meanwhile-text = Your answer was not sent; everything you entered is still here. To answer anyway, tick the box above your answer.
banner-being-answered = { $name } has just answered this request
banner-being-answered-text = Nothing was sent from this page. Their answer takes effect in a moment, unless they undo it.
banner-just-answered = This request was just answered
banner-just-answered-text = Your answer was not sent. The other answer takes effect in a moment, unless it is undone.
banner-comment-refused = Your comment was not added
undo-too-late = Too late to undo
undo-too-late-text = Your answer was already sent to the agent, so it stands.
undo-late-answers = { $n ->
    [one] { $n } answer was already sent and stands.
   *[other] { $n } answers were already sent and stand.
}
undo-done = { $n ->
    [one] Your answer was undone
   *[other] { $n } answers were undone
}
undo-done-text = { $n ->
    [one] Nothing was sent. The request is open again.
   *[other] Nothing was sent. The requests are open again.
}
undo-some = { $n } of { $total } answers were undone
unsent-all = { $n ->
    [one] Your answer was not sent
   *[other] Your answers were not sent
}
unsent-some = { $n } of { $total } answers were not sent
# $headline is how the request ended, such as "Rejected".
unsent-ended = { $headline } before your answer took effect.
unsent-ended-by = { $headline } by { $who } before your answer took effect.
unsent-undone = It was undone on another page, or you may no longer answer this request. The request is still open.

## Why an action was refused

common-not-allowed = You can't do this
refused-invalid = Something needs to be corrected
# $expected comes from the server, in English.
refused-expected = Nothing was changed. Expected: { $expected }.
refused-because = Nothing was changed: { $why }.
refused-quota = A limit of this server was reached
refused-answered-text = Your answer was not sent. Their answer is shown below.
refused-withdrawn-text = Your answer was not sent: nobody waits for it any more.
refused-expired-text = Your answer came too late and was not sent. What happens now is shown below.
refused-claimed-text = Your answer was not sent. They are expected to answer.
refused-needs-passkey = This request needs your passkey
refused-needs-passkey-text = Your answer was not sent: it was not confirmed with your passkey.
refused-needs-sign-in = This request needs a stronger sign-in
refused-needs-sign-in-text = Your answer was not sent. Sign in again, then answer.
refused-approval-needs-passkey = Approving this request needs your passkey
refused-approval-needs-passkey-text = Your answer was not sent: the request is irreversible or critical. Open it and confirm your approval with a passkey. Rejecting it needs none.
refused-approval-needs-sign-in = Approving this request needs someone who is signed in
refused-approval-needs-sign-in-text = Your answer was not sent: the request is irreversible or critical. Sign in to approve it. Rejecting it needs no sign-in.
refused-not-allowed-text = Nothing was changed. Ask the owner of this agent.
refused-nothing-changed = Nothing was changed.
refused-needs-proof = This request needs a proof that a person answers
refused-not-sent = Your answer was not sent.
refused-task-went-on = The task has continued without this
refused-task-went-on-text = Your answer was not sent: its task does not wait for it any more.
refused-task-expired = The time for this task was up { $ago }
refused-task-expired-text = Nothing was changed. The task shows what happens now.
refused-try-again = Nothing was changed. Load the page and try again.

## History

common-export = Export
history-lead = Requests that were answered, expired or were withdrawn, newest first.
history-audit-log = Audit log
history-sealed = Sealed up to block { $n }, closed { $time }. Its signature was checked just now.
history-broken = <strong>The signature of block { $n } is not valid.</strong> Ask an administrator to check the audit log. The block was closed { $time }.
history-unsealed = { $n ->
    [0] No events wait for the next block.
    [one] { $n } event waits for the next block.
   *[other] { $n } events wait for the next block.
}
history-nothing-sealed = { $n ->
    [one] Nothing is sealed yet. { $n } event waits for the first block, which is closed within seconds.
   *[other] Nothing is sealed yet. { $n } events wait for the first block, which is closed within seconds.
}
history-verify = Verify everything with <code>countersign audit verify</code>; <a href="/docs/audit">what it proves, and how to read it</a>.
history-whose = Whose history
history-yours = Yours
history-search-label = Words in requests and answers
history-since = Asked from
history-until = Asked until
history-search-inbox = Search the inbox
history-no-match = No closed requests match.
history-empty = No request is closed yet. Requests that you answer are listed here.
history-closed = Closed requests
history-newest = Back to the newest
history-older = Show older requests
history-answered = Answered
history-expired = Expired
history-failed = Failed: nobody answered
history-withdrawn = Withdrawn
history-export-filtered = Everything that matches the filter above, regardless of your search.
history-export-all = This whole list, not only this page.
history-export-secrets = Secrets are left out; the CSV file does not contain values that were filled in.
history-export-csv = Export as CSV
history-export-jsonl = Export as JSON Lines

## Pages with a single message

common-sign-in = Sign in
page-cannot-be-shown = This page could not be shown. Please load it again.
page-go-to-inbox = Go to your inbox
page-reload = Load it again
page-try-again = Try again
page-go-back = Go back
page-back-to-sign-in = Back to sign-in
page-back-to-request = Back to the request
page-sign-in-another-way = Sign in another way
page-add-passkey = Add a passkey
page-not-found = Page not found
page-not-found-text = It does not exist, or you can't see it. If someone sent you the link, ask them to reassign the request to you.
page-link-invalid = This link isn't valid
page-link-invalid-text = It may have been cut off when it was copied, or it was never valid. Open the whole link as it was sent to you, or ask the sender for a new one.
page-wait = Wait a moment
page-too-fast-text = This page was sent very often within a minute. Your last changes may not be saved.
page-no-receipt = There is no receipt
page-no-receipt-text = A request has a receipt once it is closed, unless its text was erased.
page-forbidden-text = Your account has no permission for this. An administrator can give it to you.
page-link-sent = Check your email
page-link-sent-text = If this address belongs to an account, an email with a sign-in link is on its way. The link works once, within 15 minutes.
page-link-sent-more = No email? Check your spam folder, or ask an administrator whether your address has an account.
page-stale-link = This sign-in link no longer works
page-stale-link-text = Sign-in links work once and expire soon. Request a new one.
page-passkey-refused = This passkey does not work here
page-passkey-refused-text = It may have been removed, or the page was open too long. Try again, or sign in another way.
page-passkey-needed-text = A session is not enough for this request. Your answer was not sent. Add a passkey, then answer again.
page-passkey-waits = Your passkey is not active yet
page-passkey-waits-text = Your passkey was added a short while ago and does not confirm answers yet. Your answer was not sent. Ask an administrator to confirm your passkey, or answer later.
page-passkey-waits-until = It becomes active { $from }.
page-no-passkeys = This server has no passkeys
page-no-passkeys-text = An administrator can change that: { $why }.
page-provider-refused = You could not be signed in
page-provider-refused-text = The sign-in was cancelled, took too long, or was not valid. Try again; if it happens again, an administrator finds the reason in the log.
page-no-account = You have no account here
page-no-account-text = Your organisation knows you, but nobody added you here. An administrator can.
page-too-many-attempts-text = There were too many sign-in attempts from your network. Wait a minute, then try again.
page-signed-out = You are signed out
page-signed-out-text = You are still notified of requests by your other contact methods.
page-signed-out-provider = You may still be signed in with { $name }.
page-sign-out-provider = Sign out there too
page-stale = This page was open too long
page-stale-text = You were signed out or signed in again since you opened it. Nothing was sent.
page-too-large = That was too large
page-too-large-text = A form can be at most { $most }, with its files. Nothing was sent. Go back and send less.
page-server-error = Something went wrong on our side
page-server-error-text = Load the page to see whether your answer arrived before you send it again.
page-server-error-reference = If it happens again, tell an administrator: { $reference }
page-see-log = the log has the details
page-unreadable-data = stored data cannot be read
page-unavailable = Countersign is not available right now
page-unavailable-text = The server is starting, stopping or busy. Nothing is lost: requests and answers are kept. Try again in a minute.
page-offline = You are offline
page-offline-text = This page could not be loaded: there is no network, or the server cannot be reached. Your requests are waiting there.
page-unsent = No response
page-unsent-text = There is no network, or the server could not be reached, so it is unknown whether your form arrived. Assume that it did not.
page-unsent-more = Go back to see the state of the request. What you entered is still there, except for passwords and files.
token-text = With a token, the countersign command and your own programs answer in your name. It is shown once. Anyone who has it can answer as you.
token-create = Create a token
token-label = Where you will use it
token-label-example = work laptop
token-new = Your new token
token-copy = <strong>Copy it now: it is shown only once.</strong> Anyone who has it can answer as you.
token-field = Token
token-field-for = Token for { $label }
token-until = It works until { $exact } ({ $time }).
token-terminal = In your terminal

## The menu

nav-skip = Skip to the content
nav-you = You
nav-tasks = Tasks
nav-insights = Insights
nav-away = Out of office
nav-devices = Notifications
nav-settings = Settings
nav-sessions = Sessions
nav-passkeys = Passkeys
nav-api-token = API token
nav-sign-out = Sign out of this device

## Insights

insights-lead = What agents claim, and what people do with it: { $from } to { $to }, days in UTC.
insights-period = Period
insights-days = { $n ->
    [one] { $n } day
   *[other] { $n } days
}
insights-missing = You can't see such a project or agent.
insights-empty = No data for this period
insights-empty-text = As soon as an agent asks something here, this page shows how long people took, how requests ended, and how the agent's claims compare with people's decisions.
insights-numbers = Table
insights-numbers-of = { $title }, table
insights-agents = Agents compared
insights-first-agents = These are the first agents by name. Use the filter to see another.
insights-note = What agents say about their messages is unverified. One rushed decision means nothing; many may mean that people no longer read. No number here says who decided. <a class="tall" href="/docs/insights">The same numbers by API</a>
insights-requests = Requests
insights-messages = Messages
insights-answers = Answers
insights-decisions = Decisions
insights-day = Day (UTC)
insights-closed = { $n } closed
insights-closed-column = Closed
insights-outcome = Outcome
insights-first-view = Time to first view
insights-decision = Time to decision
insights-expired = Expired unanswered
insights-edited = Approved with changes
insights-changed = Changed
insights-overruled = Overruled
insights-rushed = Rushed decisions
insights-nine-of-ten = nine of ten within { $duration }
insights-of = { $n } of { $all }
insights-of-recommendations = { $n } of { $all } recommendations
insights-of-opened = { $n } of { $all } that were opened
insights-share-of = { $share } ({ $part } of { $whole })
insights-after-decisions = after { $n } decisions
insights-calibration = claims { $claimed }, not overruled { $kept }
insights-recommendation-decisions = Decisions on its recommendations
insights-calibration-column = Claimed confidence, and decisions
insights-nothing-counted = No data for this period.
# $label is the most frequent value, such as "Answered".
insights-most-requests = Most: { $label }, { $n } of { $total } requests.
insights-most-messages = Most: { $label }, { $n } of { $total } messages.
insights-most-answers = Most: { $label }, { $n } of { $total } answers.
insights-per-day = Requests per day
insights-no-requests = No requests in this period.
insights-per-day-says = { $n ->
    [one] { $n } request; most on { $day }, { $most }.
   *[other] { $n } requests; most on { $day }, { $most }.
}
insights-ended = How requests ended
insights-ended-answered = Answered
insights-ended-defaulted = Expired: the agent continued with its default
insights-ended-expired = Expired: the agent was notified
insights-ended-failed = Expired: failed
insights-ended-withdrawn = Withdrawn
insights-intents = Intents that agents state
insights-intent = Intent
insights-confidence = Confidence that agents state, in percent
insights-complexity = Complexity that agents state, on average
insights-average-complexity = Average complexity, 1 to 10
insights-complexity-says = From { $first } on the first day with data to { $last } on the last, of 10.
insights-no-complexity = No message stated its complexity.
insights-refusals = Refusals of agents, with reasons
insights-reason = Reason
insights-refusal-no-reason = No reason given
insights-refusal-soft = { $kind }, open to alternatives
insights-refusal-hard = { $kind }, firm
insights-refusals-says = { $n ->
    [one] { $n } refusal, { $rate } of the messages that state an intent.
   *[other] { $n } refusals, { $rate } of the messages that state an intent.
}
insights-no-refusals = No agent refused.
insights-actions = Actions that agents suggest, and how often people pick them
insights-action = Action
insights-shown = Shown
insights-picked = Picked
insights-no-actions = No one saw an action in this period.
insights-actions-says = { $shown } were shown, { $picked } were picked.
insights-duration = Duration
insights-durations-says = Half within { $half }, nine of ten within { $most }.
insights-verdicts = Decisions on recommendations
insights-decision-column = Decision
insights-verdict-followed = As recommended
insights-verdict-edited = With changes
insights-verdict-overruled = Rejected, sent back, or decided otherwise
insights-verdict-open = Nothing was recommended
insights-reading = Time to read before deciding
insights-reading-column = Time to read
insights-reading-read = Enough time to read
insights-reading-unopened = Answered without opening it
insights-calibration-title = How often people overruled it, by stated confidence
insights-calibration-says = { $n } of { $all } were overruled. If stated confidence is right, the columns get lower to the right.
insights-calibration-hint = { $n ->
    [one] How stated confidence compares with decisions is shown from { $least } decisions on; there is { $n } so far.
   *[other] How stated confidence compares with decisions is shown from { $least } decisions on; there are { $n } so far.
}
duration-under-a-second = under 1 s
duration-seconds = { $n } s
duration-minutes = { $n } min
duration-hours = { $n } h
duration-days = { $n } days
# Below the columns of a chart, where there is little room.
duration-short-seconds = { $n }s
duration-short-minutes = { $n }m
duration-short-hours = { $n }h
duration-short-days = { $n }d

## Texts of scripts

app-description = Requests of agents that wait for you.
# A button. The person changed values before approving.
script-approve-with = { $n ->
    [one] Approve with { $n } change
   *[other] Approve with { $n } changes
}
script-scroll-to-end = Scroll to the end to continue
script-show-secret = Show what I typed
script-hide-secret = Hide what I typed
script-checking = Checking whether your answer was sent…
script-check-signed-out = You are signed out here, so this page cannot check whether your answer was sent. Sign in and look in the history.
script-check-not-visible = This page cannot check whether your answer was sent: you can no longer see the request.
script-check-offline = This page cannot check whether your answer was sent: you are offline. It checks again when the connection is back.
script-check-unreachable = This page cannot check whether your answer was sent: the server cannot be reached. It checks again when the connection is back.
script-copy = Copy
script-copied = Copied
script-dismiss = Dismiss this message
script-unsent-offline = Not sent: you are offline. Everything you entered is still here; send it when you are back.
script-unsent-unreachable = Not sent: the server cannot be reached. Everything you entered is still here; send it when the connection is back.
script-old-offline = You are offline. This page may be out of date, and changes won't be sent.
script-old-unreachable = The server cannot be reached. This page may be out of date, and changes won't be sent.
script-no-connection = No connection: the buttons are disabled until it is back. What you typed stays here.
script-connected-again = You are connected again. Send your answer now.
script-press-u = Press U to undo.
# In place of "the selected requests" on a button such as "Approve the selected requests".
script-requests-some = { $n ->
    [one] { $n } of { $all } requests
   *[other] { $n } of { $all } requests
}
script-requests-all = { $n ->
    [one] { $n } request
   *[other] all { $n } requests
}
script-bulk-rest = { $n ->
    [one] { $n } other request needs another answer and stays open.
   *[other] { $n } other requests need another answer and stay open.
}
script-list-changed = The list has just changed. Press again to answer this request.
script-show-new = { $n ->
    [one] Show { $n } new request
   *[other] Show { $n } new requests
}
script-move-up = { $n ->
    [one] Move up { $n } request that is due soon
   *[other] Move up { $n } requests that are due soon
}
script-tasks-moved = { $n ->
    [one] { $n } task has moved
   *[other] { $n } tasks have moved
}
script-list-offline = Offline: showing the list as of { $time }. You cannot answer until you are back.
script-list-no-updates = No live updates: showing the list as of { $time }.
script-scrolled = Scrolled to this request. Press the key again.
script-too-tall = This request does not fit on the screen. Press Enter to open it.
script-read-first = Read this first, then press the key again.
script-open-to-answer = Open it to answer: this list does not show all of it, or has no such answer.

## Notifications on a device

worker-waiting = A request is waiting for you
worker-waiting-text = Open your inbox to see it.
worker-signed-out = Not sent: you are signed out here
worker-signed-out-text = Open it to sign in and answer.
worker-unsent = Not sent
worker-unsent-text = Open it to answer on its page.
worker-no-connection = No connection
worker-no-connection-text = Your answer may not have arrived. Open it to check, and to answer again.
worker-device-lost = Notifications on this device have stopped
worker-device-lost-text = Open this to turn them on again.
push-cross-site = It came from another site.
push-stale = This notification is too old, or not from this browser. Open it to answer.
push-approved = You approved it
push-rejected = You rejected it
push-own-page = It can only be answered on its page. Open it to answer.
push-already-answered = Someone else answered first
push-not-accepted = Not accepted

## A row that leaves an open list

list-just-answered = You have just answered it
list-gone = No longer in this list
