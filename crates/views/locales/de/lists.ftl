### Rahmen jeder Seite, Posteingang, Verlauf, Auswertung und einzelne Meldungen.

nav-inbox = Posteingang
nav-waiting = { $count } offen
