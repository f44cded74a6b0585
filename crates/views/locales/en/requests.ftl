### A request: its question, the form that answers it, its outcome, its page, review links,
### conversations and the page that checks envelopes.

## The question

question-overline = An AI agent is asking you
question-in-project = in { $project }
question-asked = Asked { $when }
question-was-due = was due { $when }
question-due = due { $when }
# What an agent does at the deadline, without an answer.
question-goes-ahead = goes ahead { $when }
question-expires = expires { $when }
question-no-deadline = does not expire
question-silence-means-yes = <strong>Silence means yes.</strong> If nobody answers in time, the agent goes ahead. Reject it to stop the agent.
question-verify = <strong>Verify this first.</strong> The agent says that someone should check it.
question-agent-says = The agent says
question-agent-asked = The agent asked
question-edited = Approved with changes. This is the question as it was asked; the answer shows what was approved.
question-edited-title = Asked: { $title }
question-from = A request from { $agent }
question-block = The question
question-why = Why it asks
question-failure = What failed
question-details = Details
question-parameters = Parameters of the step
question-options = Options
question-items = Items
question-more-fields = { $count ->
    [one] { $count } more field
   *[other] { $count } more fields
}
question-go-to-answer = Go to your answer
# The name that an agent gives itself, and the one that it gives its project. Nobody checks them.
question-claims-name = calls itself “<bdi>{ $name }</bdi>”
question-claims-project = names its project “<bdi>{ $name }</bdi>”

## The answer form

form-error = Error:
answer-heading = Your answer
answer-comment = Comment
answer-comment-optional = Optional. It goes to the agent with your answer.
answer-comment-for-changes = Optional. Needed to request changes.
answer-reason = Reason or comment
answer-reason-needed = Needed to reject or to request changes.
answer-verify-first = <strong>Verify first.</strong> The agent says that this should be checked.
# Screen readers only: a button that the Enter key must not press.
answer-press-below = Press one below
answer-edit = Edit the details before you approve
answer-edit-hint = If you approve, the agent gets these values.
answer-propose = Propose changes
answer-propose-hint = They go back to the agent when you request changes.
answer-leave-out = Leave something out
answer-leave-out-hint = If you approve, the agent does only what is ticked.
answer-approve-with-changes = Approve with changes
answer-approve-with-changes-hint = Shows what you changed before anything is sent
# The subject of the question follows.
answer-approve-subject = Approve:
answer-approve-request = Approve this request
answer-approve-effect = The agent goes ahead
# A reason that the agent offers follows.
answer-reject-reason = Reject:
answer-reject-request = Reject this request
answer-reject-effect = The agent does not do it
answer-request-changes = Request changes
answer-request-changes-effect = Goes back to the agent with your comment
answer-confirm = Confirm
answer-confirm-effect = The agent does exactly what is listed
answer-decline-effect = The agent does none of it
answer-escalate = What should the agent do?
answer-edit-parameters = Change the parameters of the retry
answer-edit-parameters-hint = Only what you change is sent, and only if you press Retry.
answer-retry = Retry
answer-retry-effect = The agent tries the same step again
answer-skip = Skip this step
answer-skip-effect = The agent continues without it
answer-abort = Abort the whole task
answer-abort-effect = The agent stops. This can't be undone.
answer-reply = Your reply
answer-reply-label = Write to the agent
answer-reply-send = Send this reply
answer-reply-effect = The agent reads it and continues
answer-close = Close without an answer
answer-close-effect = The agent is notified, with your comment as the reason
answer-choose-one = Choose one
answer-choose-many = Choose one or more
# The label of an option follows.
answer-choose-option = Choose
answer-submit = Submit
answer-submit-option-effect = The agent continues with the option that you picked
answer-submit-options-effect = The agent continues with the options that you ticked
answer-fill-in = Fill in
answer-provide = Send to the agent
answer-provide-effect = The agent continues with what you filled in
answer-continue = Continue to the next step
# The title of the step follows.
answer-back = Go back:
answer-back-to-form = the form
answer-save = Save and finish later
answer-save-effect = Open the same link to continue
answer-step = Step { $n } of { $total }
answer-sign-in-approve = Sign in to approve
answer-sign-in-confirm = Sign in to confirm
answer-sign-in-answer = Sign in to answer
answer-only-signed-in-approve = Only people who are signed in can approve it.
answer-only-signed-in-confirm = Only people who are signed in can confirm it.
answer-only-signed-in-answer = Only people who are signed in can let the agent continue.
answer-irreversible = This can't be undone.
answer-critical = This request is critical.
# Two of several things, of which one is enough.
answer-or = { $first } or { $second }

