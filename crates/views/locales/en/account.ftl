### Settings, sign-in, sessions, passkeys, first run.

## Every settings page

settings-title = Settings
settings-lead = Everything here can also be done over the API and with the countersign command.
settings-nothing-changed = Nothing was changed. Everything you entered is still there.
settings-save = Save
settings-saved = Saved
settings-remove = Remove
settings-removed = Removed
settings-back = Back
settings-this-browser = this browser
settings-secret-once = Copy it now: it is shown only this once.
# $expected is what the server expects, in English: "a name of letters and digits".
settings-expected = Expected { $expected }.
settings-expected-not = Expected { $expected }, not { $given }.
settings-option-expected = Choose one of these.
settings-person-expected = Choose a person from the list.
settings-time-expected = Enter a time of day such as 22:30.
settings-date-time-expected = Enter a day and a time, such as 2026-12-24T08:00.
settings-email-taken = Another person has this address.

## The navigation and the overview: name and content of each page

settings-profile = My profile
settings-profile-about = Name, language, time zone, quiet hours
settings-away = Out of office
settings-away-about = When you are away, and who is asked instead
settings-notifications = Notifications
settings-notifications-about = Devices and email, in which order, and digests
settings-devices = My devices
settings-devices-about = Where push notifications go
settings-rules = My delegation rules
settings-rules-about = Which requests go to another person
settings-agents = Agents and keys
settings-agents-about = Which programs may ask, and with which keys
settings-webhooks = Webhooks
settings-webhooks-about = Signed calls to your servers when something happens
settings-people = People
settings-people-about = Who answers, and what they may do
settings-groups = Groups
settings-groups-about = Who takes requests from a common pool
settings-projects = Projects
settings-projects-about = Reminders, escalation, and what happens without an answer
settings-signing = Signing keys
settings-signing-about = The keys that sign receipts
settings-sessions = Sessions
settings-sessions-about = Browsers that can answer as you
settings-tokens = API tokens
settings-tokens-about = For the countersign command and scripts

## My profile

settings-profile-lead = Who you are, and when you can be reached.
settings-profile-name = Your name
settings-profile-description = What you do
settings-profile-description-hint = What others should know before they reassign a request to you.
settings-profile-language = Language
settings-profile-language-browser = Browser’s language
settings-profile-time-zone = Time zone
settings-profile-time-zone-hint = For times on pages, quiet hours and absences.
settings-time-zone-none = Not set: UTC
# $zone is the name of the time zone, such as Europe/Berlin.
settings-time-zone-browser = Browser’s time zone: { $zone }
settings-region-africa = Africa
settings-region-america = America
settings-region-antarctica = Antarctica
settings-region-arctic = Arctic
settings-region-asia = Asia
settings-region-atlantic = Atlantic
settings-region-australia = Australia
settings-region-europe = Europe
settings-region-indian = Indian Ocean
settings-region-pacific = Pacific
settings-profile-quiet-from = Quiet from
settings-profile-quiet-to = Quiet until
settings-profile-quiet-hint = Notifications wait until your quiet hours end, unless a request is critical. Leave both empty to have none.
settings-profile-quiet-both = Enter both times, or neither.
# $until is a relative time: "in 3 hours".
settings-profile-quiet-now = These are your quiet hours. Notifications continue { $until }.
settings-profile-undo = Undo window
settings-profile-undo-hint = For how many seconds you can undo an answer, from 0 to 60. The agent gets your answer after that; with 0 it gets it at once.
settings-profile-undo-expected = Enter a whole number from 0 to 60.
settings-profile-save = Save your profile
settings-profile-email = Your email address: { $email }. It lets you sign in, so only an administrator changes it.
settings-profile-no-email = You have no email address here. It would let you sign in, so only an administrator adds one.

## Out of office

