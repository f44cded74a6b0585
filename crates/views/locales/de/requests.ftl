### Eine Anfrage: ihre Frage, das Antwortformular, ihr Ausgang, ihre Seite, Prüflinks,
### Unterhaltungen und die Seite, die Umschläge (Envelopes) prüft.

## Die Frage

question-overline = Ein KI-Agent fragt Sie
question-in-project = in { $project }
question-asked = Gestellt { $when }
question-was-due = war fällig { $when }
question-due = fällig { $when }
question-goes-ahead = der Agent macht weiter { $when }
question-expires = läuft ab { $when }
question-no-deadline = läuft nicht ab
question-silence-means-yes = <strong>Schweigen gilt als Zustimmung.</strong> Wenn niemand rechtzeitig antwortet, macht der Agent weiter. Lehnen Sie ab, um den Agenten aufzuhalten.
question-verify = <strong>Bitte zuerst prüfen.</strong> Der Agent sagt, dass jemand dies prüfen soll.
question-agent-says = Der Agent schreibt
question-agent-asked = Der Agent fragte
question-edited = Mit Änderungen genehmigt. Hier steht die Frage, wie sie gestellt wurde; die Antwort zeigt, was genehmigt wurde.
question-edited-title = Gefragt: { $title }
question-from = Eine Anfrage von { $agent }
question-block = Die Frage
question-why = Warum der Agent fragt
question-failure = Was fehlgeschlagen ist
question-details = Einzelheiten
question-parameters = Parameter des Schritts
question-options = Optionen
question-items = Punkte
question-more-fields = { $count ->
    [one] { $count } weiteres Feld
   *[other] { $count } weitere Felder
}
question-go-to-answer = Zu Ihrer Antwort
question-claims-name = nennt sich „<bdi>{ $name }</bdi>“
question-claims-project = nennt sein Projekt „<bdi>{ $name }</bdi>“

## Das Antwortformular

form-error = Fehler:
answer-heading = Ihre Antwort
answer-comment = Kommentar
answer-comment-optional = Optional. Geht mit Ihrer Antwort an den Agenten.
answer-comment-for-changes = Optional. Nötig, um Änderungen anzufordern.
answer-reason = Begründung oder Kommentar
answer-reason-needed = Nötig, um abzulehnen oder Änderungen anzufordern.
answer-verify-first = <strong>Bitte zuerst prüfen.</strong> Der Agent sagt, dass dies geprüft werden soll.
answer-press-below = Eine Schaltfläche weiter unten wählen
answer-edit = Einzelheiten vor dem Genehmigen bearbeiten
answer-edit-hint = Wenn Sie genehmigen, erhält der Agent diese Werte.
answer-propose = Änderungen vorschlagen
answer-propose-hint = Sie gehen an den Agenten zurück, wenn Sie Änderungen anfordern.
answer-leave-out = Etwas weglassen
answer-leave-out-hint = Wenn Sie genehmigen, tut der Agent nur, was angekreuzt ist.
answer-approve-with-changes = Mit Änderungen genehmigen
answer-approve-with-changes-hint = Zeigt Ihre Änderungen, bevor etwas gesendet wird
answer-approve-subject = Genehmigen:
answer-approve-request = Diese Anfrage genehmigen
answer-approve-effect = Der Agent macht weiter
answer-reject-reason = Ablehnen:
answer-reject-request = Diese Anfrage ablehnen
answer-reject-effect = Der Agent tut es nicht
answer-request-changes = Änderungen anfordern
answer-request-changes-effect = Geht mit Ihrem Kommentar an den Agenten zurück
answer-confirm = Bestätigen
answer-confirm-effect = Der Agent tut genau, was aufgeführt ist
answer-decline-effect = Der Agent tut nichts davon
answer-escalate = Was soll der Agent tun?
answer-edit-parameters = Parameter des neuen Versuchs ändern
answer-edit-parameters-hint = Gesendet wird nur, was Sie ändern, und nur, wenn Sie „Erneut versuchen“ wählen.
answer-retry = Erneut versuchen
answer-retry-effect = Der Agent versucht denselben Schritt noch einmal
answer-skip = Diesen Schritt überspringen
answer-skip-effect = Der Agent macht ohne ihn weiter
answer-abort = Die ganze Aufgabe abbrechen
answer-abort-effect = Der Agent hört auf. Das lässt sich nicht rückgängig machen.
answer-reply = Ihre Antwort
answer-reply-label = An den Agenten schreiben
answer-reply-send = Diese Antwort senden
answer-reply-effect = Der Agent liest sie und macht weiter
answer-close = Ohne Antwort schließen
answer-close-effect = Der Agent wird benachrichtigt, mit Ihrem Kommentar als Begründung
answer-choose-one = Wählen Sie eine Option
answer-choose-many = Wählen Sie eine oder mehrere Optionen
answer-choose-option = Auswählen:
answer-submit = Absenden
answer-submit-option-effect = Der Agent macht mit der gewählten Option weiter
answer-submit-options-effect = Der Agent macht mit den angekreuzten Optionen weiter
answer-fill-in = Ausfüllen
answer-provide = An den Agenten senden
answer-provide-effect = Der Agent macht mit Ihren Angaben weiter
answer-continue = Weiter zum nächsten Schritt
answer-back = Zurück:
answer-back-to-form = zum Formular
answer-save = Speichern und später abschließen
answer-save-effect = Öffnen Sie denselben Link, um fortzufahren
answer-step = Schritt { $n } von { $total }
answer-sign-in-approve = Zum Genehmigen anmelden
answer-sign-in-confirm = Zum Bestätigen anmelden
answer-sign-in-answer = Zum Antworten anmelden
answer-only-signed-in-approve = Nur angemeldete Personen können es genehmigen.
answer-only-signed-in-confirm = Nur angemeldete Personen können es bestätigen.
answer-only-signed-in-answer = Nur angemeldete Personen können den Agenten weitermachen lassen.
answer-irreversible = Das lässt sich nicht rückgängig machen.
answer-critical = Diese Anfrage ist kritisch.
answer-or = { $first } oder { $second }