## The fields of a form

field-required = required
field-optional = optional
field-secret = Secret: it goes to the agent and is never shown again.
field-choose = Choose one
field-no-answer = No answer
field-yes = Yes
field-no = No
field-empty = empty
field-suggested = The agent suggests: { $value }
field-elsewhere = The agent has a value for this elsewhere, at { $url }
field-as-json = As JSON.
field-choose-all = Choose all that apply.
field-range = From { $min } to { $max }.
field-min = { $min } or more.
field-max = { $max } or less.
field-min-date = { $min } or later.
field-max-date = { $max } or earlier.
field-length = { $min } to { $max } characters.
field-min-length = { $min ->
    [one] At least { $min } character.
   *[other] At least { $min } characters.
}
field-max-length = { $max ->
    [one] At most { $max } character.
   *[other] At most { $max } characters.
}
field-pattern = Must match the pattern { $pattern }.
field-if-is = Only if “{ $label }” is { $values }.
field-if-is-not = Only if “{ $label }” is not { $values }.
field-if-more = Only if “{ $label }” is more than { $values }.
field-if-less = Only if “{ $label }” is less than { $values }.
field-file-kept = { $name } is uploaded ({ $bytes } bytes). Choose another only to replace it.
field-secret-kept = You entered this already. Leave it empty to keep it.

## What is wrong with an answer

problem-fill-in = Fill in this field
problem-nul = Remove the invisible NUL character
problem-number = Enter a number
problem-number-example = Enter a number, such as 12.5
problem-number-min = Enter a number of at least { $min }
problem-number-max = Enter a number of at most { $max }
problem-date = Enter a date
problem-date-example = Enter a date, like 2026-01-31
problem-date-min = Enter a date of { $min } or later
problem-date-max = Enter a date of { $max } or earlier
problem-boolean = Answer yes or no
problem-option = Choose an option
problem-options = Choose at least one option
problem-unknown-option = Choose from the options shown
problem-file = Add a file
problem-email = Enter an email address, like name@example.com
problem-url = Enter a web address, like https://example.com
problem-too-short = { $min ->
    [one] Enter at least { $min } character
   *[other] Enter at least { $min } characters
}
problem-too-long = { $max ->
    [one] Enter at most { $max } character
   *[other] Enter at most { $max } characters
}
problem-shorter = Enter a shorter text
problem-pattern = Enter this in the expected format
problem-unknown-field = This form has no field “{ $key }”
problem-no-button = Use one of the buttons to answer
problem-other-question = This answer does not fit the question. Please answer again.
problem-choose = Choose one of the options
problem-choose-some = Choose at least one option
problem-choose-one = Choose exactly one option
problem-reason = Write a reason: it goes back to the agent
problem-not-editable = The agent cannot take changed details here. Request changes instead.
problem-not-editable-edits = You changed details, and this agent cannot go ahead with changed ones. Request changes, or undo yours
problem-nothing-edited = You changed nothing. Change a value, or approve the request as it is
problem-edit = { $place }: enter a value of the same kind as before
problem-reply = Write a reply
problem-comment = Use at most { $max } characters, and no invisible NUL characters
problem-answer-nul = Remove the invisible NUL characters
problem-answer = This answer was not accepted. Check it and send it again.
problem-json-depth = Nest the JSON at most { $levels } levels deep
problem-json = Check the JSON: line { $line }, column { $column } cannot be read
problem-close-reason = { $max ->
    [one] At most { $max } character, to close the request with it
   *[other] At most { $max } characters, to close the request with it
}
problem-file-too-large = This file was not taken: files can be at most { $size } together. Choose a smaller file.
problem-file-quota-bytes = { $per ->
    [agent] This file was not taken: the quota of { $limit } of stored data for one agent is used up.
    [project] This file was not taken: the quota of { $limit } of stored data for one project is used up.
   *[person] This file was not taken: the quota of { $limit } of stored data for one person is used up.
}
problem-file-quota-uploads = { $per ->
    [agent] This file was not taken: the quota of { $limit } uploads an hour for one agent is used up.
    [project] This file was not taken: the quota of { $limit } uploads an hour for one project is used up.
   *[person] This file was not taken: the quota of { $limit } uploads an hour for one person is used up.
}
problem-file-quota-later = Try again { $when }.
problem-file-quota-ask = Ask an administrator for a larger quota, then send it again.