settings-away-lead = While you are away, the person you name is asked instead of you.
settings-away-delegate = Who is asked instead
settings-away-until = Back on
settings-away-until-hint = Leave it empty to be away until you say that you are back. Times are in { $zone }.
settings-away-from = Away from
settings-away-from-hint = Leave it empty to be away from now on.
settings-away-nobody = No one: requests stay with you
settings-away-more = Only the first { $count } people are listed. To name another person, use the API.
settings-away-button = I’m away
settings-away-change = Save the change
settings-away-back = I’m back
settings-away-note = Requests you were asked before stay with you, and you can still answer everything. A person who is away too, or who is not in the request’s project, is not asked instead.
settings-away-now = You are away.
# $back is a relative time ("in 3 days"), $exact the date and time.
settings-away-now-until = You are away and back { $back } ({ $exact }).
settings-away-later = You will be away { $from }.
settings-away-later-until = You will be away { $from } and back { $back } ({ $exact }).
settings-away-delegated = { $name } is asked instead.
settings-away-undelegated = No one stands in for you, so requests stay with you.

## Notifications

settings-notifications-lead = Where you are notified of a request, and in which order.
settings-notifications-address = Address
settings-notifications-via = Channel
settings-notifications-digest = Low-priority requests
settings-notifications-digest-time = Time of day, for once a day
settings-notifications-no-email = Email isn’t set up.
settings-notifications-code-hint = You get a code there, to show that the address is yours.
settings-notifications-add = Add this address
settings-notifications-add-title = Add an address
settings-notifications-add-email-title = Add an email address
settings-notifications-address-hint = An email address, a phone number such as +4930123456, or your ID there, such as U0123ABC in Slack. You get a code there, to show that the address is yours.
settings-notifications-note = Countersign notifies the first of these. If that fails, or you don’t open the request for a while (2 minutes if it is critical, 5 if it is high, 15 otherwise), it tries the next one. In your quiet hours it notifies you only of critical requests. The inbox always shows everything.
settings-notifications-quiet-hours = My quiet hours
settings-notifications-earlier = Try earlier
settings-notifications-later = Try later
settings-notifications-use = Use it again
settings-notifications-do-not-use = Do not use it
settings-notifications-off = off
settings-notifications-off-facts = No notifications go here.
settings-notifications-unused = unused
settings-notifications-no-push = Push notifications are disabled on this server.
settings-notifications-no-channel = This channel isn’t set up on this server.
settings-notifications-unverified = not verified
settings-notifications-unverified-facts = Nothing goes there yet.
settings-notifications-devices = { $count ->
    [0] No device yet.
    [one] 1 device.
   *[other] { $count } devices.
}
settings-notifications-verified = Verified.
settings-contact-email = Email to { $address }
settings-contact-slack = Slack, { $address }
settings-contact-sms = SMS to { $address }
settings-contact-whatsapp = WhatsApp, { $address }
settings-contact-telegram = Telegram, { $address }
settings-contact-ntfy = ntfy, { $address }
settings-contact-webhook = Webhook, { $address }
settings-notifications-code = Code
settings-notifications-code-digits = Six digits. The code works once, for ten minutes.
settings-notifications-verify = Verify this address
settings-notifications-verify-title = Verify { $address }
settings-notifications-send-code = Send me a code
settings-notifications-digest-hour = Together, once an hour
settings-notifications-digest-day = Together, once a day
settings-notifications-digest-off = Each at once
settings-notifications-digest-hint = You are notified of everything else at once.
settings-notifications-digest-save = Save the digest
settings-notifications-digest-title = Digest
# $contact is a contact method: "Email to ada@example.com".
settings-code-sent = A code is on its way: { $contact }
settings-code-no-channel = This server sends nothing there.
settings-code-too-many = Too many codes were sent. Try again in a few minutes.
settings-code-failed = The code could not be sent. Try again later.
settings-code-wrong = That is not the code that was sent last.
settings-code-gone = No code is valid any more. Send another one.

## Devices with push notifications

