### Texts of messages.
