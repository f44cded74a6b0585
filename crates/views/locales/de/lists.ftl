### Rahmen jeder Seite, gemeinsame Teile, Posteingang, Verlauf, Auswertung und einzelne Meldungen.

## Zeiten

time-just-now = gerade eben
time-within-a-minute = in weniger als einer Minute
time-minutes-ago = vor { $n } Min.
time-in-minutes = in { $n } Min.
time-hours-ago = vor { $n } Std.
time-in-hours = in { $n } Std.
time-days-ago = { $n ->
    [one] vor { $n } Tag
   *[other] vor { $n } Tagen
}
time-in-days = { $n ->
    [one] in { $n } Tag
   *[other] in { $n } Tagen
}
time-on-day = am { $day }

## Werte

value-empty = (leer)
value-none = (keine)
value-no-name = (ohne Namen)
value-yes = ja
value-no = nein
percent = { $n } %
size-bytes = { $n ->
    [one] { $n } Byte
   *[other] { $n } Byte
}
text-lines = { $n ->
    [one] { $n } Zeile
   *[other] { $n } Zeilen
}
text-characters = { $n ->
    [one] { $n } Zeichen
   *[other] { $n } Zeichen
}
text-erased = Der Text dieser Anfrage wurde gelöscht.
text-scroll = Alle { $extent } stehen hier: innen blättern
text-open-all = Alle { $extent } anzeigen
diff-cut-line = { $text }… ({ $n } weitere Zeichen)
markdown-image = Bild, nicht geladen:
link-opens-elsewhere = (öffnet eine andere Website)
list-more = und { $n } weitere, die über die API verfügbar sind
chart-thousands = { $n }k
chart-millions = { $n }M

## Personen, Agenten und Kanäle

person-erased = gelöschte Person
actor-agent = Agent { $id }
actor-link-holder = jemand mit dem Link
actor-relay = jemand, für den der Agent spricht
actor-guest = jemand unter einer Adresse des Agenten
via-web = auf der Webseite
via-terminal = im Terminal
via-notification = über eine Benachrichtigung
via-slack = in Slack
via-email = per E-Mail
via-sms = per SMS
via-whatsapp = in WhatsApp
via-telegram = in Telegram
via-webhook = über einen Webhook
via-api = über die API
via-link = über den Prüflink
via-agent = über den Agenten
via-timer = bei Ablauf der Frist
via-script = durch ein Skript, in einem Test

## Wie sicher die Identität der antwortenden Person ist

assurance-none = niemand hat geantwortet
assurance-address-of-agent = Identität unbekannt; der Agent hat die Adresse gewählt
assurance-link-of-agent = über einen Link, den der Agent erhalten hat; nur der Agent sagt, dass eine Person geantwortet hat
assurance-agent-attested = nur der Agent sagt, dass eine Person geantwortet hat
assurance-reached-for-agent = Identität unbekannt; der Agent wollte die Person dort erreichen
assurance-link = jeder, der den Link hat
assurance-channel = Identität vom Nachrichtendienst geprüft
assurance-session = angemeldet
assurance-passkey = mit einem Passkey bestätigt
assurance-dkim = Absender durch eine DKIM-Signatur von { $domain } bestätigt
assurance-arc = Absender durch eine DKIM-Signatur von { $domain } bestätigt, versiegelt vom vertrauenswürdigen Weiterleiter { $sealer } (ARC)
assurance-reply-address = an eine Antwortadresse, die an die bestätigte E-Mail-Adresse ging; der Absender wurde nicht geprüft

## Anfragen

urgency-critical = Kritisch
urgency-high = Hoch
urgency-normal = Normal
urgency-low = Niedrig
kind-approve = Genehmigen oder ablehnen
kind-choose = Auswählen
kind-provide = Ausfüllen
kind-confirm = Bestätigen
kind-escalate = Etwas ist fehlgeschlagen
kind-converse = Antworten
default-skip = Der Agent fährt ohne Antwort fort
default-approve = Der Agent handelt, als hätten Sie genehmigt
default-reject = Der Agent handelt, als hätten Sie abgelehnt
default-abort = Der Agent hält an
confirm-go-ahead = Bestätigen und ausführen
confirm-do-not-go-ahead = Nicht ausführen
browser-on-system = { $browser } unter { $system }
browser-unknown-on-system = Ein Browser unter { $system }
browser-unknown = Ein Browser

## Was der Agent über seine Nachricht angibt

claims-title = Angaben des Agenten (ungeprüft)
claims-confidence = Konfidenz
claims-effort = Aufwand
claims-assumptions = Annahmen
claims-limits = Grenzen
claims-questions = Offene Fragen
claims-actions = Aktionen
claims-picked = angefordert
claims-comment = Dem Agenten schreiben
claims-comment-note = ein Kommentar, nicht Ihre Antwort
claims-comment-send = An den Agenten senden
claims-confidence-of = Konfidenz { $percent }
claims-verify = sollte geprüft werden
claims-refuses = weigert sich
claims-limits-count = { $n ->
    [one] { $n } Grenze
   *[other] { $n } Grenzen
}
claims-complexity = Komplexität { $load }/10
claims-seconds-to-read = { $n } s Lesezeit
claims-minutes-to-read = { $n } Min. Lesezeit
refusal-safety = Der Agent weigert sich aus Sicherheitsgründen.
refusal-legal = Der Agent weigert sich aus rechtlichen Gründen.
refusal-capability = Der Agent weigert sich, weil er es nicht kann.
refusal-policy = Der Agent weigert sich wegen einer Richtlinie.
refusal-unknown = Der Agent weigert sich. Er nennt keinen Grund.
refusal-hard = Er wird es in keiner Form tun.
refusal-soft = Über die Weigerung lässt sich reden.
refusal-redirect = Er bietet eine Alternative an.
refusal-no-redirect = Er hat keine Alternative.
safety-high-risk = Er sieht ein hohes Schadensrisiko.
safety-some-risk = Er sieht ein gewisses Schadensrisiko.
safety-policy = Er gibt an, dass eine Richtlinie ausgelöst wurde.
action-ask-followup = Eine Rückfrage stellen
action-refine-request = Genauer formulieren
action-simplify = Vereinfachen
action-expand = Ausführlicher erklären
action-generate-variant = Eine andere Fassung erstellen
action-compare-options = Die Optionen vergleichen
action-verify-sources = Die Quellen prüfen
action-create-plan = Einen Plan erstellen
action-export-schema = Das Schema exportieren
action-show-examples = Beispiele zeigen