settings-devices-lead = Devices that get push notifications of new requests.
settings-devices-disabled = Push notifications are disabled on this server.
settings-devices-full = You have { $count } devices already. Remove one to add this one.
settings-devices-unnamed = A device
# $service is the host of the push service, $added a relative time.
settings-devices-facts = Through { $service } · added { $added }
settings-devices-heading = Devices with push notifications
settings-devices-test = Send a test to all of them
settings-devices-tested = { $count ->
    [one] Sent to one device; it shows in a moment
   *[other] Sent to { $count } devices; it shows in a moment
}
settings-devices-note = A notification shows which agent asks and what, on the lock screen too unless your device hides it. It is encrypted for your device. A device gets notifications while it is signed in here, and in your quiet hours only of critical requests.
settings-device-this = This device
settings-device-on = Push notifications are on. If none arrive any more, turn them on again.
settings-device-needs = Push notifications need JavaScript and a browser that can show them.
settings-device-turn-on = Turn on
settings-device-turn-on-again = Turn on again
settings-device-apple = On an iPhone or iPad only apps get notifications: tap Share, then “Add to Home Screen”, open Countersign from there and come back to this page.
settings-device-https = Browsers show notifications only for pages that come over HTTPS.
settings-device-unsupported = This browser cannot show notifications while no page is open.
settings-device-denied = Notifications are blocked for this site. Allow them in the browser’s settings for this site, then load this page again.
settings-device-refused = Nothing was changed: the browser was not allowed to show notifications.
settings-device-unreachable = The browser’s push service could not be reached. Try again later; some networks and browsers have none.
# $field and $expected are from the server, in English.
settings-device-invalid = This browser’s push service cannot be used: { $field } should be { $expected }.
settings-device-test-gone = { $device }: this device is gone. It was removed.
settings-device-test-later = { $device }: its push service is busy. Try again later.
settings-device-test-never = { $device }: its push service refused the test. Turn notifications on again on that device.

## Delegation rules

settings-rules-lead = When an agent of yours asks for a delegate, the first rule that matches names the person.
settings-rules-delegate = Goes to
settings-rules-kinds = Which questions
settings-rules-kinds-hint = None ticked: any.
settings-rules-project = Which project
settings-rules-project-hint = By name, or by the agent’s own label. Empty: any.
settings-rules-tag = Which tag
settings-rules-tag-hint = Empty: any.
settings-rules-priority = Which priority
settings-rules-none = You have no rule yet: you are asked yourself.
settings-rules-nobody = No other person is in your projects, so you cannot delegate requests.
settings-rules-add = Add this rule
settings-rules-add-title = Add a rule
settings-rules-to = To { $name }
settings-rules-any-kind = any question
settings-rules-in-project = in { $project }
settings-rules-with-tag = about { $tag }
settings-rules-any-priority = Any
settings-rules-critical = Critical
settings-rules-high = High
settings-rules-normal = Normal
settings-rules-low = Low
settings-rules-only-critical = critical only
settings-rules-only-high = high only
settings-rules-only-normal = normal only
settings-rules-only-low = low only

## Agents and their keys

settings-agents-lead = Programs that may ask. Each asks in one project and has an owner.
settings-agents-id = Name of the agent
settings-agents-id-hint = Such as refund-bot.
settings-agents-id-taken = An agent has this name already.
settings-agents-project = Project
settings-agents-owner = Owner
settings-agents-owner-hint = The owner is asked unless the agent names another person.
settings-agents-owner-title = Owner and conversations
settings-agents-keys = Keys
settings-agents-facts = in { $project } · owner: { $owner }
settings-agents-none = There is no agent yet.
settings-agents-none-yours = No agent is yours yet. An administrator can add one for you.
settings-agents-more = Show more agents
settings-agents-add = Add this agent
settings-agents-add-title = Add an agent
settings-agents-back = Back to all agents
settings-agents-page-lead = Asks in { $project }. Owner: { $owner }.
settings-agents-conversations = Conversations
settings-agents-conversations-yes = People of its project may write to it first
settings-agents-no-key = It has no key yet, so it cannot ask.
settings-agents-key-label = What the key is for
settings-agents-key-label-hint = To recognise it later, such as staging or Ada’s laptop.
settings-agents-key-wide = Scope
settings-agents-key-wide-yes = It may read and withdraw all requests of its project, not only its own
settings-agents-key-add = Create a key and show it once
settings-agents-key-add-title = Create a key
# $created and $used are relative times.
settings-agents-key-unused = { $id } · created { $created } · never used
settings-agents-key-used = { $id } · created { $created } · last used { $used }
settings-agents-key-revoked = revoked
settings-agents-key-expired = expired
settings-agents-key-whole-project = sees its whole project
settings-agents-key-revoke = Revoke key
settings-agents-key-unnamed = without a name