## Die Felder eines Formulars

field-required = Pflichtfeld
field-optional = optional
field-secret = Geheim: Der Wert geht an den Agenten und wird nie wieder angezeigt.
field-choose = Bitte wählen
field-no-answer = Keine Angabe
field-yes = Ja
field-no = Nein
field-empty = leer
field-suggested = Vorschlag des Agenten: { $value }
field-elsewhere = Der Agent hat dafür anderswo einen Wert: { $url }
field-as-json = Als JSON.
field-choose-all = Wählen Sie alles aus, was zutrifft.
field-range = Von { $min } bis { $max }.
field-min = Mindestens { $min }.
field-max = Höchstens { $max }.
field-min-date = { $min } oder später.
field-max-date = { $max } oder früher.
field-length = { $min } bis { $max } Zeichen.
field-min-length = Mindestens { $min } Zeichen.
field-max-length = Höchstens { $max } Zeichen.
field-pattern = Muss dem Muster { $pattern } entsprechen.
field-if-is = Nur wenn „{ $label }“ gleich { $values } ist.
field-if-is-not = Nur wenn „{ $label }“ nicht { $values } ist.
field-if-more = Nur wenn „{ $label }“ größer als { $values } ist.
field-if-less = Nur wenn „{ $label }“ kleiner als { $values } ist.
field-file-kept = { $name } ist hochgeladen ({ $bytes } Bytes). Wählen Sie nur eine andere Datei, um sie zu ersetzen.
field-secret-kept = Sie haben das bereits eingegeben. Lassen Sie das Feld leer, um die Eingabe zu behalten.

## Was an einer Antwort nicht stimmt

problem-fill-in = Füllen Sie dieses Feld aus
problem-nul = Entfernen Sie das unsichtbare NUL-Zeichen
problem-number = Geben Sie eine Zahl ein
problem-number-example = Geben Sie eine Zahl ein, zum Beispiel 12.5
problem-number-min = Geben Sie eine Zahl von mindestens { $min } ein
problem-number-max = Geben Sie eine Zahl von höchstens { $max } ein
problem-date = Geben Sie ein Datum ein
problem-date-example = Geben Sie ein Datum ein, zum Beispiel 2026-01-31
problem-date-min = Geben Sie ein Datum ab { $min } ein
problem-date-max = Geben Sie ein Datum bis { $max } ein
problem-boolean = Antworten Sie mit Ja oder Nein
problem-option = Wählen Sie eine Option
problem-options = Wählen Sie mindestens eine Option
problem-unknown-option = Wählen Sie aus den angezeigten Optionen
problem-file = Fügen Sie eine Datei hinzu
problem-email = Geben Sie eine E-Mail-Adresse ein, zum Beispiel name@example.com
problem-url = Geben Sie eine Webadresse ein, zum Beispiel https://example.com
problem-too-short = Geben Sie mindestens { $min } Zeichen ein
problem-too-long = Geben Sie höchstens { $max } Zeichen ein
problem-shorter = Geben Sie einen kürzeren Text ein
problem-pattern = Geben Sie dies im erwarteten Format ein
problem-unknown-field = Dieses Formular hat kein Feld „{ $key }“
problem-no-button = Verwenden Sie zum Antworten eine der Schaltflächen
problem-other-question = Diese Antwort passt nicht zur Frage. Bitte antworten Sie noch einmal.
problem-choose = Wählen Sie eine der Optionen
problem-choose-some = Wählen Sie mindestens eine Option
problem-choose-one = Wählen Sie genau eine Option
problem-reason = Geben Sie eine Begründung ein: Sie geht an den Agenten zurück
problem-not-editable = Der Agent kann hier keine geänderten Einzelheiten übernehmen. Fordern Sie stattdessen Änderungen an.
problem-not-editable-edits = Sie haben Einzelheiten geändert, aber dieser Agent kann mit geänderten nicht weitermachen. Fordern Sie Änderungen an oder machen Sie Ihre rückgängig
problem-nothing-edited = Sie haben nichts geändert. Ändern Sie einen Wert oder genehmigen Sie die Anfrage, wie sie ist
problem-edit = { $place }: Geben Sie einen Wert derselben Art wie zuvor ein
problem-reply = Schreiben Sie eine Antwort
problem-comment = Verwenden Sie höchstens { $max } Zeichen und keine unsichtbaren NUL-Zeichen
problem-answer-nul = Entfernen Sie die unsichtbaren NUL-Zeichen
problem-answer = Diese Antwort wurde nicht angenommen. Prüfen Sie sie und senden Sie sie noch einmal.
problem-json-depth = Verschachteln Sie das JSON höchstens { $levels } Ebenen tief
problem-json = Prüfen Sie das JSON: Zeile { $line }, Spalte { $column } ist nicht lesbar
problem-close-reason = Höchstens { $max } Zeichen, um die Anfrage damit zu schließen
problem-file-too-large = Diese Datei wurde nicht angenommen: Alle Dateien zusammen dürfen höchstens { $size } groß sein. Wählen Sie eine kleinere Datei.
problem-file-quota-bytes = { $per ->
    [agent] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } gespeicherten Daten für einen Agenten ist aufgebraucht.
    [project] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } gespeicherten Daten für ein Projekt ist aufgebraucht.
   *[person] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } gespeicherten Daten für eine Person ist aufgebraucht.
}
problem-file-quota-uploads = { $per ->
    [agent] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } Uploads pro Stunde für einen Agenten ist aufgebraucht.
    [project] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } Uploads pro Stunde für ein Projekt ist aufgebraucht.
   *[person] Diese Datei wurde nicht angenommen: Das Kontingent von { $limit } Uploads pro Stunde für eine Person ist aufgebraucht.
}
problem-file-quota-later = Versuchen Sie es wieder { $when }.
problem-file-quota-ask = Bitten Sie die Administration um ein größeres Kontingent und senden Sie dann noch einmal.