## The second step before an answer is sent

second-step-title-critical = Confirm this critical request
second-step-title-changed = You changed what the agent proposed
second-step-irreversible-critical = The agent says that this can't be undone, and that it is critical.
second-step-irreversible = The agent says that this can't be undone.
second-step-critical = The agent says that this is critical.
second-step-nothing-sent = Nothing was sent yet.
second-step-too-soon = You pressed twice within a second. Read this first, then press the button again.
second-step-changes = { $count ->
    [one] { $count } change to what the agent proposed
   *[other] { $count } changes to what the agent proposed
}
second-step-comment = Your comment
second-step-back = Go back, send nothing
second-step-send = Send this answer
second-step-edited-effect = The agent gets its proposal and yours, and goes ahead with yours

## The proof that a person answers

proof-title = Confirm that you are a person
proof-kept = Your answer is kept and was not sent yet: <strong><bdi>{ $answer }</bdi></strong>.
proof-wanted = <strong class="name">{ $agent }</strong> requires proof that a person answers. <strong>{ $providers }</strong> can confirm that. The agent learns that it was confirmed and by which provider, not who you are.
proof-impossible = <strong class="name">{ $agent }</strong> requires proof that a person answers, and no provider that could confirm that is available here. Tell the person who sent you the link.
proof-confirmed = Confirmed by { $provider }.
proof-start = Confirm with { $provider }
proof-start-hint = Opens their page. You come back here and send your answer.
proof-paste = Confirmation from { $provider }
proof-paste-hint = Paste what they gave you.
proof-made-for = What the confirmation must be made for
proof-made-for-request = Request
proof-made-for-action = Action
proof-made-for-challenge = Challenge
proof-send = Send my answer
proof-change = Change my answer
proof-first = Confirm it with { $providers } first
proof-returned-invalid = The confirmation that came back is not valid for this answer. Try again, and send your answer afterwards.
proof-not-valid = The confirmation from { $provider } is not valid: { $reason }
proof-too-late = The confirmation from { $provider } is not valid: proofs were accepted until { $until }
proof-other-request = The confirmation from { $provider } is not valid: it was made for another request
proof-other-answer = The confirmation from { $provider } is not valid: it was made for another answer
proof-other-challenge = The confirmation from { $provider } is not valid: it does not contain this request's challenge
proof-stale = The confirmation from { $provider } is not valid: it is too old
proof-expired = The confirmation from { $provider } is not valid: it has expired
proof-used = The confirmation from { $provider } is not valid: it was used before
proof-unwanted = The confirmation from { $provider } is not valid: it is not of a kind that the agent accepts

## An answer in a few words

brief-approved = Approved
brief-approved-edited = Approved with changes
brief-rejected = Rejected
brief-rejected-option = Rejected: “{ $option }”
brief-changes-requested = Changes requested
brief-chosen = Chose “{ $option }”
brief-chosen-several = { $count ->
    [one] Chose { $count } option
   *[other] Chose { $count } options
}
brief-provided = Filled in
brief-label = “{ $label }”
brief-confirmed = Confirmed
brief-declined = Declined
brief-retry = Retry
brief-skip = Skip this step
brief-abort = Abort
brief-replied = Replied
brief-answered = Answered
# The labels of what an answer contains.
answer-chosen = Chosen
answer-replied = Reply
answer-secret = (secret, not shown again)
answer-file = { $name } ({ $bytes } bytes)
change-removed = removed
change-added = added
change-kept = kept
change-lines = { $label }: { $added ->
    [one] { $added } line
   *[other] { $added } lines
} added, { $removed } removed

## How a request ended