## Aufgaben

task-state-created = Nicht zugewiesen
task-state-assigned = Nicht begonnen
task-state-in-progress = In Arbeit
task-state-blocked = Blockiert
task-state-review-ready = Bereit zur Prüfung
task-state-under-review = In Prüfung
task-state-accepted = Abgenommen
task-state-done = Erledigt
task-state-cancelled = Abgebrochen
task-state-rejected = Abgelehnt
handover-assign = zur Bearbeitung
handover-checkpoint = für eine Entscheidung
handover-approve = zum Fortsetzen
handover-reject = wegen der Entscheidung
handover-handoff = übergeben
checkpoint-input = Auskunft geben
checkpoint-escalation = Der Agent kommt allein nicht weiter
checkpoint-interrupt = Sie haben den Agenten angehalten
checkpoint-pending = Wartet auf eine Antwort
checkpoint-approved = Genehmigt von { $who }
checkpoint-rejected = Abgelehnt von { $who }; damit endete die Aufgabe
checkpoint-chosen = Entschieden von { $who }
checkpoint-provided = Beantwortet von { $who }
checkpoint-reassigned = Von { $who } dem Agenten { $agent } zugewiesen
checkpoint-reassigned-elsewhere = Von { $who } neu zugewiesen
checkpoint-timed-out = Niemand hat rechtzeitig geantwortet
checkpoint-expired = Ohne Antwort geschlossen
checkpoint-withdrawn = Zurückgezogen
checkpoint-cancelled = Die Aufgabe wurde vorher abgebrochen
verdict-accepted = Abgenommen
verdict-plan-approved = Plan genehmigt
verdict-changes-requested = Änderungen verlangt
verdict-rejected = Abgelehnt
severity-blocker = Muss geändert werden
severity-major = Sollte geändert werden
severity-minor = Könnte besser sein
severity-nit = Geschmackssache
intent-clarify = Klarstellen
intent-redirect = Richtung ändern
intent-constrain = Einschränken
intent-abort-hint = Abbruch nahelegen
permission-allow = Erlaubt
permission-deny = Verboten
grant-run-over = während eines beendeten Laufs
grant-next-run = während des nächsten Laufs
grant-this-run = während dieses Laufs
grant-task = für die ganze Aufgabe
grant-until = bis { $at }
autonomy-autonomous = Alles, was die Aufgabe erfordert
autonomy-plan-then-implement = Nichts, bevor der Plan genehmigt ist
autonomy-confirm-each-action = Nur genehmigte Aktionen
autonomy-read-only = Nur lesen
payload-diff = eine Änderung
payload-blob = eine Datei
payload-ref = ein Verweis
payload-inline = ein Text

## Der Rahmen jeder Seite

nav-inbox = Eingang
nav-waiting = offen

## Wörter, die mehrere Seiten verwenden

common-agent = Agent
common-project = Projekt
common-receipt = Beleg
common-close = Schließen
common-cancel = Abbrechen
common-back-to-inbox = Zurück zum Posteingang
common-cannot-be-undone = Das kann nicht rückgängig gemacht werden

## Was der Server über eine Anfrage weiß

known-kind = Art der Anfrage
known-who-answers = Wer antwortet
known-if-nobody-answers = Wenn niemand antwortet

## Änderungen an einem Vorschlag, für Bildschirmleser

changed-proposed = Vorschlag des Agenten:
changed-now = Geändert in:
changed-lines = { $label }, Zeile für Zeile

## Meldungen am Anfang einer Seite

banner-written = Ihr Text
banner-next = Nächste: <bdi>{ $prompt }</bdi>
banner-see-request = Anfrage und Beleg ansehen
button-suggested = Vorschlag des Agenten
undo = Rückgängig
undo-answer-in = Der Agent erhält Ihre Antwort in <span data-left>{ $seconds }</span> s.
undo-answers-in = Die Agenten erhalten Ihre Antworten in <span data-left>{ $seconds }</span> s.
problems-title = { $count ->
    [one] Eine Angabe muss korrigiert werden
   *[other] { $count } Angaben müssen korrigiert werden
}
problems-kept = Es wurde nichts gesendet. Alle anderen Eingaben sind noch da.
problems-files-again = Bitte wählen Sie die Dateien erneut aus.

## Tasten

keys-title = Tastenkürzel
keys-next = Nächste und vorige Anfrage
keys-open = Öffnen
keys-approve = Genehmigen oder ablehnen, wenn die ganze Frage in der Zeile steht
keys-confirm = Den zweiten Schritt einer unumkehrbaren oder kritischen Anfrage bestätigen
keys-undo = Die letzte Antwort rückgängig machen, solange das möglich ist
keys-option = Diese Option auswählen
keys-comment = Öffnen, um einen Kommentar zu schreiben
keys-select = Auswählen, um mehrere zusammen zu beantworten
keys-snooze = Zurückstellen
keys-search = Suchen
keys-go = Zum Posteingang, zum Verlauf, zu den Aufgaben
keys-these = Diese Tastenkürzel anzeigen

## Filter von Listen

filter-expires = Läuft ab
filter-any-time = Jederzeit
filter-every-project = Alle Projekte
filter-every-agent = Alle Agenten
filter-kind = Art
filter-every-kind = Alle Arten
filter-ended-by = Geschlossen von
filter-anybody = Alle Personen
filter-outcome = Ergebnis
filter-every-outcome = Alle Ergebnisse
nav-history = Verlauf

## Listen

common-search = Suchen
common-filter = Filter
common-apply = Anwenden
common-optional = optional
common-error = Fehler:
common-approve = Genehmigen
common-reject = Ablehnen
common-choose = Auswählen
common-did-not-work = Das hat nicht funktioniert
filter-within-an-hour = Innerhalb einer Stunde
filter-within-a-day = Innerhalb eines Tages
filter-clear = Filter zurücksetzen
search-newest = Das sind die neuesten { $n }. Ergänzen Sie ein Wort, um die gesuchte Anfrage zu finden.
list-end = Keine weiteren Ergebnisse.
list-back = Zurück zur Liste
list-beginning = Zurück zum Anfang
list-pages = Seiten
agent-in-project = <bdi>{ $agent }</bdi> in <bdi>{ $project }</bdi>
agent-says = Der Agent schreibt

## Posteingang