## Der zweite Schritt vor dem Senden

second-step-title-critical = Bestätigen Sie diese kritische Anfrage
second-step-title-changed = Sie haben den Vorschlag des Agenten geändert
second-step-irreversible-critical = Der Agent sagt, dass sich dies nicht rückgängig machen lässt und dass es kritisch ist.
second-step-irreversible = Der Agent sagt, dass sich dies nicht rückgängig machen lässt.
second-step-critical = Der Agent sagt, dass dies kritisch ist.
second-step-nothing-sent = Es wurde noch nichts gesendet.
second-step-too-soon = Sie haben zweimal innerhalb einer Sekunde gedrückt. Lesen Sie dies zuerst und drücken Sie dann noch einmal.
second-step-changes = { $count ->
    [one] { $count } Änderung am Vorschlag des Agenten
   *[other] { $count } Änderungen am Vorschlag des Agenten
}
second-step-comment = Ihr Kommentar
second-step-back = Zurück, nichts senden
second-step-send = Diese Antwort senden
second-step-edited-effect = Der Agent erhält seinen Vorschlag und Ihren und macht mit Ihrem weiter

## Der Nachweis, dass eine Person antwortet

proof-title = Bestätigen Sie, dass Sie eine Person sind
proof-kept = Ihre Antwort ist gespeichert und wurde noch nicht gesendet: <strong><bdi>{ $answer }</bdi></strong>.
proof-wanted = <strong class="name">{ $agent }</strong> verlangt einen Nachweis, dass eine Person antwortet. <strong>{ $providers }</strong> kann das bestätigen. Der Agent erfährt, dass und von welchem Anbieter es bestätigt wurde, aber nicht, wer Sie sind.
proof-impossible = <strong class="name">{ $agent }</strong> verlangt einen Nachweis, dass eine Person antwortet, und hier ist kein Anbieter verfügbar, der das bestätigen könnte. Wenden Sie sich an die Person, die Ihnen den Link geschickt hat.
proof-confirmed = Bestätigt durch { $provider }.
proof-start = Mit { $provider } bestätigen
proof-start-hint = Öffnet die Seite des Anbieters. Danach kommen Sie hierher zurück und senden Ihre Antwort.
proof-paste = Bestätigung von { $provider }
proof-paste-hint = Fügen Sie ein, was Sie dort erhalten haben.
proof-made-for = Wofür die Bestätigung gelten muss
proof-made-for-request = Anfrage
proof-made-for-action = Aktion
proof-made-for-challenge = Challenge
proof-send = Meine Antwort senden
proof-change = Meine Antwort ändern
proof-first = Bestätigen Sie es zuerst mit { $providers }
proof-returned-invalid = Die zurückgesendete Bestätigung ist für diese Antwort nicht gültig. Versuchen Sie es noch einmal und senden Sie danach Ihre Antwort.
proof-not-valid = Die Bestätigung von { $provider } ist nicht gültig: { $reason }
proof-too-late = Die Bestätigung von { $provider } ist nicht gültig: Nachweise wurden bis { $until } angenommen
proof-other-request = Die Bestätigung von { $provider } ist nicht gültig: Sie wurde für eine andere Anfrage ausgestellt
proof-other-answer = Die Bestätigung von { $provider } ist nicht gültig: Sie wurde für eine andere Antwort ausgestellt
proof-other-challenge = Die Bestätigung von { $provider } ist nicht gültig: Sie enthält nicht die Challenge dieser Anfrage
proof-stale = Die Bestätigung von { $provider } ist nicht gültig: Sie ist zu alt
proof-expired = Die Bestätigung von { $provider } ist nicht gültig: Sie ist abgelaufen
proof-used = Die Bestätigung von { $provider } ist nicht gültig: Sie wurde bereits verwendet
proof-unwanted = Die Bestätigung von { $provider } ist nicht gültig: Der Agent nimmt diese Art von Bestätigung nicht an

