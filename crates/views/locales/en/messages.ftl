### Emails, push notifications, and messages on other platforms.

## The title of a message about a request

card-approve = { $agent } wants your approval
card-choose = { $agent } wants you to choose
card-provide = { $agent } needs information from you
card-confirm = { $agent } wants you to confirm
card-escalate = { $agent } failed and needs you to decide
card-converse = { $agent } has a question
card-urgent = Urgent: { $title }
card-irreversible = { $title } (can't be undone)
card-assigned = It was assigned to you.
card-reminder = It is still waiting.
card-escalated = No one has answered yet.
card-waiting =
    { $count ->
        [one] One request waits for you
       *[other] { $count } requests wait for you
    }

## The content of a message about a request

card-erased = (erased)
card-asked = Asked: { $prompt }
card-outcome-by = { $outcome } by { $who }
# The deadline: in 27 minutes (1 Mar 2026, 10:00 CET).
card-until = { $relative } ({ $exact })
card-claims = Agent's claims (unverified)
card-changed = Changed: { $label }
card-suggested = Agent suggests

## Buttons of messages, and the words of written answers

offer-approve = Approve
offer-reject = Reject
offer-reject-because = Reject: { $reason }
offer-retry = Try again
offer-skip = Skip
offer-stop = Stop
# A word that a person types as an answer: one word in lower case.
offer-word-yes = yes
# A word that a person types as an answer: one word in lower case.
offer-word-no = no
offer-word-no-because = no { $n }
# A word that a person types as an answer: one word in lower case.
offer-word-retry = retry
# A word that a person types as an answer: one word in lower case.
offer-word-skip = skip
# A word that a person types as an answer: one word in lower case.
offer-word-abort = abort

## Emails

email-separator = Reply above this line
email-agent-writes = The agent writes:
email-cut = The page shows the whole request.
email-expires = Expires { $until }.
email-read-here = Read it and answer here:
email-read-button = Read and answer
email-signs-in = You sign in on the page as usual. Opening the link decides nothing.
email-anyone = Opening the link decides nothing. Anyone who has the link can answer, so do not forward it.
email-settings = Notification settings: { $url }
email-settings-link = Notification settings
email-button-fails = If the button does not work, open this address: { $url }
email-reply-text = Reply to this email with your answer.
email-reply-words = Or reply to this email. Write one of these words on the first line, and your reason below it: { $words }.
email-reply-word = { $word } ({ $label })
email-digest-lead = { $title }. None of them is urgent.
email-digest-more =
    { $count ->
        [one] And 1 more.
       *[other] And { $count } more.
    }
email-digest-inbox = Inbox: { $url }
email-digest-open = Open the inbox
email-sign-in-subject = Sign in to Countersign at { $host }
email-sign-in-lead = Someone, probably you, asked to sign in to Countersign at { $host }.
email-sign-in-open = Open this link and press the button there:
email-sign-in-button = Sign in
email-sign-in-once = The link works once, within { $minutes } minutes. If it was not you, ignore this email: nobody can sign in without the link.
email-code-subject = Your code for Countersign at { $host }
email-code-lead = Someone, probably you, wants to receive notifications from Countersign at { $host } at this address.
email-code-enter = Enter this code on the page where you asked for it:
email-code-once = The code works once, within { $minutes } minutes. If it was not you, ignore this email: Countersign sends nothing to this address without the code.
email-security-at = { $title }, on { $at }.
email-security-time = On { $at }.
email-security-passkeys = Your passkeys
email-security-passkeys-url = Your passkeys: { $url }
email-about = About your email

## Security notifications

security-passkey-added = A passkey was added to your account at { $host }
security-passkey-added-what = If this was not you, tell an administrator at once: they can end all access to your account. A first passkey does not confirm answers for a waiting period.
security-passkey-removed = A passkey was removed from your account at { $host }
security-passkey-removed-what = If this was not you and you did not ask for it, tell an administrator at once: they can end all access to your account.
security-access-ended = All access to your account at { $host } was ended
security-access-ended-what = An administrator ended your sessions, tokens, sign-in links, passkeys and contact methods. Ask them for a new sign-in link.

## Verification codes on other platforms

code-title = A code for { $host }
code-text = { $code }. Enter it within { $minutes } minutes on the page where you asked for it. If you did not ask for a code, ignore this message.

## Push notifications

push-assigned = Assigned to you: { $title }
push-reminder = Still waiting: { $title }
push-escalated = Not answered yet: { $title }
push-open = Open it to read all of it.
push-changed-asked = Asked: { $prompt }
push-changed = Approved with: { $changes }
push-test = Notifications work on this device
push-test-text = When a request waits for you, this device shows it.

## Messages in Slack, WhatsApp, Telegram, SMS and ntfy

chat-background = Background:
chat-details = Details:
chat-expires = Expires { $until }.
chat-comment = Comment:
chat-open = Open the request
chat-answer-on-page = Answer on its page:
chat-answer-on-page-only = Answer it on its page.
chat-more = The message shows only part of the request.
chat-more-answer = The message shows only part of the request. Read and answer it on its page.
chat-more-answer-here = The message shows only part of the request. Read and answer it here:
chat-more-here = The message shows only part of the request. All of it:
chat-answers = Answers
chat-form = Fill in the form
chat-form-on-page = The form is on its page.
chat-choose = Choose
chat-cancel = Cancel
chat-yes = Yes
chat-no = No
chat-reply-in-thread = To answer, reply in this thread.
chat-reply-in-thread-with = To answer, reply in this thread with one of:
chat-word-and-reason = { $word }, and your reason: { $label }
chat-word = { $word }: { $label }
chat-or-write = Or write { $words }.
chat-or = { $first } or { $second }
chat-reply-with = Reply to this message with one of
chat-or-here = or here:
chat-reply-text = Reply to this message with your answer.
chat-reply-text-or-code = Reply to this message with your answer, or write { $code } and your answer.
chat-answer-with = Answer with one of
chat-answer-with-text = Answer with { $code } and your text, or here:
chat-answer-here = Answer here:
chat-read-on-page = Read all of it and answer on its page.
chat-open-short = Open
chat-code-and-answer = { $code } and your answer
# What a template shows in place of a text that does not fit: the question or the way to answer is on its page.
chat-on-its-page = on its page

## Replies to people who answer or write

reply-invalid = Your answer was not recorded. { $problems }
reply-why = Why?
reply-send = Send
reply-on-page = Please answer on its page: { $page }
reply-say-why = Please give a reason, in a few words.
reply-copied = Your answer was not recorded: the email went to other people too. Answer on its page: { $page }
reply-only-on-page = This request can only be answered on its page: { $page }
reply-sender-unverified = Your answer was not recorded: the request needs an email whose sender is verified, and { $why }. Sign in and answer on its page: { $page }
reply-not-understood = Your answer was not understood. Answer with { $words }, or open { $page }
reply-second-step = This request needs a second confirmation, so it can only be answered on its page: { $page }
reply-recorded = Recorded: { $outcome }.
reply-recorded-others = Recorded. Other people have to answer too.
reply-closed = { $over } { $when }: { $outcome }. { $sentence } Your answer changed nothing.
reply-refused = Your answer was not recorded: { $why }. Its page: { $page }
reply-link-in-message = the link in its message
reply-unknown-request = It is unclear which request this answers. Begin with its code, or open its page.
reply-not-asked = This request was not sent to you, so nothing was changed.
reply-old-button = This button is no longer valid, so nothing was changed.
reply-old-address = This address is no longer valid. Nothing was sent.
reply-no-agent = No agent accepts conversations from you.
reply-name-agent = Begin with the name of an agent: { $names }.
reply-name-agent-others = Begin with the name of an agent: { $names }, and others.
reply-unknown-or-agent = It is unclear which request this answers. Begin with its code, or open its page. To write to an agent, begin with its name: { $names }.
reply-unknown-or-agent-others = It is unclear which request this answers. Begin with its code, or open its page. To write to an agent, begin with its name: { $names }, and others.
reply-begun = { $agent } has your message. Its replies are here: { $page }
reply-agent-refuses = { $agent } does not accept conversations. Nothing was sent.
reply-agent-forbidden = You can no longer write to { $agent }. Nothing was sent.
reply-message-invalid = Nothing was sent to { $agent }: a message has { $expected }.
reply-not-sent = Nothing was sent to { $agent }: { $why }.