inbox-tabs = Welche Anfragen
inbox-tab-all = Alle
inbox-tab-mine = Mir zugewiesen
inbox-tab-groups = Meine Gruppen
inbox-tab-everyone = Von allen
inbox-tab-snoozed = Zurückgestellt
inbox-waiting = { $n } offen
inbox-caught-up = Alles erledigt
inbox-snoozed = { $n } zurückgestellt
inbox-nothing-snoozed = Nichts zurückgestellt
inbox-no-match = Keine passenden offenen Anfragen
inbox-matches = { $n ->
    [one] { $n } passende Anfrage
   *[other] { $n } passende Anfragen
}
inbox-more-matches = Mehr als { $n } passende Anfragen
inbox-none-similar = Keine ähnlichen Anfragen mehr
inbox-critical = { $n } kritisch
inbox-write = Einem Agenten schreiben
inbox-search = Anfragen durchsuchen
inbox-search-label = Wörter in Anfragen
inbox-search-history = Verlauf durchsuchen
inbox-no-match-hint = Vielleicht wurde sie schon beantwortet: <a href="{ $href }">Verlauf durchsuchen</a>.
inbox-snoozed-hint = Zurückgestellte Anfragen stehen hier, bis sie wiederkommen.
inbox-caught-up-hint = Sie haben alles beantwortet. Neue Anfragen erscheinen hier.
inbox-empty-hint = Neue Anfragen erscheinen hier.
inbox-show-new = Neue Anfragen anzeigen
inbox-review-selected = Prüfen: <span data-selected>ausgewählte Anfragen</span>…
inbox-review-selected-note = Sie sehen zuerst eine Übersicht. Es wird noch nichts gesendet.
inbox-more = Weitere Anfragen anzeigen
inbox-recent = Zuletzt
first-title = Senden Sie sich die erste Anfrage
first-key-hint = Ein Agent fragt mit einem API-Schlüssel an. Erstellen Sie einen, dann sehen Sie drei Wege: curl, Python und das Terminal. Die Anfrage erscheint hier, und Ihre Antwort geht an den Agenten.
first-key = Schlüssel erstellen
first-no-agent = Ihnen gehört noch kein Agent. Sie erhalten Anfragen, wenn ein Agent Sie oder eine Ihrer Gruppen fragt; die Administration kann einen Agenten für Sie hinzufügen.
first-demo-hint = Oder sehen Sie sich zuerst ein Beispiel an.
first-demo = Den Demo-Agenten fragen lassen
first-demo-note = Eine erfundene Frage. Ihre Antwort hat keine Folgen.

## Eine Zeile des Posteingangs

row-expires-soon = Läuft { $time } ab
row-due-soon = Fällig { $time }
row-goes-ahead-soon = Wird { $time } ausgeführt
row-expires = läuft { $time } ab
row-due = fällig { $time }
row-goes-ahead = wird { $time } ausgeführt
row-was-due = war { $time } fällig
row-task = Aufgabe
row-claimed-by = Übernommen von <bdi>{ $name }</bdi>
row-claimed-by-you = Von Ihnen übernommen
row-select = Auswählen: { $prompt }
row-similar = { $n ->
    [one] { $n } ähnliche Anfrage
   *[other] { $n } ähnliche Anfragen
}
row-similar-or-more = { $n } oder mehr ähnliche Anfragen
row-similar-total = { $n } ähnliche Anfragen, insgesamt { $total }
row-verify = Bitte prüfen
row-claims = Der Agent gibt an: <bdi>{ $line }</bdi>
row-from = <strong>{ $agent }</strong> in { $project }
row-asked-at = gefragt { $time }
row-asked = Gefragt:
row-by = von <bdi>{ $who }</bdi>
row-being-answered = wird von <bdi>{ $name }</bdi> beantwortet
row-comes-back = kommt { $time } wieder
row-show-all = Alle anzeigen
row-review-together = Zusammen prüfen…
row-view = Ansehen
row-open = Öffnen
row-read-and-answer = Lesen und antworten
row-snooze = Zurückstellen…
row-wake = Zurück in den Posteingang
row-this-request = diese Anfrage
viewers-one = { $name } sieht sie gerade an
viewers-two = { $name } und { $other } sehen sie gerade an
viewers-many = { $name } und { $others } weitere sehen sie gerade an

## Zurückstellen und neu zuweisen

snooze-title = Zurückstellen oder neu zuweisen
snooze-until = Zurückstellen bis
snooze-hint = Sie verschwindet aus Ihren Listen und kommt von selbst wieder. Für andere ändert sich nichts, und sie kann inzwischen ablaufen.
snooze-hour = In einer Stunde
snooze-tomorrow = Morgen früh
snooze-tomorrow-time = Um 9:00<span data-utc> UTC</span>
snooze-week = Nächste Woche
snooze-week-time = Montag um 9:00<span data-utc> UTC</span>
snooze-pick = Oder wählen Sie eine Zeit<span data-utc> in UTC</span>
snooze-time-wrong = Wählen Sie einen Zeitpunkt in der Zukunft, innerhalb von zehn Jahren
snooze-send = Bis dahin zurückstellen
snooze-full = Sie haben 500 Anfragen zurückgestellt; mehr sind nicht möglich. Holen Sie zuerst einige in den Posteingang zurück.
snooze-reassign = Neu zuweisen
snooze-reassign-more = Neu zuweisen…
snooze-reassign-send = Diese Anfrage neu zuweisen
snooze-nobody-else = In diesem Projekt ist sonst niemand.
snooze-to = Wer soll antworten
snooze-person-wrong = Wählen Sie eine Person aus diesem Projekt
snooze-choose-person = Person auswählen
snooze-note = Notiz

## Zusammen prüfen