## Eine Antwort in wenigen Worten

brief-approved = Genehmigt
brief-approved-edited = Mit Änderungen genehmigt
brief-rejected = Abgelehnt
brief-rejected-option = Abgelehnt: „{ $option }“
brief-changes-requested = Änderungen angefordert
brief-chosen = „{ $option }“ gewählt
brief-chosen-several = { $count ->
    [one] { $count } Option gewählt
   *[other] { $count } Optionen gewählt
}
brief-provided = Ausgefüllt
brief-label = „{ $label }“
brief-confirmed = Bestätigt
brief-declined = Nicht bestätigt
brief-retry = Erneut versuchen
brief-skip = Diesen Schritt überspringen
brief-abort = Abbrechen
brief-replied = Geantwortet
brief-answered = Beantwortet
answer-chosen = Gewählt
answer-replied = Antwort
answer-secret = (geheim, wird nicht mehr angezeigt)
answer-file = { $name } ({ $bytes } Bytes)
change-removed = entfernt
change-added = hinzugefügt
change-kept = unverändert
change-lines = { $label }: { $added ->
    [one] { $added } Zeile
   *[other] { $added } Zeilen
} hinzugefügt, { $removed } entfernt

## Wie eine Anfrage endete

outcome-answered = Beantwortet
outcome-closed = Geschlossen
outcome-sent = Gesendet
outcome-changes = Änderungen am Vorschlag
outcome-comment = Kommentar
outcome-next = Wie es weitergeht.
outcome-expired = Abgelaufen
outcome-failed = Fehlgeschlagen
outcome-nobody = Niemand hat rechtzeitig geantwortet.
outcome-fails = Der Agent wird benachrichtigt, dass die Anfrage fehlgeschlagen ist.
outcome-falls-back = Es gilt die Vorgabe: { $answer }. Sie wird nicht als Antwort einer Person aufgezeichnet.
outcome-default-erased = eine gelöschte Antwort
outcome-withdrawn = Zurückgezogen
outcome-withdrawn-by = { $by ->
    [agent] Vom Agenten { $name } zurückgezogen.
    [link] Über den Link zurückgezogen.
   *[other] Von { $name } zurückgezogen.
}
outcome-withdrawn-next = Sie müssen nichts tun: Der Agent wartet nicht mehr auf eine Antwort.
outcome-rejected = Abgelehnt
outcome-rejected-by = { $by ->
    [agent] Vom Agenten { $name } abgelehnt.
    [link] Über den Link abgelehnt.
   *[other] Von { $name } abgelehnt.
}
outcome-rejected-next = Die Aufgabe ist beendet.
outcome-reworded = Beantwortet
outcome-reworded-by = { $by ->
    [agent] Vom Agenten { $name } auf andere Weise beantwortet.
    [link] Über den Link auf andere Weise beantwortet.
   *[other] Von { $name } auf andere Weise beantwortet.
}
outcome-reworded-next = Der Agent macht damit weiter.
outcome-reassigned = Neu zugewiesen
outcome-reassigned-by = { $by ->
    [agent] Der Agent { $name } hat die Aufgabe einem anderen Agenten gegeben.
    [link] Über den Link wurde die Aufgabe einem anderen Agenten gegeben.
   *[other] { $name } hat die Aufgabe einem anderen Agenten gegeben.
}
outcome-reassigned-next = Der andere Agent setzt die Aufgabe fort.
outcome-then-revoked = { $headline }, dann widerrufen
outcome-revoked = Der Beleg wurde widerrufen ({ $when }). Er gilt nicht mehr.
outcome-revoked-because = Der Beleg wurde widerrufen ({ $when }): { $reason }. Er gilt nicht mehr.
outcome-default = Niemand hat rechtzeitig geantwortet, deshalb gilt die Vorgabe des Agenten.
outcome-answered-by = { $by ->
    [agent] Vom Agenten { $name } { $channel } beantwortet ({ $assurance }).
    [relay] Von jemandem, für den der Agent spricht, { $channel } beantwortet ({ $assurance }).
    [guest] Von jemandem unter einer Adresse des Agenten { $channel } beantwortet ({ $assurance }).
   *[other] Von { $name } { $channel } beantwortet ({ $assurance }).
}
outcome-answered-by-link = Von jemandem mit dem Link beantwortet.
outcome-answered-by-attested-link = Von { $name } beantwortet.
outcome-link-of-agent = Der Agent hatte diesen Link, deshalb bürgt nur der Agent dafür, dass eine Person geantwortet hat.
outcome-link-of-address = Countersign hat diesen Link an eine bestätigte Adresse gesendet.
outcome-proven = Dass eine Person geantwortet hat, wurde bestätigt durch: { $providers }.
outcome-answer-erased = Der Text dieser Antwort wurde gelöscht.
outcome-message-sent = Nachricht gesendet
outcome-written-by = Von { $name } { $channel } geschrieben ({ $assurance }).
outcome-message-next = { $agent } antwortet hier und im Posteingang.
silence-stays-open = Die Anfrage bleibt offen und kann weiterhin beantwortet werden
silence-fails = Die Anfrage schlägt fehl, und der Agent wird benachrichtigt
silence-falls-back = Es gilt die Vorgabe: { $answer }
silence-default = die Vorgabe des Agenten