outcome-answered = Answered
outcome-closed = Closed
outcome-sent = Sent
outcome-changes = Changes to the proposal
outcome-comment = Comment
outcome-next = What happens now.
outcome-expired = Expired
outcome-failed = Failed
outcome-nobody = No one answered in time.
outcome-fails = The agent is notified that the request failed.
outcome-falls-back = Falls back to: { $answer }. It is not recorded as a person's answer.
outcome-default-erased = an answer that was erased
outcome-withdrawn = Withdrawn
outcome-withdrawn-by = { $by ->
    [agent] Withdrawn by the agent { $name }.
    [link] Withdrawn by someone with the link.
   *[other] Withdrawn by { $name }.
}
outcome-withdrawn-next = Nothing is needed from you: the agent no longer waits for an answer.
outcome-rejected = Rejected
outcome-rejected-by = { $by ->
    [agent] Rejected by the agent { $name }.
    [link] Rejected by someone with the link.
   *[other] Rejected by { $name }.
}
outcome-rejected-next = The task has ended.
outcome-reworded = Answered
outcome-reworded-by = { $by ->
    [agent] Answered by the agent { $name } in other words.
    [link] Answered by someone with the link in other words.
   *[other] Answered by { $name } in other words.
}
outcome-reworded-next = The agent continues with that.
outcome-reassigned = Reassigned
outcome-reassigned-by = { $by ->
    [agent] The agent { $name } gave the task to another agent.
    [link] Someone with the link gave the task to another agent.
   *[other] { $name } gave the task to another agent.
}
outcome-reassigned-next = The other agent continues with the task.
outcome-then-revoked = { $headline }, then revoked
outcome-revoked = Its receipt was revoked { $when }. It no longer counts.
outcome-revoked-because = Its receipt was revoked { $when }: { $reason }. It no longer counts.
outcome-default = No one answered in time, so the agent's default was applied.
# channel is for example “on the web page”, assurance “signed in”.
outcome-answered-by = { $by ->
    [agent] Answered by the agent { $name } { $channel } ({ $assurance }).
    [relay] Answered by someone the agent speaks for { $channel } ({ $assurance }).
    [guest] Answered by someone at an address from the agent { $channel } ({ $assurance }).
   *[other] Answered by { $name } { $channel } ({ $assurance }).
}
outcome-answered-by-link = Answered by someone with the link.
outcome-answered-by-attested-link = Answered by { $name }.
outcome-link-of-agent = The agent was given this link, so only the agent vouches that a person answered.
outcome-link-of-address = Countersign sent this link to a verified address.
outcome-proven = That a person answered was confirmed by { $providers }.
outcome-answer-erased = The text of this answer was erased.
outcome-message-sent = Message sent
outcome-written-by = Written by { $name } { $channel } ({ $assurance }).
outcome-message-next = { $agent } will answer here, and in the inbox.
# What happens without an answer, before the deadline.
silence-stays-open = It stays open and can still be answered
silence-fails = The request fails, and the agent is notified
silence-falls-back = Falls back to: { $answer }
silence-default = the agent's default

## The page of a request

