### Texts of work.