## Die Seite einer Anfrage

request-facts = Was Countersign weiß
request-id = Anfrage
request-key = API-Schlüssel
request-key-revoked = { $name }, inzwischen widerrufen
request-similar = Ähnliche Anfragen
request-same-kind = Diese Art, von diesem Agenten
request-first-of-kind = { $days ->
    [one] Die erste dieser Art seit { $days } Tag
   *[other] Die erste dieser Art seit { $days } Tagen
}
request-similar-newest = { $count } der neuesten { $total }: { $ends }
request-similar-times = { $count ->
    [one] Einmal gefragt in { $days } Tagen: { $ends }
   *[other] { $count }-mal gefragt in { $days } Tagen: { $ends }
}
request-kind-newest = Mehr als { $count } in { $days } Tagen. Von den neuesten { $count }: { $ends }
request-kind-times = { $count } in { $days } Tagen: { $ends }
end-open = { $count } noch offen
end-withdrawn = { $count } zurückgezogen
end-rejected = { $count } abgelehnt
end-reworded = { $count } auf andere Weise beantwortet
end-reassigned = { $count } einem anderen Agenten gegeben
end-expired = { $count } nicht rechtzeitig beantwortet
end-default = { $count } nach der Vorgabe
end-approved = { $count } genehmigt
end-changes = { $count } mit Änderungswünschen zurückgegeben
end-confirmed = { $count } bestätigt
end-declined = { $count } nicht bestätigt
end-retried = { $count } erneut versucht
end-skipped = { $count } übersprungen
end-aborted = { $count } abgebrochen
end-answered = { $count } beantwortet
request-asked = Wer gefragt wurde
request-asked-later = <bdi>{ $who }</bdi>, falls noch niemand geantwortet hat: { $when }
request-asked-pool = Alle, die im Projekt dafür infrage kommen
request-asked-group = Alle in der Gruppe { $group }
request-members-more = { $names } und { $count } weitere
request-members-none = zurzeit niemand
request-notifications = Benachrichtigungen
notified-asked = { $channel }, { $who }
notified-assigned = { $channel }, { $who }, neu zugewiesen
notified-reminder = { $channel }, { $who }, Erinnerung
notified-escalated = { $channel }, { $who }, weil niemand geantwortet hat
notified-address = die vom Agenten gewählte Adresse
notified-waiting = noch nicht angenommen
notified-sent = gesendet
notified-delivered = zugestellt
notified-read = gelesen
notified-failed = fehlgeschlagen
channel-email = E-Mail
channel-sms = SMS
channel-device = Ein Gerät
request-files = Dateien in der Antwort
request-answers-agent = Der Agent, in dieser Unterhaltung
request-answers-me = Sie haben dies übernommen
request-answers-claimed = { $name } hat dies übernommen
request-answers-pool = Alle, die im Projekt dafür infrage kommen, können antworten
request-answers-group = Alle in der Gruppe { $group } können antworten
request-answers-owner = Sie sind für diesen Agenten verantwortlich
request-answers-picked = Sie wurden gefragt; für diesen Agenten verantwortlich: { $owner }
request-task = Aufgabe: <a href="{ $href }"><bdi>{ $goal }</bdi></a>
request-task-review = Mit Ihrer Antwort bewerten Sie ein Ergebnis dieser Aufgabe.
request-task-waits = Der Agent wartet bei dieser Aufgabe, bis jemand antwortet.
request-task-state = Stand: { $state }.
request-viewers-one = { $name } sieht sich dies auch gerade an.
request-viewers-two = { $first } und { $second } sehen sich dies auch gerade an.
request-viewers-more = { $name } und { $count } weitere sehen sich dies auch gerade an.