request-facts = What Countersign knows
request-id = Request
request-key = Key
request-key-revoked = { $name }, revoked since
request-similar = Similar requests
request-same-kind = This kind, by this agent
request-first-of-kind = { $days ->
    [one] First of its kind in { $days } day
   *[other] First of its kind in { $days } days
}
request-similar-newest = { $count } of the newest { $total }: { $ends }
request-similar-times = { $count ->
    [one] Asked once in { $days } days: { $ends }
   *[other] Asked { $count } times in { $days } days: { $ends }
}
request-kind-newest = More than { $count } in { $days } days. Of the newest { $count }: { $ends }
request-kind-times = { $count } in { $days } days: { $ends }
end-open = { $count } still open
end-withdrawn = { $count } withdrawn
end-rejected = { $count } rejected
end-reworded = { $count } answered in other words
end-reassigned = { $count } given to another agent
end-expired = { $count } not answered in time
end-default = { $count } left to the default
end-approved = { $count } approved
end-changes = { $count } sent back for changes
end-confirmed = { $count } confirmed
end-declined = { $count } declined
end-retried = { $count } retried
end-skipped = { $count } skipped
end-aborted = { $count } aborted
end-answered = { $count } answered
request-asked = Who was asked
request-asked-later = <bdi>{ $who }</bdi>, if nobody has answered { $when }
request-asked-pool = Anyone qualified in the project
request-asked-group = Anyone in the group { $group }
request-members-more = { $count ->
    [one] { $names } and { $count } more
   *[other] { $names } and { $count } more
}
request-members-none = no one at the moment
request-notifications = Notifications
notified-asked = { $channel }, { $who }
notified-assigned = { $channel }, { $who }, reassigned
notified-reminder = { $channel }, { $who }, reminder
notified-escalated = { $channel }, { $who }, because nobody answered
notified-address = the address that the agent chose
notified-waiting = not accepted yet
notified-sent = sent
notified-delivered = delivered
notified-read = read
notified-failed = failed
channel-email = Email
channel-sms = Text message
channel-device = A device
request-files = Files in the answer
# Why a person sees the request, and who answers it.
request-answers-agent = The agent, in this conversation
request-answers-me = You claimed this
request-answers-claimed = { $name } claimed this
request-answers-pool = Anyone qualified in the project can answer
request-answers-group = Anyone in the group { $group } can answer
request-answers-owner = You own this agent
request-answers-picked = You were asked; { $owner } owns this agent
request-task = Task: <a href="{ $href }"><bdi>{ $goal }</bdi></a>
request-task-review = Your answer reviews what was delivered for this task.
request-task-waits = The agent waits with this task until someone answers.
request-task-state = State: { $state }.
request-viewers-one = { $name } is looking at this too.
request-viewers-two = { $first } and { $second } are looking at this too.
request-viewers-more = { $name } and { $count } others are looking at this too.

answering-me = You have just answered this request
answering-me-next = Your answer takes effect in a moment. <a href="{ $href }">Load the page again</a> to see it or to undo it.
answering-other = <bdi>{ $name }</bdi> has just answered this request
answering-other-next = Their answer takes effect in a moment, unless they undo it. You don’t need to do anything.
answering-somebody = This request was just answered
answering-somebody-next = The answer takes effect in a moment, unless it is undone. You don’t need to do anything.
answering-undone = The answer was undone
answering-undone-next = This request is open again. <a href="{ $href }">Load the page again</a> to see it as it is now.

claim-hint = Several people were asked. Claim it so that nobody works on it twice.
claim-take = Claim
claim-mine = You have claimed this request
claim-mine-next = <a href="{ $href }">Load the page again</a> to see it as it is now.
claim-other = Claimed by <bdi>{ $name }</bdi>
claim-other-next = They are expected to answer. You don’t need to do anything.
claim-over = <bdi>{ $name }</bdi> is working on this request. You own this agent, so your answer would count and theirs would be refused.
claim-answer-anyway = Answer anyway
claim-answering-anyway = You chose to answer anyway.

request-extend = Extend deadline
request-extend-was-due = It was due { $when }, <span class="exact">{ $exact }</span>.
request-extend-due = It is due { $when }, <span class="exact">{ $exact }</span>.
request-extend-goes-ahead = It goes ahead { $when }, <span class="exact">{ $exact }</span>.
request-extend-expires = It expires { $when }, <span class="exact">{ $exact }</span>.
request-extend-hour = Add one hour
request-extend-day = Add one day
request-extend-week = Add one week
request-reassign = Reassign
request-reassign-to = Who should answer
request-reassign-choose = Choose a person
request-reassign-note = Note
request-reassign-send = Reassign this request
request-snooze = Snooze
request-snooze-hint = It leaves only your inbox for a while. Nothing changes for other people, and the deadline stays.
request-snooze-hour = Snooze for an hour
request-snooze-day = Snooze for a day
request-snooze-week = Snooze for a week
request-snoozed = Snoozed
request-snoozed-until = It comes back { $when }.
request-snooze-end = Show it in my inbox again

