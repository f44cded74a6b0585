### Tasks and ledgers.

## The board

tasks-title = Tasks
tasks-lead = Work delegated to agents.
tasks-new = New task
tasks-back = Back to the board
tasks-whose = Whose tasks
tasks-of-projects = Of your projects
tasks-yours = Yours
tasks-empty = No task is here yet
tasks-empty-text = Enter the goal and the acceptance criteria, and assign it to an agent. It asks you where it cannot decide, delivers, and you review what it delivered.
tasks-show-changes = Show what has changed
tasks-column-not-started = Not started
tasks-column-in-progress = In progress
tasks-column-blocked = Blocked
tasks-column-in-review = In review
tasks-column-closed = Closed
tasks-column-empty = Nothing.
tasks-column-end = Nothing further down.
tasks-column-more = Show more
tasks-waits-for-you = Waits for you
# $when is a relative time: "in 3 hours", "3 days ago".
task-due = due { $when }
task-was-due = was due { $when }

## A new task

task-new-more = More: reviewers, parent task, permissions
task-new-button = Create task
task-new-refused = No task was created. Everything you entered is still there.
task-goal = Goal
task-new-goal-hint = In your words. It stays as you write it; later you can add to it.
task-new-goal-missing = Enter the goal
task-criteria = Acceptance criteria
task-new-criteria-hint = One condition per line. Reviewers see them as a checklist.
task-new-agent = Assign to
task-new-agent-hint = You can also assign it later.
task-new-nobody = No one yet
task-new-deadline = Deadline
task-new-deadline-hint = In { $zone }. Leave it empty if there is no hurry.
task-new-deadline-expected = Choose a day and a time, or leave it empty
task-new-deadline-past = Choose a time in the future.
task-new-project-expected = Choose one of these projects
task-new-project-refused = Choose a project you are a member of.
task-new-autonomy = What its agent may do without asking
task-new-reviewers = Reviewers
task-new-reviewers-hint = Members of the project. No one ticked: you review.
task-new-reviewers-lines = One person per line, by user ID, such as user_olga. No one named: you review.
task-new-reviewers-expected = Name members of the project this task is in
task-new-quorum = How many of them have to accept
task-new-quorum-all = Every one of them
task-new-quorum-majority = More than half of them
task-new-quorum-any = One of them
task-new-parent = Part of which task
task-new-parent-hint = The address of its page, or its ID, such as task_01KA3W…
task-new-parent-expected = Enter the address of a task, or its ID
task-new-parent-unknown = No task you can see has this ID.
task-new-inputs-hint = One per line: an address, or an artifact and its version, such as art_01KA… v2.
task-new-inputs-expected = In line { $line }, write an address, or art_… and its version
task-new-max-duration = Time limit
task-new-max-duration-hint = From the start of the work, such as 30m, 2h or 1d.
task-new-max-duration-expected = Enter a duration, such as 30m, 2h or 1d
task-new-allow = Allowed without asking
task-new-allow-hint = One scope per line, such as bash:*, fs:/repo:write, or * for everything.
task-new-deny = Forbidden
task-new-deny-hint = One scope per line, as above. Forbidden scopes stay forbidden, whatever is allowed.
task-new-scope-expected = In line { $line }, write one scope such as bash:*, fs:/repo:write, or *
task-new-until = How long these permissions are valid
task-new-until-run = During its first run
task-new-delegable = Delegation
task-new-delegable-yes = Its agent may delegate it to another agent
task-new-silence = If nobody decides in time
task-new-silence-hint = A decision its agent asks for may have a deadline.
task-new-silence-wait = The task waits until you decide after all
task-new-silence-cancel = The task is cancelled
task-new-capabilities = Required capabilities
task-new-capabilities-hint = One per line: a name, and its version if that matters, such as sql 2.
task-new-capabilities-expected = In line { $line }, write a name, and a version
task-new-refs = References to other systems
task-new-refs-hint = One per line: the type, the system and the ID, such as issue github 42.
task-new-refs-expected = In line { $line }, write the type, the system and the ID
task-new-kind = Type of task
task-new-kind-hint = In one word or two, for agents and lists.
task-new-too-many-lines = Use at most { $count } lines
task-new-too-many-permissions = Use at most { $count } lines together with what is allowed
task-new-sent-before = This form was sent before, with other words, and that arrived. If this is another task, create it now.
task-agent-in-project = { $agent } in { $project }