answering-me = Sie haben diese Anfrage gerade beantwortet
answering-me-next = Ihre Antwort gilt gleich. <a href="{ $href }">Laden Sie die Seite neu</a>, um sie zu sehen oder rückgängig zu machen.
answering-other = <bdi>{ $name }</bdi> hat diese Anfrage gerade beantwortet
answering-other-next = Die Antwort gilt gleich, sofern sie nicht rückgängig gemacht wird. Sie müssen nichts tun.
answering-somebody = Diese Anfrage wurde gerade beantwortet
answering-somebody-next = Die Antwort gilt gleich, sofern sie nicht rückgängig gemacht wird. Sie müssen nichts tun.
answering-undone = Die Antwort wurde rückgängig gemacht
answering-undone-next = Diese Anfrage ist wieder offen. <a href="{ $href }">Laden Sie die Seite neu</a>, um den aktuellen Stand zu sehen.

claim-hint = Mehrere Personen wurden gefragt. Übernehmen Sie die Anfrage, damit niemand doppelt daran arbeitet.
claim-take = Übernehmen
claim-mine = Sie haben diese Anfrage übernommen
claim-mine-next = <a href="{ $href }">Laden Sie die Seite neu</a>, um den aktuellen Stand zu sehen.
claim-other = Übernommen von <bdi>{ $name }</bdi>
claim-other-next = Von dort wird eine Antwort erwartet. Sie müssen nichts tun.
claim-over = <bdi>{ $name }</bdi> arbeitet an dieser Anfrage. Sie sind für diesen Agenten verantwortlich: Ihre Antwort würde gelten, die andere würde abgewiesen.
claim-answer-anyway = Trotzdem antworten
claim-answering-anyway = Sie antworten trotzdem.

request-extend = Frist verlängern
request-extend-was-due = Die Frist endete { $when }, <span class="exact">{ $exact }</span>.
request-extend-due = Die Frist endet { $when }, <span class="exact">{ $exact }</span>.
request-extend-goes-ahead = Der Agent macht weiter { $when }, <span class="exact">{ $exact }</span>.
request-extend-expires = Die Anfrage läuft ab { $when }, <span class="exact">{ $exact }</span>.
request-extend-hour = Um eine Stunde verlängern
request-extend-day = Um einen Tag verlängern
request-extend-week = Um eine Woche verlängern
request-reassign = Neu zuweisen
request-reassign-to = Wer soll antworten?
request-reassign-choose = Person wählen
request-reassign-note = Notiz
request-reassign-send = Diese Anfrage neu zuweisen
request-snooze = Zurückstellen
request-snooze-hint = Die Anfrage verschwindet für eine Weile nur aus Ihrem Posteingang. Für andere ändert sich nichts, und die Frist bleibt bestehen.
request-snooze-hour = Für eine Stunde zurückstellen
request-snooze-day = Für einen Tag zurückstellen
request-snooze-week = Für eine Woche zurückstellen
request-snoozed = Zurückgestellt
request-snoozed-until = Sie erscheint wieder { $when }.
request-snooze-end = Wieder im Posteingang zeigen

request-receipt-erased = Der Text dieser Anfrage wurde gelöscht, deshalb lässt sich kein Beleg mehr erstellen. Der Verlauf unten zeigt weiterhin, dass sie gestellt wurde und wie sie endete.
request-receipt-explained = Von diesem Server signiert: wer was wann entschieden hat und was dabei angezeigt wurde.
request-receipt-code = Prüfcode
request-receipt-verify = Diesen Beleg prüfen
request-receipt-verify-hint = Prüft die Signatur und das Audit-Log
request-receipt-verified = Beleg geprüft und gültig
request-receipt-not-valid = Beleg nicht gültig
request-receipt-content = Was der Beleg besagt
request-receipt-download = Beleg herunterladen
request-receipt-offline = So prüfen Sie den Beleg ohne diesen Server
request-receipt-offline-steps = Speichern Sie einmal die öffentlichen Schlüssel von <span class="mono">/.well-known/jwks.json</span>, dann überall und jederzeit:
check-holds = Gültig
check-later = Noch nicht
check-fails = Nicht gültig
check-signature = { $issuer } hat diesen Beleg signiert.
check-signature-fails = Die Signatur ist nicht gültig: { $reason }.
check-event = Ereignis { $event } des Audit-Logs besagt dasselbe.
check-sealed = Dieses Ereignis ist im signierten Block { $block } versiegelt.
check-not-sealed = Das Ereignis ist noch in keinem Block versiegelt. Prüfen Sie später noch einmal.
check-log-fails = Das Audit-Log bestätigt es nicht: { $reason }.
check-revoked = Der Beleg wurde widerrufen und gilt nicht mehr.
check-not-revoked = Der Beleg wurde nicht widerrufen.

revisions-title = { $count ->
    [one] { $count } Fassung
   *[other] { $count } Fassungen
}
revisions-number = Fassung { $n }.
revisions-this-page = (diese Seite)
revisions-ended-by = { $headline } durch <bdi>{ $who }</bdi>, { $when }
revisions-open = Wartet auf eine Antwort

