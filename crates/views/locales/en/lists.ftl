### The frame of every page, the inbox, the history, insights, and single messages.

nav-inbox = Inbox
nav-waiting = { $count ->
    [one] waiting
   *[other] waiting
}