request-receipt-erased = The text of this request was erased, so its receipt can no longer be created. The activity below still shows that it was asked and how it ended.
request-receipt-explained = Signed by this server: who decided what, when, and what they were shown.
request-receipt-code = Verification code
request-receipt-verify = Verify this receipt
request-receipt-verify-hint = Checks the signature and the audit log
request-receipt-verified = Receipt verified
request-receipt-not-valid = Receipt not valid
request-receipt-content = Content
request-receipt-download = Download the receipt
request-receipt-offline = How to verify it without this server
request-receipt-offline-steps = Keep the public keys from <span class="mono">/.well-known/jwks.json</span> once, then anywhere, at any time:
check-holds = Valid
check-later = Not yet
check-fails = Not valid
check-signature = { $issuer } signed this receipt.
check-signature-fails = The signature is not valid: { $reason }.
check-event = Event { $event } of the audit log says the same.
check-sealed = That event is sealed in the signed block { $block }.
check-not-sealed = The event is not sealed in a block yet. Check again later.
check-log-fails = The audit log does not confirm it: { $reason }.
check-revoked = It was revoked, and no longer counts.
check-not-revoked = It was not revoked.

revisions-title = { $count ->
    [one] { $count } revision
   *[other] { $count } revisions
}
revisions-number = Revision { $n }.
revisions-this-page = (this page)
revisions-ended-by = { $headline } by <bdi>{ $who }</bdi>, { $when }
revisions-open = Waiting for an answer

discussion-title = Discussion
discussion-comment = Comment
discussion-add = Add to the discussion
discussion-hint = Everyone who can see this request can read it, and so can the agent. It is not an answer.
discussion-send = Add comment
# In place of one message or comment.
text-part-erased = (This text was erased.)

## The activity of a request
## The name of whoever did it comes first: “Ada Lovelace claimed it”.

timeline-title = Activity
timeline-sealed = sealed in block { $block }
timeline-not-sealed = not sealed yet
timeline-hash = Event { $event }: its hash
timeline-more = There are more events. <code>countersign audit export</code> writes all of them.
timeline-directory = changed the directory
timeline-task = changed the state of its task
timeline-artifact = delivered an artifact
timeline-ledger = wrote a ledger entry
timeline-conversation = started a conversation
timeline-asked = asked
timeline-followed = asked again, in a new revision
timeline-opened = opened it first
timeline-progressed = began to fill it in
timeline-claimed = claimed it
timeline-assigned = reassigned it to { $name }
timeline-commented = left a comment
timeline-picked = asked the agent for its action { $n }
# channel is for example “on the web page”, assurance “signed in”.
timeline-answered = answered { $channel } ({ $assurance }): { $answer }
timeline-answer-erased = (text erased)
timeline-held = answered, and could undo it until { $until }
timeline-undone = undid the answer; nothing was decided
timeline-default = applied the default, because nobody answered in time: { $answer }
timeline-withdrawn = withdrew it
timeline-rejected = rejected it, and ended the task
timeline-reworded = answered it in other words
timeline-task-reassigned = gave the task to another agent
timeline-expired = closed it, because the deadline passed
timeline-reminded = reminded everyone who was asked
timeline-escalated = asked more people, because nobody had answered
timeline-joined = asked more people
timeline-extended = moved the deadline to { $until }
timeline-granted = created links or tokens for it
timeline-notified = notified the agent that it is closed
timeline-not-notified = could not notify the agent that it is closed
timeline-notification-wanted = requested another notification of the agent
timeline-revoked = revoked the receipt
timeline-erased = erased the text; the audit log still verifies
timeline-person-erased = erased the text of an erased person

## Review links

review-closed = { $how ->
    [approved] Already approved
    [rejected] Already rejected
   *[other] Already closed: { $headline }
}
review-closed-yours = Nothing was sent from this page. What you entered stays here to be read, until you leave it.
review-answers-signed-in = Only people who are signed in
review-answers-link = Anyone with this link, once
review-sign-in-title = Sign in to answer
review-sign-in = You can read the request with this link. To answer it, sign in to Countersign and open it in your inbox.
review-sign-in-open = Open it in your inbox
review-decline = Decline to answer
review-decline-hint = The agent learns that nobody will answer. Nothing is approved and nothing is rejected.
review-decline-reason = Why
review-decline-send = Close this request without an answer
review-proves = What this link proves
review-proves-address = Countersign sent it to a verified address, and gave it to nobody else. The receipt says so.
review-proves-nothing = Nothing about who you are: the agent was given this link too. The receipt says that only the agent vouches for the answer.