bulk-title = { $n ->
    [one] { $n } Anfrage beantworten
   *[other] { $n } Anfragen zusammen beantworten
}
bulk-nothing-sent = Es ist noch nichts gesendet
bulk-none = Keine davon kann zusammen beantwortet werden
bulk-nothing-selected = Sie haben nichts ausgewählt, oder es wurde inzwischen beantwortet. Wählen Sie zuerst Anfragen in der Liste aus.
bulk-count = { $n ->
    [one] { $n } Anfrage
   *[other] { $n } Anfragen
}
bulk-total = insgesamt
bulk-comment = Kommentar für alle
bulk-each = Jede erhält eine eigene Antwort und einen eigenen Beleg.
bulk-press = Wählen Sie unten eine Antwort
bulk-approve = <span data-what>Die ausgewählten Anfragen</span> genehmigen
bulk-reject = <span data-what>Die ausgewählten Anfragen</span> ablehnen
bulk-confirm = <span data-what>Die ausgewählten Anfragen</span> bestätigen und ausführen
bulk-decline = <span data-what>Die ausgewählten Anfragen</span> nicht ausführen
bulk-retry = <span data-what>Die ausgewählten Anfragen</span> wiederholen
bulk-skip = <span data-what>Die ausgewählten Anfragen</span> überspringen
bulk-abort = <span data-what>Die ausgewählten Anfragen</span> abbrechen
bulk-choose = <bdi>„{ $option }“</bdi> wählen für: <span data-what>die ausgewählten Anfragen</span>
bulk-choose-suggested = <bdi>„{ $option }“</bdi> (Vorschlag des Agenten) wählen für: <span data-what>die ausgewählten Anfragen</span>
bulk-abort-note = Die Agenten geben ihr Vorhaben auf. Das kann nicht rückgängig gemacht werden.
bulk-rest = { $n ->
    [one] { $n } davon braucht eine andere Antwort und bleibt offen.
   *[other] { $n } davon brauchen eine andere Antwort und bleiben offen.
}
bulk-left-out = { $n ->
    [one] { $n } Anfrage ist nicht dabei
   *[other] { $n } Anfragen sind nicht dabei
}
bulk-answer-alone = Auf ihrer eigenen Seite beantworten
bulk-answered = { $n ->
    [one] { $n } Anfrage ist beantwortet
   *[other] { $n } Anfragen sind beantwortet
}
bulk-answered-title = Beantwortet
bulk-nothing-answered = Nichts wurde beantwortet
bulk-sent-later = Die Antworten werden gesendet, wenn die Zeit um ist, sofern eine Anfrage nicht vorher abgebrochen wird.
bulk-refused = { $n ->
    [one] { $n } wurde nicht beantwortet
   *[other] { $n } wurden nicht beantwortet
}
bulk-unknown-request = Eine Anfrage, die es nicht gibt
bulk-confirm-title = Antwort bestätigen
bulk-needs-proof = Sie erfordert einen Nachweis, dass Sie eine Person sind
bulk-needs-sign-in = Sie erfordert eine stärkere Anmeldung
bulk-needs-passkey = Sie erfordert Ihren Passkey
bulk-needs-reason = Ihre Ablehnung braucht eine eigene Begründung
bulk-irreversible = Sie ist unumkehrbar
bulk-critical = Sie ist kritisch
bulk-does-not-fit = Diese Liste kann sie nicht ganz zeigen: bitte öffnen
bulk-own-answer = Braucht eine eigene Antwort
bulk-task-went-on = Ihre Aufgabe ist ohne sie weitergegangen
bulk-task-expired = Die Frist ihrer Aufgabe war { $ago } vorbei
bulk-not-found = Es gibt sie nicht, oder Sie dürfen sie nicht sehen
bulk-changed = Sie hat sich gerade geändert; bitte erneut ansehen
bulk-failed = Das hat nicht funktioniert; bitte öffnen
refused-answered = Bereits beantwortet von { $who }, { $ago }
refused-withdrawn = Zurückgezogen von { $who }, { $ago }
refused-expired = Abgelaufen { $ago }
refused-claimed = { $who } hat sie übernommen
refused-being-answered = { $who } hat sie gerade beantwortet

## Meldungen am Anfang einer Seite: was die letzte Aktion bewirkt hat

banner-sent = Ihre Antwort wurde gesendet
banner-sent-text = Der Agent hat sie jetzt.
banner-sent-to = An { $agent } gesendet.
banner-answered = Beantwortet
banner-answers-sent = Ihre Antworten wurden gesendet. Jede hat einen eigenen Beleg.
banner-open-request = Anfrage öffnen
banner-claimed = Sie haben diese Anfrage übernommen
banner-claimed-text = Nur von Ihnen wird jetzt eine Antwort erwartet.
banner-reassigned = { $name } neu zugewiesen
banner-reassigned-text = Die Person wurde um eine Antwort gebeten.
banner-snoozed = Zurückgestellt, wieder da { $until }
banner-snoozed-text = Sie kommt von selbst wieder. Bis dahin steht sie unter „Zurückgestellt“; für andere ändert sich nichts.
banner-woken = Zurück im Posteingang
banner-woken-text = Die Anfrage steht wieder in Ihrem Posteingang.
banner-commented = Ihr Kommentar wurde hinzugefügt
banner-commented-text = Alle, die diese Anfrage sehen, können ihn lesen, auch der Agent.
banner-picked = Der Agent wurde benachrichtigt
banner-picked-text = Das ist keine Antwort: Die Anfrage wartet weiter auf eine.
banner-extended = Sie läuft jetzt { $until } ab
banner-extended-text = Der Agent wurde benachrichtigt und wartet weiter.
banner-saved = Gespeichert. Es wurde noch nichts gesendet
banner-saved-text = Öffnen Sie denselben Link erneut, um fortzufahren, auf jedem Gerät. Der Entwurf bleibt, bis die Anfrage endet.
banner-declined = Die Anfrage ist geschlossen
banner-declined-text = Der Agent wurde benachrichtigt, dass niemand sie beantworten wird.
banner-signed-out = Abgemeldet
banner-signed-out-text = Diese Sitzungen können nicht mehr verwendet werden.
banner-passkey-added = Passkey hinzugefügt
banner-passkey-added-text = Sie können sich ab jetzt damit anmelden. Ihre anderen Kontaktwege wurden benachrichtigt.
banner-passkey-removed = Passkey entfernt
banner-passkey-removed-text = Sie können sich damit nicht mehr anmelden. Ihr Gerät zeigt ihn vielleicht noch an.
banner-passkey-refused = Ihr Passkey wurde nicht akzeptiert
banner-claimed-meanwhile = { $name } hat diese Anfrage übernommen
banner-claimed-meanwhile-text = Ihre Antwort wurde nicht gesendet; alle Eingaben sind noch da. Um trotzdem zu antworten, setzen Sie das Häkchen über Ihrer Antwort.
banner-being-answered = { $name } hat diese Anfrage gerade beantwortet
banner-being-answered-text = Von dieser Seite wurde nichts gesendet. Die andere Antwort wird gleich wirksam, wenn sie nicht zurückgenommen wird.
banner-just-answered = Diese Anfrage wurde gerade beantwortet
banner-just-answered-text = Ihre Antwort wurde nicht gesendet. Die andere Antwort wird gleich wirksam, wenn sie nicht zurückgenommen wird.
banner-comment-refused = Ihr Kommentar wurde nicht hinzugefügt
undo-too-late = Zu spät, um es rückgängig zu machen
undo-too-late-text = Ihre Antwort wurde bereits an den Agenten gesendet und gilt daher.
undo-late-answers = { $n ->
    [one] { $n } Antwort wurde bereits gesendet und gilt.
   *[other] { $n } Antworten wurden bereits gesendet und gelten.
}
undo-done = { $n ->
    [one] Ihre Antwort wurde zurückgenommen
   *[other] { $n } Antworten wurden zurückgenommen
}
undo-done-text = { $n ->
    [one] Es wurde nichts gesendet. Die Anfrage ist wieder offen.
   *[other] Es wurde nichts gesendet. Die Anfragen sind wieder offen.
}
undo-some = { $n } von { $total } Antworten wurden zurückgenommen
unsent-all = { $n ->
    [one] Ihre Antwort wurde nicht gesendet
   *[other] Ihre Antworten wurden nicht gesendet
}
unsent-some = { $n } von { $total } Antworten wurden nicht gesendet
unsent-ended = { $headline }, bevor Ihre Antwort wirksam wurde.
unsent-ended-by = { $headline } von { $who }, bevor Ihre Antwort wirksam wurde.
unsent-undone = Sie wurde auf einer anderen Seite zurückgenommen, oder Sie dürfen diese Anfrage nicht mehr beantworten. Die Anfrage ist weiterhin offen.