## The room of a task

task-overline = Task in { $project }
# $who is a person, $when a relative time.
task-written = Created by <bdi>{ $who }</bdi> { $when }
task-then = This is the task as it was { $when }
task-then-text = After event { $event } of { $last }, { $exact }. You cannot change anything here.
task-then-now = Show the task as it is now
task-show-now = The task has changed. Show it as it is now
# $state is the state of the task: "In progress".
task-changed = The task has changed: { $state }
task-stages = Progress
task-stage-created = Created
task-stage-assigned = Assigned
task-stage-in-progress = In progress
task-stage-in-progress-again = In progress again
task-stage-delivered = Delivered
task-stage-reviewed = Reviewed
# Read aloud after the name of a stage.
task-stage-is-now = now
task-stage-is-done = done
task-stage-is-skipped = not needed
task-stage-is-left = to come
task-criteria-hint = Tick what you have checked. Only you see the ticks; they stay in this browser.
task-with-you = It is with you.
task-with = It is with <bdi>{ $who }</bdi>.
task-deadline-is = It is due <span class="exact">{ $exact }</span>.
task-deadline-was = It was due <span class="exact">{ $exact }</span>.
task-answer-pending = Answer what it waits for
task-to-review = Go to your review
task-facts = What Countersign knows
task-facts-principal = Owner
task-facts-reviewers = Reviewers
task-facts-autonomy = Its agent may do
task-facts-delegable = It may delegate it to another agent
task-facts-parent = Part of
task-facts-inputs = Inputs
task-facts-chain = Assignments
task-facts-handover = From <bdi>{ $from }</bdi> to <strong><bdi>{ $to }</bdi></strong>
task-facts-messages = Messages to the agent
task-facts-permissions = Permissions
task-facts-more = { $count ->
    [one] 1 earlier entry is in the activity.
   *[other] { $count } earlier entries are in the activity.
}
task-facts-run = Run
task-facts-parts = Parts
task-facts-new-part = Create a task that is part of this one
task-facts-id = Task
task-facts-revision = { $id }, revision { $revision }

## Decisions

task-decisions = Decisions
task-decision-asked = asked by <bdi>{ $who }</bdi> { $when }
task-decision-by-principal = the task’s owner
task-decision-hidden = A question that is not yours to read
task-decision-actions = { $count ->
    [one] { $outcome }, { $allowed } of 1 action allowed
   *[other] { $outcome }, { $allowed } of { $count } actions allowed
}
task-decision-answer = Read it and answer
task-decision-open = Open this request
task-decisions-more = { $count ->
    [one] 1 older decision is in the activity below.
   *[other] { $count } older decisions are in the activity below.
}

## Deliveries

task-deliveries = Deliveries
task-checksum = Checksum
task-download = Download { $version }
task-download-all = Download all of it
task-versions-more = { $count ->
    [one] 1 older version can be picked below.
   *[other] { $count } older versions can be picked below.
}
task-verdict-by = { $verdict } by { $who }
task-version-unknown = Nothing is known of it any more
task-compare-older = Older version
task-compare-none = None: only the newer one
task-compare-newer = Newer version
task-compare-button = Show these side by side
task-compare-title = { $older } beside { $newer }
task-agents-words = The agent’s words
task-picture = The picture that was delivered as { $version }
task-rendered = Formatted
task-rendered-cut = It continues; download it to read all of it.
task-lines = Line by line
task-lines-of = { $title }, line by line
task-same-lines = { $count ->
    [one] 1 line that is the same
   *[other] { $count } lines that are the same
}
task-line-removed = removed:
task-line-added = added:
task-lines-same = Both say the same.
task-line-count = { $count ->
    [one] 1 line
   *[other] { $count } lines
}
task-lines-added = { $count ->
    [one] 1 line added
   *[other] { $count } lines added
}
task-lines-removed = { $count ->
    [one] 1 line removed
   *[other] { $count } lines removed
}
task-more-lines = { $count ->
    [one] 1 more line is not shown here.
   *[other] { $count } more lines are not shown here.
}
task-version-cut = It continues beyond what is shown here.
task-version-binary = This is neither text nor a picture. Download it to look at it.
task-version-elsewhere = It is stored elsewhere; Countersign has only the facts above.
task-version-missing = Its content is not here any more.
task-version-unreadable = Its content cannot be read right now. Try again in a minute.
# Part of a message to an administrator.
task-version-error = the delivery cannot be read