## A new key; revoking a key

settings-key-new = Your new key
settings-key-new-lead = For the agent { $agent }. Anyone who has it can ask as this agent.
# The name of the key that the first run creates.
settings-key-first = first key
settings-key-label = Agent key
settings-key-examples = Ask with it: three ways
settings-key-curl = With curl
settings-key-python = With Python
settings-key-terminal = In the terminal
settings-key-to-inbox = Go to your inbox: the question appears there
settings-key-all = All keys of this agent
settings-key-revoke-title = Revoke a key
settings-key-revoke-lead = { $key } of the agent { $agent }. Programs that use it cannot ask any more from this moment on. This can’t be undone; you can create another key.
settings-key-revoke-tokens = Tokens of its open requests
settings-key-revoke-tokens-yes = Also end the review, submit and poll tokens of the open requests made with this key
settings-key-keep = Keep this key
settings-key-revoke-button = Revoke key

## The first run: the demonstration of the inbox

settings-demo-prompt = Demonstration: refund €120.00 to Ada for order 4711?
settings-demo-context = This is what a request looks like. No money moves and nobody else sees it.
settings-demo-amount = amount
settings-demo-amount-value = €120.00
settings-demo-recipient = recipient
settings-demo-recipient-value = Ada Lovelace (made up)
settings-demo-effect = what happens
settings-demo-effect-value = Nothing, whatever you answer: this is a demonstration
# Part of a message to an administrator.
settings-demo-broken = the demonstration cannot be created

## Webhooks

settings-webhooks-lead = Countersign calls these addresses when something happens to a request. The calls are signed.
settings-webhooks-scope = Whose requests
settings-webhooks-scope-hint = An endpoint of a project gets the events of its agents that have no endpoint of their own.
settings-webhooks-agent = the agent { $agent }
settings-webhooks-project = the project { $project }
settings-webhooks-url = Address
settings-webhooks-url-hint = A public https address.
settings-webhooks-events = Events
settings-webhooks-format = Format
settings-webhooks-format-standard = Standard Webhooks
settings-webhooks-format-humanlayer = HumanLayer
settings-webhooks-format-humanlayer-v1beta1 = HumanLayer v1beta1, the bare object
settings-webhooks-format-humanlayer-v1beta3 = HumanLayer v1beta3, conversations in one shape
settings-webhooks-description = Purpose
settings-webhooks-none = No endpoint yet. Agents can also wait or poll.
settings-webhooks-no-agent = No agent is yours, so there is nothing to add an endpoint for.
settings-webhooks-more = Show more endpoints
settings-webhooks-add = Add it and show its secret once
settings-webhooks-add-title = Add an endpoint
settings-webhooks-back = Back to all endpoints
settings-webhooks-disabled = disabled
settings-webhooks-gone = gone
# What happened to a request, after the name of the event: "ask.created: was asked".
settings-topic-created = the request was created
settings-topic-opened = a person opened it
settings-topic-claimed = a person claimed it
settings-topic-commented = a person commented
settings-topic-action-picked = a person picked an action
settings-topic-escalated = more people are asked
settings-topic-answered = it was answered
settings-topic-changes-requested = changes were requested
settings-topic-defaulted = the default was taken
settings-topic-expired = it expired
settings-topic-cancelled = it was withdrawn
settings-topic-revoked = its receipt was revoked
settings-topic-started = a person wrote to the agent
settings-topic-delegate = the agent’s runtime has to start a run
settings-topic-block = the run has to stop and wait
settings-topic-resume = the run has to continue
settings-topic-handoff = the run has to take over
settings-topic-steer = the run has to take a message into account
settings-topic-stop = the run has to stop for good