## Warum eine Aktion abgelehnt wurde

common-not-allowed = Das dürfen Sie nicht
refused-invalid = Etwas muss korrigiert werden
refused-expected = Es wurde nichts geändert. Erwartet: { $expected }.
refused-because = Es wurde nichts geändert: { $why }.
refused-quota = Eine Grenze dieses Servers wurde erreicht
refused-answered-text = Ihre Antwort wurde nicht gesendet. Die andere Antwort steht unten.
refused-withdrawn-text = Ihre Antwort wurde nicht gesendet: Niemand wartet mehr darauf.
refused-expired-text = Ihre Antwort kam zu spät und wurde nicht gesendet. Wie es weitergeht, steht unten.
refused-claimed-text = Ihre Antwort wurde nicht gesendet. Von der anderen Person wird eine Antwort erwartet.
refused-needs-passkey = Diese Anfrage erfordert Ihren Passkey
refused-needs-passkey-text = Ihre Antwort wurde nicht gesendet: Sie wurde nicht mit Ihrem Passkey bestätigt.
refused-needs-sign-in = Diese Anfrage erfordert eine stärkere Anmeldung
refused-needs-sign-in-text = Ihre Antwort wurde nicht gesendet. Melden Sie sich erneut an und antworten Sie dann.
refused-approval-needs-passkey = Die Genehmigung dieser Anfrage erfordert Ihren Passkey
refused-approval-needs-passkey-text = Ihre Antwort wurde nicht gesendet: Die Anfrage ist unumkehrbar oder kritisch. Öffnen Sie sie und bestätigen Sie die Genehmigung mit einem Passkey. Eine Ablehnung erfordert keinen.
refused-approval-needs-sign-in = Die Genehmigung dieser Anfrage erfordert eine Anmeldung
refused-approval-needs-sign-in-text = Ihre Antwort wurde nicht gesendet: Die Anfrage ist unumkehrbar oder kritisch. Melden Sie sich an, um sie zu genehmigen. Eine Ablehnung erfordert keine Anmeldung.
refused-not-allowed-text = Es wurde nichts geändert. Wenden Sie sich an die für diesen Agenten verantwortliche Person.
refused-nothing-changed = Es wurde nichts geändert.
refused-needs-proof = Diese Anfrage erfordert einen Nachweis, dass eine Person antwortet
refused-not-sent = Ihre Antwort wurde nicht gesendet.
refused-task-went-on = Die Aufgabe ist ohne diese Antwort weitergegangen
refused-task-went-on-text = Ihre Antwort wurde nicht gesendet: Die Aufgabe wartet nicht mehr darauf.
refused-task-expired = Die Frist dieser Aufgabe war { $ago } vorbei
refused-task-expired-text = Es wurde nichts geändert. Die Aufgabe zeigt, wie es weitergeht.
refused-try-again = Es wurde nichts geändert. Laden Sie die Seite neu und versuchen Sie es noch einmal.

## Verlauf

common-export = Exportieren
history-lead = Anfragen, die beantwortet wurden, abgelaufen sind oder zurückgezogen wurden, die neuesten zuerst.
history-audit-log = Audit-Log
history-sealed = Versiegelt bis Block { $n }, geschlossen { $time }. Die Signatur wurde gerade geprüft.
history-broken = <strong>Die Signatur von Block { $n } ist ungültig.</strong> Bitten Sie die Administration, das Audit-Log zu prüfen. Der Block wurde { $time } geschlossen.
history-unsealed = { $n ->
    [0] Kein Ereignis wartet auf den nächsten Block.
    [one] { $n } Ereignis wartet auf den nächsten Block.
   *[other] { $n } Ereignisse warten auf den nächsten Block.
}
history-nothing-sealed = { $n ->
    [one] Noch ist nichts versiegelt. { $n } Ereignis wartet auf den ersten Block, der innerhalb von Sekunden geschlossen wird.
   *[other] Noch ist nichts versiegelt. { $n } Ereignisse warten auf den ersten Block, der innerhalb von Sekunden geschlossen wird.
}
history-verify = Alles prüfen mit <code>countersign audit verify</code>; <a href="/docs/audit">was es beweist und wie man es liest</a>.
history-whose = Wessen Verlauf
history-yours = Ihrer
history-search-label = Wörter in Anfragen und Antworten
history-since = Gefragt ab
history-until = Gefragt bis
history-search-inbox = Posteingang durchsuchen
history-no-match = Keine passenden geschlossenen Anfragen.
history-empty = Noch ist keine Anfrage geschlossen. Anfragen, die Sie beantworten, stehen hier.
history-closed = Geschlossene Anfragen
history-newest = Zurück zu den neuesten
history-older = Ältere Anfragen anzeigen
history-answered = Beantwortet
history-expired = Abgelaufen
history-failed = Fehlgeschlagen: niemand hat geantwortet
history-withdrawn = Zurückgezogen
history-export-filtered = Alles, was dem Filter oben entspricht, unabhängig von Ihrer Suche.
history-export-all = Diese ganze Liste, nicht nur diese Seite.
history-export-secrets = Geheime Werte fehlen; die CSV-Datei enthält keine ausgefüllten Werte.
history-export-csv = Als CSV exportieren
history-export-jsonl = Als JSON Lines exportieren