## Reviews

task-reviews = Reviews
task-reviews-more = { $count ->
    [one] 1 earlier review is in the activity.
   *[other] { $count } earlier reviews are in the activity.
}
# After the verdict: "Accepted  Ada on v2".
task-review-of = <strong><bdi>{ $who }</bdi></strong> on { $version }
task-review-erased = Its text was erased.
task-review-title = Review { $version }
task-review-press = Press one below
task-review-quorum-all = It is accepted once { $names } accept it too.
task-review-quorum-majority = It is accepted once more than half of you accept it; { $names } review it too.
task-review-quorum-any = Your review is enough; { $names } could review it too.
task-review-comments = Comments on lines
task-review-click = Click a line above to comment on it.
task-review-line = Line
task-review-severity = Severity
task-review-nth = Comment { $n }
task-review-add-comment = Add comment
task-review-changes = Required changes
task-review-changes-hint = One thing per line. The agent gets them as a list. Required to request changes.
task-review-plan = This is only the plan
task-review-plan-note = Accepting it lets the agent continue; the task stays open.
task-review-accept = Accept { $version }
task-review-accept-note = The agent gets everything you wrote above
task-review-request-changes = Request changes
task-review-request-changes-note = The agent continues and delivers again
task-review-reject = Reject { $version } and end the task
task-review-reject-note = The task is closed for good
task-review-no-verdict = Press one of the buttons
task-review-no-changes = Enter what has to change; the agent needs it
task-comment = Comment
task-comment-added = added by <bdi>{ $who }</bdi> { $when }
task-remark = Add to this review
task-remark-text = Your comment
task-remark-button = Add comment
task-remark-missing = Write what you want to add
task-remarked = Your comment was added
task-remarked-text = Everyone who sees this task can read it.
task-reviewed = Your review was recorded
task-reviewed-text = The agent has it now, with everything you wrote.

## Actions of the task's owner

task-assign = Assign to an agent
task-assign-choose = Choose an agent
task-assign-button = Assign
task-assigned = The task was assigned
task-assigned-text = The agent was notified and starts on its own.
task-amend = Message the agent
task-amend-text = Message
task-amend-intent = Purpose
task-amend-hint = The agent continues working and reads this as soon as it can. The goal stays as it was written.
task-amend-button = Send to the agent
task-amend-missing = Write the message to the agent
task-amend-no-intent = Choose the purpose of the message
task-amended = The message was sent
task-amended-text = The agent continues working and takes it into account.
task-interrupt = Stop the agent for now
task-interrupt-why = Why you stop it
task-interrupt-hint = It waits until you let it continue; that is a request in your inbox.
task-interrupt-button = Stop the agent
task-interrupt-missing = Say why you stop it
task-interrupted = The agent was stopped
task-interrupted-text = It continues as soon as you answer the request that is in your inbox now.
task-decide = Decide after all
task-decide-what = Question
task-decide-hint = No one answered in time, and the agent still waits. This puts a new question in the inbox; once it is answered, the agent continues.
task-decide-button = Ask again
task-grant = Allow or forbid something
task-grant-decision = Permission
task-grant-allow = Allow, without asking
task-grant-deny = Forbid
task-grant-scope = Scope
task-grant-scope-hint = Such as <code>bash:*</code>, <code>fs:/repo:write</code> or <code>*</code> for everything. Forbidden scopes stay forbidden, whatever is allowed.
task-grant-until = Valid
task-grant-until-task = For the whole task
task-grant-until-run = During this run
task-grant-until-moment = Until a time
task-grant-moment = Time, in { $zone }
task-grant-button = Set this permission
task-grant-missing = Choose allow or forbid, a scope, and how long it is valid
task-granted = The permission was set
task-granted-text = The agent was notified.
task-transfer = Take over or reassign
task-transfer-take = Take it over yourself
task-transfer-take-note = The agent that works on it stops
task-transfer-to = Assign to
task-transfer-choose = Choose a person or an agent
task-transfer-button = Reassign the task
task-transferred = The task was reassigned
task-transferred-text = The previous agent was asked to stop.
task-cancel = Cancel the task
task-cancel-reason = Reason
task-cancel-button = Cancel the task
task-cancel-note = Its agent stops. This can’t be undone.
task-cancelled = The task was cancelled
task-cancelled-text = Its agent was asked to stop.
task-load-again = Load the page again
task-wrong = Something needs to be corrected
# $expected is a sentence without its full stop: "Choose an agent".
task-wrong-text = { $expected }. Nothing was changed, and what you entered is still there.
task-not-yours = Nothing was changed. Only { $who }, the task’s owner, can do this.
task-moved-on = The task has changed meanwhile
task-moved-on-text = Nothing was changed. Its state now: { $state }.
task-no-earlier-state = Choose a time after the task was created