settings-webhook-lead-agent = For the agent { $agent }. Secret number { $number }.
settings-webhook-lead-project = For the project { $project }. Secret number { $number }.
settings-webhook-disabled-by-hand = It is disabled and gets no events.
settings-webhook-disabled-gone = The endpoint answered 410: it is gone, and disabled. The deliveries it did not accept are below. Enable it to send them again.
settings-webhook-deliveries = Deliveries
settings-webhook-no-deliveries = Nothing yet, or nothing for 30 days.
settings-webhook-older = Show older
settings-webhook-test = Send a test
settings-webhook-test-title = Try it out
settings-webhook-test-sent = A test is on its way; the result shows below
settings-webhook-enabled = Enabled
settings-webhook-enabled-yes = Gets events
settings-webhook-save = Save the endpoint
settings-webhook-title = The endpoint
settings-webhook-secret = Signing secret
settings-webhook-rotate = Rotate the secret; the old one signs for another day
settings-webhook-rotate-leaked = Rotate it now: the old one leaked and must not sign any more
settings-webhook-remove = Remove this endpoint
settings-webhook-remove-title = Remove an endpoint
settings-webhook-remove-lead = { $url }: from this moment on it gets no events, and waiting deliveries are dropped.
settings-webhook-keep = Keep this endpoint
settings-webhook-remove-button = Remove it now
settings-webhook-secret-title = The secret of this endpoint
settings-webhook-secret-lead = Anyone who has it can verify calls from here, and could forge one.
settings-webhook-secret-label = Signing secret
settings-webhook-secret-verify = Verify every call with a library for Standard Webhooks; docs/webhooks.md shows how.
settings-webhook-to-endpoint = Go to the endpoint
settings-delivery-waiting = waiting
settings-delivery-done = delivered
settings-delivery-dead = given up
settings-delivery-attempts = { $count ->
    [one] 1 attempt
   *[other] { $count } attempts
}
# $at is a relative time, $status an HTTP status, $error a message of the network.
settings-delivery-accepted = { $at } accepted with { $status }
settings-delivery-refused = { $at } answered { $status }
settings-delivery-unreached = { $at } { $error }
settings-delivery-next = next attempt { $at }
settings-delivery-again = Send again
settings-delivery-sent-again = It is sent again; the result shows below

## People