discussion-title = Diskussion
discussion-comment = Kommentar
discussion-add = Zur Diskussion beitragen
discussion-hint = Alle, die diese Anfrage sehen, können es lesen, auch der Agent. Es ist keine Antwort.
discussion-send = Kommentar hinzufügen
# In place of one message or comment.
text-part-erased = (Dieser Text wurde gelöscht.)

## Der Verlauf einer Anfrage
## Der Name steht davor: „Ada Lovelace hat die Anfrage übernommen“.

timeline-title = Verlauf
timeline-sealed = versiegelt in Block { $block }
timeline-not-sealed = noch nicht versiegelt
timeline-hash = Ereignis { $event }: Hash
timeline-more = Es gibt weitere Ereignisse. <code>countersign audit export</code> schreibt sie alle.
timeline-directory = hat das Verzeichnis geändert
timeline-task = hat den Stand der Aufgabe geändert
timeline-artifact = hat ein Ergebnis geliefert
timeline-ledger = hat einen Eintrag in ein Journal geschrieben
timeline-conversation = hat eine Unterhaltung begonnen
timeline-asked = hat gefragt
timeline-followed = hat in einer neuen Fassung noch einmal gefragt
timeline-opened = hat die Anfrage zuerst geöffnet
timeline-progressed = hat begonnen, sie auszufüllen
timeline-claimed = hat die Anfrage übernommen
timeline-assigned = hat die Anfrage neu zugewiesen: { $name }
timeline-commented = hat einen Kommentar hinterlassen
timeline-picked = hat den Agenten um seine Aktion { $n } gebeten
timeline-answered = hat { $channel } geantwortet ({ $assurance }): { $answer }
timeline-answer-erased = (Text gelöscht)
timeline-held = hat geantwortet, rückgängig zu machen bis { $until }
timeline-undone = hat die Antwort rückgängig gemacht; nichts wurde entschieden
timeline-default = hat die Vorgabe angewendet, weil niemand rechtzeitig geantwortet hat: { $answer }
timeline-withdrawn = hat die Anfrage zurückgezogen
timeline-rejected = hat sie abgelehnt und die Aufgabe beendet
timeline-reworded = hat sie auf andere Weise beantwortet
timeline-task-reassigned = hat die Aufgabe einem anderen Agenten gegeben
timeline-expired = hat die Anfrage geschlossen, weil die Zeit abgelaufen war
timeline-reminded = hat alle erinnert, die gefragt wurden
timeline-escalated = hat weitere Personen gefragt, weil niemand geantwortet hatte
timeline-joined = hat weitere Personen gefragt
timeline-extended = hat die Frist verlegt auf { $until }
timeline-granted = hat Links oder Tokens dafür erstellt
timeline-notified = hat den Agenten über den Abschluss benachrichtigt
timeline-not-notified = konnte den Agenten nicht über den Abschluss benachrichtigen
timeline-notification-wanted = hat eine weitere Benachrichtigung des Agenten angefordert
timeline-revoked = hat den Beleg widerrufen
timeline-erased = hat den Text gelöscht; das Audit-Log bleibt prüfbar
timeline-person-erased = hat den Text einer gelöschten Person gelöscht

## Prüflinks

review-closed = { $how ->
    [approved] Bereits genehmigt
    [rejected] Bereits abgelehnt
   *[other] Bereits geschlossen: { $headline }
}
review-closed-yours = Von dieser Seite wurde nichts gesendet. Was Sie eingegeben haben, bleibt hier lesbar, bis Sie sie verlassen.
review-answers-signed-in = Nur angemeldete Personen
review-answers-link = Jede Person mit diesem Link, einmal
review-sign-in-title = Melden Sie sich an, um zu antworten
review-sign-in = Mit diesem Link können Sie die Anfrage lesen. Um sie zu beantworten, melden Sie sich bei Countersign an und öffnen Sie sie in Ihrem Posteingang.
review-sign-in-open = Im Posteingang öffnen
review-decline = Nicht antworten
review-decline-hint = Der Agent erfährt, dass niemand antworten wird. Nichts wird genehmigt und nichts abgelehnt.
review-decline-reason = Warum
review-decline-send = Diese Anfrage ohne Antwort schließen
review-proves = Was dieser Link beweist
review-proves-address = Countersign hat ihn an eine bestätigte Adresse gesendet und niemandem sonst gegeben. So steht es im Beleg.
review-proves-nothing = Nichts darüber, wer Sie sind: Auch der Agent hat diesen Link erhalten. Im Beleg steht, dass nur der Agent für die Antwort bürgt.

## Unterhaltungen

conversation-overline = Eine Person hat an einen KI-Agenten geschrieben
conversation-sent = Gesendet { $when }
conversation-message-to = Eine Nachricht an { $agent }
conversation-title = Unterhaltung mit { $agent }
conversation-answer = Nachricht { $n } beantworten
conversation-show = Nachricht { $n } zeigen
conversation-block = Nachricht
conversation-write-another = Eine weitere Nachricht an { $agent } schreiben
conversation-waits = { $agent } wartet auf eine Antwort.
conversation-not-answered = { $agent } hat noch nicht geantwortet. Die Antwort erscheint hier und im Posteingang.

