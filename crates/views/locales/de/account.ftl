### Texts of account.