settings-people-lead = The people who can be asked and sign in.
settings-people-id = User ID
settings-people-id-hint = Letters, digits and -_.@, such as ada. It cannot be changed later.
settings-people-id-taken = A person has this user ID already.
settings-people-name = Display name
settings-people-email = Email address
settings-people-email-hint = They can sign in with a link sent there.
settings-people-admin = Administrator
settings-people-admin-yes = May change these settings
settings-people-active = Active
settings-people-active-yes = Can sign in and be asked
settings-people-projects = Projects
settings-people-groups = Groups
settings-people-groups-hint = Separated by commas.
settings-people-skills = Qualified for
settings-people-skills-hint = Tags of requests they may take from a pool, separated by commas.
settings-people-ids-expected = Enter names of letters, digits and -_.@, separated by commas.
settings-people-away = away
settings-people-erased = erased
settings-people-inactive = cannot sign in
settings-people-administrator = administrator
settings-people-more = Show more people
settings-people-add = Add this person
settings-people-add-title = Add a person
settings-people-back = Back to all people
settings-person-lead = User ID: { $id }
settings-person-passkeys = Passkeys to confirm
# $added and $from are relative times.
settings-person-passkey = “{ $name }”, added { $added }. It confirms answers { $from }, or when you confirm it. Ask the person, face to face or on the phone, whether they added it.
settings-person-passkey-confirm = Confirm this passkey
settings-invite = Invite
settings-invite-button = Create a sign-in link and show it once
settings-invite-title = A sign-in link for { $name }
settings-invite-lead = Give it to them yourself. It works once, within 24 hours, and signs in anyone who opens it as this person.
settings-invite-link = Sign-in link
settings-invite-broken = the sign-in address cannot be built
settings-end-access = End all access
settings-end-access-text = Ends their sessions, tokens, sign-in links and passkeys, marks their contact methods as not verified, and ends the review links and messages that were sent to them. Use it when a device or an account was stolen. A new sign-in link lets them in again.
settings-end-access-button = End all access now
settings-erase-heading = Erase personal data (GDPR)
settings-erase-link = Erase this person…
settings-erase-title = Erase { $name }
settings-erase-lead = Erase the personal data of this person (GDPR).
settings-erase-removed = Removed data
settings-erase-removed-data = Name, email address, contact methods, notification settings, time zone, quiet hours and absence; memberships of projects and groups; sessions, passkeys, sign-in links and tokens; devices; snoozed requests; delegation rules and escalation steps that name this person.
settings-erase-removed-text = What this person wrote: comments, reasons, comments on answers, reviews, and conversations with agents. This happens in the background within minutes.
settings-erase-kept = What stays
settings-erase-kept-text = The user ID, and what was decided with it: the audit log still verifies. Typed answers belong to their requests and are erased with these. Backups and exports made before today, and messages already sent to chat or email, are not changed.
settings-erase-first = Agents, open requests and open tasks of this person must be handed over first.
settings-erase-confirm-hint = Enter { $id } to confirm. This can’t be undone.
settings-erase-confirm-wrong = Enter { $id } to confirm.
settings-erase-button = Erase this person
settings-erased-lead = User ID: { $id }. This person was erased.
settings-erased-text = Name, addresses, credentials and devices were removed. What this person wrote on requests and tasks is erased in the background within minutes. The audit log still shows what this user ID decided. It cannot be used again.

## Groups

settings-groups-lead = An agent may ask a group: the first member who claims the request answers it.
settings-groups-id = Name of the group
settings-groups-id-hint = Such as legal or on-call.
settings-groups-members = Members
settings-groups-members-expected = Choose people from the list.
settings-groups-members-none = Choose at least one person.
settings-groups-none = There is no group yet.
settings-groups-add = Add this group
settings-groups-add-title = Add a group
settings-groups-change = Change
settings-groups-back = Back to all groups
settings-group-lead = Exactly these people are in the group. A group without members is removed.
settings-group-save = Save the members

## Projects