## Activity: each text follows the name of a person or an agent, "Ada | created the task"

task-activity = Activity
task-event = Event { $event }
task-event-then = See the task as it was after this
task-earlier-events = Show earlier events
task-at-moment = See the task as it was at a time, in { $zone }
task-at-moment-button = Show it as it was then
task-event-created = created the task
task-event-assigned = assigned it to the agent { $agent }
task-event-started = started
task-event-cancelled = cancelled the task
task-event-interrupted = stopped the agent
task-event-asked-approval = asked for an approval
task-event-asked-choice = asked for a choice
task-event-asked-input = asked for information
task-event-asked-help = asked for help
task-event-waits = waits until a person lets the agent continue
task-event-approved = approved
task-event-rejected = rejected, and ended the task
task-event-chose = chose { $choice }
task-event-answered = answered
task-event-timed-out = closed the question, because the deadline passed
task-event-closed = closed the question without an answer
task-event-withdrew = withdrew the question
task-event-closed-with-task = closed the question with the task
task-event-message = sent the agent a message: { $intent }
task-event-allowed = allowed { $scope }
task-event-forbade = forbade { $scope }
task-event-transferred = reassigned it to { $to }
task-event-delegated = delegated it to the agent { $agent }
task-event-delivered = delivered { $version }
task-event-reviewed = reviewed { $version }: { $verdict }
task-event-remarked = added to a review
task-event-completed = completed the task
task-event-referenced = uses { $artifact } { $version }
task-event-shared = let tasks of { $project } use { $artifact }
task-event-wrote = wrote { $key } in the ledger of { $scope }
task-event-erased = erased the text; the audit log still verifies
task-event-request-erased = erased the text of one request
task-event-person-erased = erased what an erased person wrote
task-event-other = changed something else

## Ledgers

ledgers-title = Ledgers
ledgers-lead = What your projects and teams remember from task to task. Tasks write here; nothing is ever removed.
ledgers-none = You have no such ledger
ledgers-none-text = A ledger is named after a project or a team you are in, or after the organisation: project:shop, team:sales, org:all.
ledgers-team = Team
ledgers-organisation = Organisation
ledgers-written = has entries
ledgers-unwritten = no entries yet
ledgers-by-name = Another ledger, by its name
ledgers-open = Open this ledger
ledgers-back = Back to all ledgers
ledger-overline = Ledger of { $scope }
ledger-lead = The latest value of each key.
ledger-key-lead = Every value of this key, newest first.
ledger-agents-words = Agents write most of it: read it as their words.
ledger-empty = No entries yet.
ledger-end = Nothing further down.
ledger-version = Version { $number }
ledger-value = Value
# $when is a relative time, $task the id of the task that wrote it.
ledger-written = { $count ->
    [one] Written 1 time, last { $when } by <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
   *[other] Written { $count } times, last { $when } by <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
}
ledger-version-by = { $when } by <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
ledger-older = Show older values
ledger-more = Show more keys
ledger-back = Back to this ledger