## Conversations

conversation-overline = A person wrote to an AI agent
conversation-sent = Sent { $when }
conversation-message-to = A message to { $agent }
conversation-title = Conversation with { $agent }
conversation-answer = Answer message { $n }
conversation-show = Show message { $n }
# The name of a long text, for screen readers.
conversation-block = Message
conversation-write-another = Write another message to { $agent }
conversation-waits = { $agent } waits for an answer.
conversation-not-answered = { $agent } has not answered yet. Its answer appears here, and in the inbox.

message-title = Write to an agent
message-not-sent = Nothing was sent
message-no-agents = No agent that you may write to accepts conversations. The owner of an agent and administrators can turn conversations on under <a href="{ $href }">Agents and keys</a>.
message-to = To
message-agent = { $agent } in { $project }
message-choose-agent = Choose an agent
message-text = Message
message-text-hint = The agent and its owner can read it. The answer comes to your inbox.
message-send = Send this message
message-by-email = By email
message-by-email-hint = An email to this address goes to the agent, in your name: keep the address to yourself. The agent sees which address it came from. You are notified that it was sent.
message-choose-listed = Choose one of these agents
message-conversations-off = This agent no longer accepts conversations
message-length = Write something, up to { $max } characters
message-sent-before = This form was sent before with another text, and that text arrived. If this is another message, send it now.
message-refused = The message was not accepted. Try again later.

## Envelopes

envelope-title = Check an envelope
envelope-unreadable = This is not a message
envelope-not-utf8 = It is not UTF-8 from byte { $at } on.
envelope-not-json = It is not JSON: line { $line }, column { $column }.
envelope-too-deep = It is nested deeper than { $levels } levels.
envelope-too-large = It is larger than 4 GiB.
envelope-valid = This message is valid
envelope-not-valid = This message is not valid
envelope-core = It has what every message must have (Core).
envelope-standard = It has everything that is recommended (Standard).
envelope-full = It has everything that is recommended and more (Full).
envelope-no-level = It reaches no level.
envelope-errors = { $count ->
    [one] { $count } error.
   *[other] { $count } errors.
}
envelope-warnings = { $count ->
    [one] { $count } warning.
   *[other] { $count } warnings.
}
envelope-omitted = { $count ->
    [one] { $count } more finding was left out.
   *[other] { $count } more findings were left out.
}
envelope-claims = Agent's claims (unverified)
envelope-claims-hint = No one has checked any of this. It is what the message says about itself.
envelope-findings = Other findings
envelope-more = { $count ->
    [one] And { $count } more.
   *[other] And { $count } more.
}
envelope-content = Content
envelope-message = A message, as JSON
envelope-message-hint = An HXP eXperience message: an object with <code>hxp</code> and <code>content</code>. It is checked and shown, and not stored.
envelope-level = Required level
envelope-any-level = Any
envelope-strict = Strict: known fields only, real versions and languages
envelope-check = Check
envelope-finding-error = Error
envelope-finding-warning = Warning
envelope-finding-note = Note
envelope-whole-message = the message
envelope-intent = Purpose
envelope-confidence = Confidence
envelope-verification = Should be verified
envelope-assumptions = Assumptions
envelope-limits = Limits
envelope-refusal = Refusal
envelope-safety = Safety
envelope-questions = Open questions
envelope-intent-confirmed = Confirmed the purpose
envelope-load = Complexity
envelope-reading-time = Reading time
envelope-chunking = Chunking
envelope-verbosity = Verbosity
envelope-format = Format
envelope-tone = Tone
envelope-language = Language
envelope-actions = Actions
envelope-extensions = Extensions
envelope-version = Version
envelope-yes = yes
envelope-no = no
envelope-percent = { $value } %
envelope-of-ten = { $value } of 10
envelope-seconds = { $value } s
envelope-refusal-reason = reason: { $kind }
envelope-refusal-hard = final
envelope-refusal-soft = open to discussion
envelope-redirects = offers an alternative
envelope-no-redirect = offers no alternative
envelope-policy = follows: { $policy }
envelope-risk = risk of harm: { $risk }
envelope-policy-triggered = a policy was triggered
envelope-policy-not-triggered = no policy was triggered