settings-projects-lead = A project groups agents and people, and has the rules for its requests.
settings-projects-id = Name of the project
settings-projects-id-hint = Such as billing. It cannot be changed later.
settings-projects-id-taken = A project has this name already.
settings-projects-silence-allowed = an agent may continue without an answer
settings-projects-silence-forbidden = nothing happens without an answer
settings-projects-reminders = { $count ->
    [one] 1 reminder
   *[other] { $count } reminders
}
settings-projects-steps = { $count ->
    [one] 1 escalation step
   *[other] { $count } escalation steps
}
settings-projects-more = Show more projects
settings-projects-add = Add this project
settings-projects-add-title = Add a project
settings-projects-back = Back to all projects
settings-project-lead = The rules for requests of this project. Requests that were already created keep the rules of that time.
settings-project-save = Save the rules
settings-project-assurance = Required identity check
settings-project-assurance-hint = Answers with a weaker check are refused.
settings-assurance-agent-attested = None: only the agent vouches for the person; this includes review links that agents were given
settings-assurance-link = A link or a reply address that Countersign sent to a verified address
settings-assurance-channel = A linked chat account, or an email with a verified sender
settings-assurance-session = A signed-in person
settings-assurance-passkey = A passkey, for each answer
settings-project-irreversible = Required identity check for irreversible or critical approvals
settings-project-irreversible-none = As for every answer
settings-project-irreversible-hint = Everyone who may answer can reject such a request or request changes. If this requires more than the agent’s word, silence never approves it.
settings-project-silence = Without an answer
settings-project-silence-yes = An agent may say what happens then
settings-project-silence-no = No agent may take silence for a yes or any other answer
settings-project-envelopes = Envelopes of messages
settings-project-envelopes-lenient = Accept the valid parts, and note what is wrong
settings-project-envelopes-strict = Refuse a request whose envelope is invalid
settings-project-envelopes-hint = How sure agents are, what they assume and more, in the envelope of HXP eXperience.
settings-project-reminders = Reminders
settings-project-reminders-hint = How long after the request, separated by commas: 15 min, 1 h, 1 day. They apply if the agent names none, and end when the request expires.
settings-project-retention = Retention
settings-project-retention-hint = How long texts are kept after a request or task is closed: 30d, 12h, or off to keep them permanently. Empty means the server’s default. Decisions and their proof stay.
settings-project-recipients = Recipients of agents
settings-project-recipients-project = People of this project, the agent’s owner and allowed recipients
settings-project-recipients-any = Any address an agent names
settings-project-recipients-hint = Requests an agent sends to any other address are refused.
settings-project-allowed = Allowed recipients
settings-project-allowed-hint = Further addresses agents may use, separated by commas: slack:C0123ABC, email:ops@example.com, @example.com for an email domain, sms:* for every number.
settings-project-quotas = Quotas
settings-project-quotas-hint = Where this project differs from the server, separated by commas: agent.open_asks=100, project.notifications=500. 0 means no limit.
settings-project-escalation = Escalation
settings-project-step = Step { $step }
settings-project-step-after = Step { $step }: after
settings-project-step-ask = Step { $step }: ask
settings-project-step-hint = Who is asked as well if the request has no answer by then. Leave a step empty to remove it.
settings-project-step-nobody = No one
settings-project-step-anyone = Anyone in the project
settings-project-step-group = The group { $group }
settings-project-step-expected = Choose who is asked, or empty the step.

## Signing keys

settings-signing-lead = Every receipt is signed with one of these. The name of a key is the fingerprint of its public part.
settings-signing-revoked = revoked
settings-signing-revoked-facts = created { $created } · revoked { $at }: { $reason } · its signatures are invalid
settings-signing-destroyed = destroyed
settings-signing-destroyed-facts = created { $created } · private key destroyed { $at } by { $by } · still trusted
settings-signing-retired = retired
settings-signing-retired-facts = created { $created } · signed until { $at } · still trusted
settings-signing-current = signs now
settings-signing-current-facts = created { $created }
settings-signing-verify = Verify a receipt, with or without this server
settings-signing-rotate = Rotate key, or revoke key, where the server runs
settings-signing-destroy = Destroy the private key of a retired one; its receipts stay valid
settings-signing-note = Keys are changed there and not here, so that nobody can change them with a stolen browser session.
settings-signing-unreadable = the signing keys cannot be read

## Sign-in

sign-in-title = Sign in to Countersign
sign-in-title-link = Sign in with your link
sign-in-lead = AI agents ask you questions here, and act on what you answer.
sign-in-lead-link = AI agents ask you questions here, and act on what you answer. This link works once.
sign-in-button-link = Sign in on this device
sign-in-button-provider = Sign in with { $name }
sign-in-email = Your email address
sign-in-button-email = Send me a sign-in link
sign-in-button-passkey = Sign in with a passkey
sign-in-hint = Or open a sign-in link you were given. The server prints one when it first starts, and an administrator can create a new one for you.
sign-in-again = Sign in again

## Confirming an answer with a passkey

sign-in-confirm-title = Confirm your answer
sign-in-confirm-heading = Confirm your answer with your passkey
sign-in-confirm-lead = For this request, being signed in is not enough. Nothing was sent yet.
sign-in-confirm-asked = You were asked
sign-in-confirm-answer = Your answer
sign-in-confirm-back = Back to the request