message-title = An einen Agenten schreiben
message-not-sent = Es wurde nichts gesendet
message-no-agents = Kein Agent, an den Sie schreiben dürfen, nimmt Nachrichten an. Die verantwortliche Person eines Agenten und die Administration können Unterhaltungen unter <a href="{ $href }">Agenten und Schlüssel</a> einschalten.
message-to = An
message-agent = { $agent } in { $project }
message-choose-agent = Agent wählen
message-text = Nachricht
message-text-hint = Der Agent und seine verantwortliche Person können sie lesen. Die Antwort kommt in Ihren Posteingang.
message-send = Diese Nachricht senden
message-by-email = Per E-Mail
message-by-email-hint = Eine E-Mail an diese Adresse geht in Ihrem Namen an den Agenten: Geben Sie die Adresse nicht weiter. Der Agent sieht, von welcher Adresse sie kam. Sie werden benachrichtigt, dass sie gesendet wurde.
message-choose-listed = Wählen Sie einen dieser Agenten
message-conversations-off = Dieser Agent nimmt keine Unterhaltungen mehr an
message-length = Schreiben Sie etwas, höchstens { $max } Zeichen
message-sent-before = Dieses Formular wurde schon einmal mit einem anderen Text gesendet, und jener Text ist angekommen. Wenn dies eine weitere Nachricht ist, senden Sie sie jetzt.
message-refused = Die Nachricht wurde nicht angenommen. Versuchen Sie es später noch einmal.

## Umschläge (Envelopes)

envelope-title = Envelope prüfen
envelope-unreadable = Das ist keine Nachricht
envelope-not-utf8 = Ab Byte { $at } ist es kein UTF-8.
envelope-not-json = Es ist kein JSON: Zeile { $line }, Spalte { $column }.
envelope-too-deep = Es ist tiefer als { $levels } Ebenen verschachtelt.
envelope-too-large = Es ist größer als 4 GiB.
envelope-valid = Diese Nachricht ist gültig
envelope-not-valid = Diese Nachricht ist nicht gültig
envelope-core = Sie enthält, was jede Nachricht enthalten muss (Core).
envelope-standard = Sie enthält alles, was empfohlen wird (Standard).
envelope-full = Sie enthält alles, was empfohlen wird, und mehr (Full).
envelope-no-level = Sie erreicht keine Stufe.
envelope-errors = { $count } Fehler.
envelope-warnings = { $count ->
    [one] { $count } Warnung.
   *[other] { $count } Warnungen.
}
envelope-omitted = { $count ->
    [one] { $count } weiterer Befund wurde ausgelassen.
   *[other] { $count } weitere Befunde wurden ausgelassen.
}
envelope-claims = Angaben des Agenten (nicht geprüft)
envelope-claims-hint = Niemand hat das geprüft. Es ist, was die Nachricht über sich selbst sagt.
envelope-findings = Weitere Befunde
envelope-more = { $count ->
    [one] Und { $count } weiterer.
   *[other] Und { $count } weitere.
}
envelope-content = Inhalt
envelope-message = Eine Nachricht als JSON
envelope-message-hint = Eine HXP-eXperience-Nachricht: ein Objekt mit <code>hxp</code> und <code>content</code>. Sie wird geprüft und angezeigt, aber nicht gespeichert.
envelope-level = Geforderte Stufe
envelope-any-level = Beliebig
envelope-strict = Streng: nur bekannte Felder, echte Versionen und Sprachen
envelope-check = Prüfen
envelope-finding-error = Fehler
envelope-finding-warning = Warnung
envelope-finding-note = Hinweis
envelope-whole-message = die Nachricht
envelope-intent = Zweck
envelope-confidence = Zuversicht
envelope-verification = Soll geprüft werden
envelope-assumptions = Annahmen
envelope-limits = Grenzen
envelope-refusal = Ablehnung
envelope-safety = Sicherheit
envelope-questions = Offene Fragen
envelope-intent-confirmed = Zweck bestätigt
envelope-load = Komplexität
envelope-reading-time = Lesezeit
envelope-chunking = Gliederung
envelope-verbosity = Ausführlichkeit
envelope-format = Format
envelope-tone = Ton
envelope-language = Sprache
envelope-actions = Aktionen
envelope-extensions = Erweiterungen
envelope-version = Version
envelope-yes = ja
envelope-no = nein
envelope-percent = { $value } %
envelope-of-ten = { $value } von 10
envelope-seconds = { $value } s
envelope-refusal-reason = Grund: { $kind }
envelope-refusal-hard = endgültig
envelope-refusal-soft = offen für ein Gespräch
envelope-redirects = bietet eine Alternative an
envelope-no-redirect = bietet keine Alternative an
envelope-policy = folgt: { $policy }
envelope-risk = Schadensrisiko: { $risk }
envelope-policy-triggered = eine Richtlinie hat angeschlagen
envelope-policy-not-triggered = keine Richtlinie hat angeschlagen