## Seiten mit einer einzelnen Meldung

common-sign-in = Anmelden
page-cannot-be-shown = Diese Seite konnte nicht angezeigt werden. Bitte laden Sie sie neu.
page-go-to-inbox = Zum Posteingang
page-reload = Neu laden
page-try-again = Erneut versuchen
page-go-back = Zurück
page-back-to-sign-in = Zurück zur Anmeldung
page-back-to-request = Zurück zur Anfrage
page-sign-in-another-way = Auf andere Weise anmelden
page-add-passkey = Passkey hinzufügen
page-not-found = Seite nicht gefunden
page-not-found-text = Es gibt sie nicht, oder Sie dürfen sie nicht sehen. Wenn Ihnen jemand den Link geschickt hat, bitten Sie darum, Ihnen die Anfrage neu zuzuweisen.
page-link-invalid = Dieser Link ist ungültig
page-link-invalid-text = Vielleicht wurde er beim Kopieren abgeschnitten, oder er war nie gültig. Öffnen Sie den ganzen Link, wie Sie ihn erhalten haben, oder bitten Sie um einen neuen.
page-wait = Bitte warten Sie einen Moment
page-too-fast-text = Diese Seite wurde innerhalb einer Minute sehr oft gesendet. Ihre letzten Änderungen sind vielleicht nicht gespeichert.
page-no-receipt = Es gibt keinen Beleg
page-no-receipt-text = Eine Anfrage hat einen Beleg, sobald sie geschlossen ist, sofern ihr Text nicht gelöscht wurde.
page-forbidden-text = Ihr Konto hat dafür keine Berechtigung. Die Administration kann sie erteilen.
page-link-sent = Sehen Sie in Ihre E-Mails
page-link-sent-text = Wenn diese Adresse zu einem Konto gehört, ist eine E-Mail mit einem Anmeldelink unterwegs. Der Link gilt einmal und 15 Minuten lang.
page-link-sent-more = Keine E-Mail erhalten? Sehen Sie im Spam-Ordner nach, oder fragen Sie die Administration, ob Ihre Adresse ein Konto hat.
page-stale-link = Dieser Anmeldelink gilt nicht mehr
page-stale-link-text = Anmeldelinks gelten einmal und nicht lange. Fordern Sie einen neuen an.
page-passkey-refused = Dieser Passkey funktioniert hier nicht
page-passkey-refused-text = Vielleicht wurde er entfernt, oder die Seite war zu lange geöffnet. Versuchen Sie es noch einmal, oder melden Sie sich auf andere Weise an.
page-passkey-needed-text = Eine Sitzung reicht für diese Anfrage nicht aus. Ihre Antwort wurde nicht gesendet. Fügen Sie einen Passkey hinzu und antworten Sie dann erneut.
page-passkey-waits = Ihr Passkey ist noch nicht aktiv
page-passkey-waits-text = Ihr Passkey wurde vor Kurzem hinzugefügt und bestätigt noch keine Antworten. Ihre Antwort wurde nicht gesendet. Bitten Sie die Administration, Ihren Passkey zu bestätigen, oder antworten Sie später.
page-passkey-waits-until = Er wird { $from } aktiv.
page-no-passkeys = Dieser Server hat keine Passkeys
page-no-passkeys-text = Die Administration kann das ändern: { $why }.
page-provider-refused = Die Anmeldung ist fehlgeschlagen
page-provider-refused-text = Die Anmeldung wurde abgebrochen, dauerte zu lange oder war ungültig. Versuchen Sie es noch einmal; wenn es wieder geschieht, steht der Grund im Log der Administration.
page-no-account = Sie haben hier kein Konto
page-no-account-text = Ihre Organisation kennt Sie, aber niemand hat Sie hier hinzugefügt. Die Administration kann das tun.
page-too-many-attempts-text = Es gab zu viele Anmeldeversuche aus Ihrem Netz. Warten Sie eine Minute und versuchen Sie es dann noch einmal.
page-signed-out = Sie sind abgemeldet
page-signed-out-text = Sie werden weiterhin über Ihre anderen Kontaktwege über Anfragen benachrichtigt.
page-signed-out-provider = Vielleicht sind Sie noch bei { $name } angemeldet.
page-sign-out-provider = Auch dort abmelden
page-stale = Diese Seite war zu lange geöffnet
page-stale-text = Sie wurden abgemeldet oder neu angemeldet, seit Sie sie geöffnet haben. Es wurde nichts gesendet.
page-too-large = Das war zu groß
page-too-large-text = Ein Formular darf mit seinen Dateien höchstens { $most } groß sein. Es wurde nichts gesendet. Gehen Sie zurück und senden Sie weniger.
page-server-error = Bei uns ist etwas schiefgegangen
page-server-error-text = Laden Sie die Seite, um zu sehen, ob Ihre Antwort angekommen ist, bevor Sie sie erneut senden.
page-server-error-reference = Wenn es wieder geschieht, geben Sie der Administration diese Kennung: { $reference }
page-see-log = Einzelheiten stehen im Log
page-unreadable-data = gespeicherte Daten sind nicht lesbar
page-unavailable = Countersign ist gerade nicht verfügbar
page-unavailable-text = Der Server startet, hält an oder ist ausgelastet. Nichts geht verloren: Anfragen und Antworten bleiben erhalten. Versuchen Sie es in einer Minute noch einmal.
page-offline = Sie sind offline
page-offline-text = Diese Seite konnte nicht geladen werden: Es gibt kein Netz, oder der Server ist nicht erreichbar. Ihre Anfragen warten dort.
page-unsent = Keine Antwort vom Server
page-unsent-text = Es gibt kein Netz, oder der Server war nicht erreichbar; daher ist unbekannt, ob Ihr Formular angekommen ist. Gehen Sie davon aus, dass es nicht angekommen ist.
page-unsent-more = Gehen Sie zurück, um den Stand der Anfrage zu sehen. Ihre Eingaben sind noch da, außer Passwörtern und Dateien.
token-text = Mit einem Token antworten der Befehl countersign und Ihre eigenen Programme in Ihrem Namen. Es wird einmal angezeigt. Wer es hat, kann in Ihrem Namen antworten.
token-create = Token erstellen
token-label = Wo Sie es verwenden
token-label-example = Arbeitslaptop
token-new = Ihr neues Token
token-copy = <strong>Kopieren Sie es jetzt: Es wird nur einmal angezeigt.</strong> Wer es hat, kann in Ihrem Namen antworten.
token-field = Token
token-field-for = Token für { $label }
token-until = Es gilt bis { $exact } ({ $time }).
token-terminal = In Ihrem Terminal