## Passkeys

sign-in-passkeys-title = Your passkeys
sign-in-passkeys-lead = A passkey signs you in with your fingerprint, face or PIN. Some requests can only be answered with one.
sign-in-passkeys-none = You have none yet.
# $when is a relative time: "3 days ago", "in 2 hours".
sign-in-passkey-added = Added { $when }
sign-in-passkey-used = last used { $when }
sign-in-passkey-pending = Signs you in, but does not confirm answers before { $when }, unless an administrator confirms it.
sign-in-passkey-never-used = not used yet
sign-in-passkey-add = Add a passkey
sign-in-passkey-add-button = Add a passkey on this device
sign-in-passkey-add-another = Add another passkey
sign-in-passkey-add-another-text = First confirm with a passkey you have. If you lost it, sign in again and remove it, or ask an administrator to.
sign-in-passkey-name = Name
sign-in-passkey-name-example = work laptop
sign-in-passkey-confirm = Confirm with your passkey
sign-in-passkey-again-first = Sign in again first. Your first passkey needs a sign-in of the last ten minutes.
sign-in-passkey-remove-title = Remove a passkey
sign-in-passkey-remove-heading = Remove this passkey?
sign-in-passkey-remove-text = Confirm with a passkey you have. If you lost it, sign in again: for ten minutes after that you can remove a passkey without one.
sign-in-passkey-keep = Keep this passkey
sign-in-passkey-remove-button = Remove with your passkey
sign-in-passkey-javascript = Passkeys need JavaScript.
sign-in-passkey-unsupported = This browser has no passkeys.
sign-in-passkey-exists = You have a passkey on this device already.
sign-in-passkey-not-verified = Nothing was changed: the passkey was not used, or its signature is invalid.
sign-in-passkey-not-created = Nothing was changed: the passkey was not created.
sign-in-passkey-unused = The passkey was not used. Try again when you are ready.

## Sessions

sign-in-sessions-lead = Sign out of browsers that you do not know or no longer use. Anyone who is signed in as you can answer as you.
sign-in-session-link = Signed in with a sign-in link { $when }
sign-in-session-email = Signed in with a link by email { $when }
sign-in-session-passkey = Signed in with a passkey { $when }
sign-in-session-oidc = Signed in with your organisation { $when }
sign-in-session-since = Signed in { $when }
sign-in-session-used = last used { $when }
sign-in-session-ends = ends { $when }
sign-in-session-end = Sign out
sign-in-session-which = { $browser }, signed in { $since }
sign-in-session-end-others = Sign out everywhere else

## Signing in on the command line

cli-login-title = Sign in on the command line
cli-login-heading = Sign in on the command line?
# $device is the name of the computer.
cli-login-asks = { $days ->
    [one] The <code>countersign</code> command on <strong dir="auto">{ $device }</strong> asks to sign in as you. It can then do everything that you can do here, for { $days } day or until you sign out there with <code>countersign logout</code>.
   *[other] The <code>countersign</code> command on <strong dir="auto">{ $device }</strong> asks to sign in as you. It can then do everything that you can do here, for { $days } days or until you sign out there with <code>countersign logout</code>.
}
cli-login-compare = Your terminal shows this code. Compare them: <strong class="mono">{ $code }</strong>
cli-login-warning = Only continue if you started <code>countersign login</code> yourself. If someone sent you this link, close the page.
cli-login-confirm = Sign in on the command line
cli-login-copy-code = Copy this code into your terminal
cli-login-code-hint = The code works once, within ten minutes, and only in the terminal in which you started <code>countersign login</code>. Send it to no one.
cli-login-code = Code
cli-login-go-back = Go back to your terminal
cli-login-go-back-hint = If your terminal does not continue on its own within a few seconds, use this link.
cli-login-continue = Continue in the terminal
cli-login-invalid = A part of the address is missing or wrong. Run <code>countersign login</code> again and open the whole address that it prints.