## Das Menü

nav-skip = Zum Inhalt springen
nav-you = Sie
nav-tasks = Aufgaben
nav-insights = Auswertung
nav-away = Abwesenheit
nav-devices = Benachrichtigungen
nav-settings = Einstellungen
nav-sessions = Sitzungen
nav-passkeys = Passkeys
nav-api-token = API-Token
nav-sign-out = Von diesem Gerät abmelden

## Auswertung

insights-lead = Was Agenten angeben und was Menschen daraus machen: { $from } bis { $to }, Tage in UTC.
insights-period = Zeitraum
insights-days = { $n ->
    [one] { $n } Tag
   *[other] { $n } Tage
}
insights-missing = Ein solches Projekt oder einen solchen Agenten können Sie nicht sehen.
insights-empty = Keine Daten für diesen Zeitraum
insights-empty-text = Sobald ein Agent hier etwas fragt, zeigt diese Seite, wie lange Menschen brauchten, wie Anfragen endeten und wie die Angaben des Agenten zu den Entscheidungen passen.
insights-numbers = Tabelle
insights-numbers-of = { $title }, Tabelle
insights-agents = Agenten im Vergleich
insights-first-agents = Das sind die ersten Agenten nach Namen. Verwenden Sie den Filter, um andere zu sehen.
insights-note = Was Agenten über ihre Nachrichten angeben, ist ungeprüft. Eine überstürzte Entscheidung bedeutet nichts; viele können bedeuten, dass nicht mehr gelesen wird. Keine Zahl hier sagt, wer entschieden hat. <a class="tall" href="/docs/insights">Dieselben Zahlen über die API</a>
insights-requests = Anfragen
insights-messages = Nachrichten
insights-answers = Antworten
insights-decisions = Entscheidungen
insights-day = Tag (UTC)
insights-closed = { $n } geschlossen
insights-closed-column = Geschlossen
insights-outcome = Ergebnis
insights-first-view = Zeit bis zum ersten Ansehen
insights-decision = Zeit bis zur Entscheidung
insights-expired = Unbeantwortet abgelaufen
insights-edited = Mit Änderungen genehmigt
insights-changed = Geändert
insights-overruled = Überstimmt
insights-rushed = Überstürzte Entscheidungen
insights-nine-of-ten = neun von zehn innerhalb von { $duration }
insights-of = { $n } von { $all }
insights-of-recommendations = { $n } von { $all } Empfehlungen
insights-of-opened = { $n } von { $all } geöffneten
insights-share-of = { $share } ({ $part } von { $whole })
insights-after-decisions = ab { $n } Entscheidungen
insights-calibration = gibt { $claimed } an, nicht überstimmt { $kept }
insights-recommendation-decisions = Entscheidungen über seine Empfehlungen
insights-calibration-column = Angegebene Konfidenz und Entscheidungen
insights-nothing-counted = Keine Daten für diesen Zeitraum.
insights-most-requests = Am häufigsten: { $label }, { $n } von { $total } Anfragen.
insights-most-messages = Am häufigsten: { $label }, { $n } von { $total } Nachrichten.
insights-most-answers = Am häufigsten: { $label }, { $n } von { $total } Antworten.
insights-per-day = Anfragen pro Tag
insights-no-requests = Keine Anfragen in diesem Zeitraum.
insights-per-day-says = { $n ->
    [one] { $n } Anfrage; die meisten am { $day }: { $most }.
   *[other] { $n } Anfragen; die meisten am { $day }: { $most }.
}
insights-ended = Wie Anfragen endeten
insights-ended-answered = Beantwortet
insights-ended-defaulted = Abgelaufen: der Agent fuhr mit seiner Vorgabe fort
insights-ended-expired = Abgelaufen: der Agent wurde benachrichtigt
insights-ended-failed = Abgelaufen: fehlgeschlagen
insights-ended-withdrawn = Zurückgezogen
insights-intents = Absichten, die Agenten angeben
insights-intent = Absicht
insights-confidence = Konfidenz, die Agenten angeben, in Prozent
insights-complexity = Komplexität, die Agenten angeben, im Durchschnitt
insights-average-complexity = Durchschnittliche Komplexität, 1 bis 10
insights-complexity-says = Von { $first } am ersten Tag mit Daten bis { $last } am letzten, von 10.
insights-no-complexity = Keine Nachricht gab ihre Komplexität an.
insights-refusals = Weigerungen von Agenten, mit Gründen
insights-reason = Grund
insights-refusal-no-reason = Kein Grund angegeben
insights-refusal-soft = { $kind }, offen für Alternativen
insights-refusal-hard = { $kind }, entschieden
insights-refusals-says = { $n ->
    [one] { $n } Weigerung, { $rate } der Nachrichten, die eine Absicht angeben.
   *[other] { $n } Weigerungen, { $rate } der Nachrichten, die eine Absicht angeben.
}
insights-no-refusals = Kein Agent hat sich geweigert.
insights-actions = Aktionen, die Agenten vorschlagen, und wie oft sie gewählt werden
insights-action = Aktion
insights-shown = Gezeigt
insights-picked = Gewählt
insights-no-actions = Niemand hat in diesem Zeitraum eine Aktion gesehen.
insights-actions-says = { $shown } wurden gezeigt, { $picked } wurden gewählt.
insights-duration = Dauer
insights-durations-says = Die Hälfte innerhalb von { $half }, neun von zehn innerhalb von { $most }.
insights-verdicts = Entscheidungen über Empfehlungen
insights-decision-column = Entscheidung
insights-verdict-followed = Wie empfohlen
insights-verdict-edited = Mit Änderungen
insights-verdict-overruled = Abgelehnt, zurückgegeben oder anders entschieden
insights-verdict-open = Nichts wurde empfohlen
insights-reading = Lesezeit vor der Entscheidung
insights-reading-column = Lesezeit
insights-reading-read = Genug Zeit zum Lesen
insights-reading-unopened = Ohne Öffnen beantwortet
insights-calibration-title = Wie oft überstimmt wurde, nach angegebener Konfidenz
insights-calibration-says = { $n } von { $all } wurden überstimmt. Wenn die angegebene Konfidenz stimmt, werden die Säulen nach rechts niedriger.
insights-calibration-hint = { $n ->
    [one] Wie die angegebene Konfidenz zu den Entscheidungen passt, wird ab { $least } Entscheidungen gezeigt; bisher ist es { $n }.
   *[other] Wie die angegebene Konfidenz zu den Entscheidungen passt, wird ab { $least } Entscheidungen gezeigt; bisher sind es { $n }.
}
duration-under-a-second = unter 1 s
duration-seconds = { $n } s
duration-minutes = { $n } Min.
duration-hours = { $n } Std.
duration-days = { $n } Tg.
duration-short-seconds = { $n }s
duration-short-minutes = { $n }m
duration-short-hours = { $n }h
duration-short-days = { $n }T

## Texte der Skripte

app-description = Anfragen von Agenten, die auf Sie warten.
script-approve-with = { $n ->
    [one] Mit { $n } Änderung genehmigen
   *[other] Mit { $n } Änderungen genehmigen
}
script-scroll-to-end = Bis zum Ende scrollen, um fortzufahren
script-show-secret = Eingabe anzeigen
script-hide-secret = Eingabe verbergen
script-checking = Es wird geprüft, ob Ihre Antwort gesendet wurde…
script-check-signed-out = Sie sind hier abgemeldet, daher kann diese Seite nicht prüfen, ob Ihre Antwort gesendet wurde. Melden Sie sich an und sehen Sie im Verlauf nach.
script-check-not-visible = Diese Seite kann nicht prüfen, ob Ihre Antwort gesendet wurde: Sie können die Anfrage nicht mehr sehen.
script-check-offline = Diese Seite kann nicht prüfen, ob Ihre Antwort gesendet wurde: Sie sind offline. Sie prüft erneut, sobald die Verbindung wieder da ist.
script-check-unreachable = Diese Seite kann nicht prüfen, ob Ihre Antwort gesendet wurde: Der Server ist nicht erreichbar. Sie prüft erneut, sobald die Verbindung wieder da ist.
script-copy = Kopieren
script-copied = Kopiert
script-dismiss = Meldung schließen
script-unsent-offline = Nicht gesendet: Sie sind offline. Alle Eingaben sind noch da; senden Sie sie, sobald Sie wieder online sind.
script-unsent-unreachable = Nicht gesendet: Der Server ist nicht erreichbar. Alle Eingaben sind noch da; senden Sie sie, sobald die Verbindung wieder da ist.
script-old-offline = Sie sind offline. Diese Seite ist vielleicht veraltet, und Änderungen werden nicht gesendet.
script-old-unreachable = Der Server ist nicht erreichbar. Diese Seite ist vielleicht veraltet, und Änderungen werden nicht gesendet.
script-no-connection = Keine Verbindung: Die Schaltflächen sind deaktiviert, bis sie wieder da ist. Ihre Eingaben bleiben hier.
script-connected-again = Die Verbindung ist wieder da. Senden Sie jetzt Ihre Antwort.
script-press-u = Mit U machen Sie es rückgängig.
script-requests-some = { $n ->
    [one] { $n } von { $all } Anfragen
   *[other] { $n } von { $all } Anfragen
}
script-requests-all = { $n ->
    [one] { $n } Anfrage
   *[other] Alle { $n } Anfragen
}
script-bulk-rest = { $n ->
    [one] { $n } weitere Anfrage braucht eine andere Antwort und bleibt offen.
   *[other] { $n } weitere Anfragen brauchen eine andere Antwort und bleiben offen.
}
script-list-changed = Die Liste hat sich gerade geändert. Drücken Sie noch einmal, um diese Anfrage zu beantworten.
script-show-new = { $n ->
    [one] { $n } neue Anfrage anzeigen
   *[other] { $n } neue Anfragen anzeigen
}
script-move-up = { $n ->
    [one] { $n } bald fällige Anfrage nach oben holen
   *[other] { $n } bald fällige Anfragen nach oben holen
}
script-tasks-moved = { $n ->
    [one] { $n } Aufgabe wurde verschoben
   *[other] { $n } Aufgaben wurden verschoben
}
script-list-offline = Offline: Stand der Liste von { $time }. Sie können erst wieder antworten, wenn Sie online sind.
script-list-no-updates = Keine Live-Aktualisierung: Stand der Liste von { $time }.
script-scrolled = Zu dieser Anfrage gescrollt. Drücken Sie die Taste noch einmal.
script-too-tall = Diese Anfrage passt nicht auf den Bildschirm. Öffnen Sie sie mit der Eingabetaste.
script-read-first = Lesen Sie dies zuerst und drücken Sie die Taste dann noch einmal.
script-open-to-answer = Öffnen Sie sie, um zu antworten: Diese Liste zeigt sie nicht ganz oder bietet diese Antwort nicht an.

## Benachrichtigungen auf einem Gerät

worker-waiting = Eine Anfrage wartet auf Sie
worker-waiting-text = Öffnen Sie Ihren Posteingang, um sie zu sehen.
worker-signed-out = Nicht gesendet: Sie sind hier abgemeldet
worker-signed-out-text = Öffnen Sie sie, um sich anzumelden und zu antworten.
worker-unsent = Nicht gesendet
worker-unsent-text = Öffnen Sie sie, um auf ihrer Seite zu antworten.
worker-no-connection = Keine Verbindung
worker-no-connection-text = Ihre Antwort ist vielleicht nicht angekommen. Öffnen Sie die Anfrage, um nachzusehen und erneut zu antworten.
worker-device-lost = Dieses Gerät erhält keine Benachrichtigungen mehr
worker-device-lost-text = Öffnen Sie dies, um sie wieder einzuschalten.
push-cross-site = Die Antwort kam von einer anderen Website.
push-stale = Diese Benachrichtigung ist zu alt oder nicht von diesem Browser. Öffnen Sie sie, um zu antworten.
push-approved = Sie haben genehmigt
push-rejected = Sie haben abgelehnt
push-own-page = Sie kann nur auf ihrer Seite beantwortet werden. Öffnen Sie sie, um zu antworten.
push-already-answered = Jemand anderes hat zuerst geantwortet
push-not-accepted = Nicht angenommen

## Eine Zeile, die eine offene Liste verlässt

list-just-answered = Sie haben gerade geantwortet
list-gone = Nicht mehr in dieser Liste
