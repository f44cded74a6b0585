### E-Mails, Push-Benachrichtigungen und Nachrichten auf anderen Plattformen.

## Titel einer Nachricht zu einer Anfrage

card-approve = { $agent } bittet um Ihre Genehmigung
card-choose = { $agent } bittet Sie um eine Auswahl
card-provide = { $agent } braucht Angaben von Ihnen
card-confirm = { $agent } bittet um Ihre Bestätigung
card-escalate = { $agent } ist gescheitert und braucht Ihre Entscheidung
card-converse = { $agent } hat eine Frage
card-urgent = Dringend: { $title }
card-irreversible = { $title } (nicht rückgängig zu machen)
card-assigned = Die Anfrage wurde Ihnen zugewiesen.
card-reminder = Sie wartet noch.
card-escalated = Bisher hat niemand geantwortet.
card-waiting =
    { $count ->
        [one] Eine Anfrage wartet auf Sie
       *[other] { $count } Anfragen warten auf Sie
    }

## Inhalt einer Nachricht zu einer Anfrage

card-erased = (gelöscht)
card-asked = Gefragt: { $prompt }
card-outcome-by = { $outcome }, von { $who }
# The deadline: in 27 minutes (1 Mar 2026, 10:00 CET).
card-until = { $relative } ({ $exact })
card-claims = Angaben des Agenten (ungeprüft)
card-changed = Geändert: { $label }
card-suggested = Vorschlag des Agenten

## Schaltflächen, und Wörter für geschriebene Antworten

offer-approve = Genehmigen
offer-reject = Ablehnen
offer-reject-because = Ablehnen: { $reason }
offer-retry = Erneut versuchen
offer-skip = Überspringen
offer-stop = Abbrechen
# A word that a person types as an answer: one word in lower case.
offer-word-yes = ja
# A word that a person types as an answer: one word in lower case.
offer-word-no = nein
offer-word-no-because = nein { $n }
# A word that a person types as an answer: one word in lower case.
offer-word-retry = wiederholen
# A word that a person types as an answer: one word in lower case.
offer-word-skip = überspringen
# A word that a person types as an answer: one word in lower case.
offer-word-abort = abbrechen

## E-Mails

email-separator = Bitte oberhalb dieser Zeile antworten
email-agent-writes = Der Agent schreibt:
email-cut = Die Seite zeigt die ganze Anfrage.
email-expires = Läuft ab: { $until }.
email-read-here = Hier lesen und beantworten:
email-read-button = Lesen und beantworten
email-signs-in = Sie melden sich auf der Seite wie gewohnt an. Das Öffnen des Links entscheidet nichts.
email-anyone = Das Öffnen des Links entscheidet nichts. Wer den Link hat, kann antworten. Leiten Sie ihn nicht weiter.
email-settings = Einstellungen der Benachrichtigungen: { $url }
email-settings-link = Einstellungen der Benachrichtigungen
email-button-fails = Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse: { $url }
email-reply-text = Antworten Sie auf diese E-Mail mit Ihrer Antwort.
email-reply-words = Oder antworten Sie auf diese E-Mail. Schreiben Sie in die erste Zeile eines dieser Wörter und darunter Ihre Begründung: { $words }.
email-reply-word = { $word } ({ $label })
email-digest-lead = { $title }. Keine ist dringend.
email-digest-more =
    { $count ->
        [one] Und 1 weitere.
       *[other] Und { $count } weitere.
    }
email-digest-inbox = Posteingang: { $url }
email-digest-open = Posteingang öffnen
email-sign-in-subject = Anmeldung bei Countersign auf { $host }
email-sign-in-lead = Jemand, vermutlich Sie, möchte sich bei Countersign auf { $host } anmelden.
email-sign-in-open = Öffnen Sie diesen Link und bestätigen Sie dort:
email-sign-in-button = Anmelden
email-sign-in-once = Der Link funktioniert einmal, innerhalb von { $minutes } Minuten. Wenn Sie es nicht waren, ignorieren Sie diese E-Mail: Ohne den Link kann sich niemand anmelden.
email-code-subject = Ihr Code für Countersign auf { $host }
email-code-lead = Jemand, vermutlich Sie, möchte unter dieser Adresse Benachrichtigungen von Countersign auf { $host } erhalten.
email-code-enter = Geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben:
email-code-once = Der Code funktioniert einmal, innerhalb von { $minutes } Minuten. Wenn Sie es nicht waren, ignorieren Sie diese E-Mail: Ohne den Code sendet Countersign nichts an diese Adresse.
email-security-at = { $title }, am { $at }.
email-security-time = Am { $at }.
email-security-passkeys = Ihre Passkeys
email-security-passkeys-url = Ihre Passkeys: { $url }
email-about = Zu Ihrer E-Mail

## Sicherheitsbenachrichtigungen

security-passkey-added = Zu Ihrem Konto auf { $host } wurde ein Passkey hinzugefügt
security-passkey-added-what = Wenn Sie das nicht waren, informieren Sie sofort eine Administratorin oder einen Administrator: Sie können jeden Zugriff auf Ihr Konto beenden. Ein erster Passkey bestätigt während einer Wartezeit keine Antworten.
security-passkey-removed = Aus Ihrem Konto auf { $host } wurde ein Passkey entfernt
security-passkey-removed-what = Wenn Sie das weder waren noch veranlasst haben, informieren Sie sofort eine Administratorin oder einen Administrator: Sie können jeden Zugriff auf Ihr Konto beenden.
security-access-ended = Jeder Zugriff auf Ihr Konto auf { $host } wurde beendet
security-access-ended-what = Die Administration hat Ihre Sitzungen, Token, Anmeldelinks, Passkeys und Kontaktwege beendet. Bitten Sie dort um einen neuen Anmeldelink.

## Bestätigungscodes auf anderen Plattformen

code-title = Ein Code für { $host }
code-text = { $code }. Geben Sie ihn innerhalb von { $minutes } Minuten auf der Seite ein, auf der Sie ihn angefordert haben. Wenn Sie keinen Code angefordert haben, ignorieren Sie diese Nachricht.

## Push-Benachrichtigungen

push-assigned = Ihnen zugewiesen: { $title }
push-reminder = Wartet noch: { $title }
push-escalated = Noch nicht beantwortet: { $title }
push-open = Öffnen Sie die Anfrage, um alles zu lesen.
push-changed-asked = Gefragt: { $prompt }
push-changed = Genehmigt mit: { $changes }
push-test = Benachrichtigungen funktionieren auf diesem Gerät
push-test-text = Wenn eine Anfrage auf Sie wartet, zeigt dieses Gerät sie an.

## Nachrichten in Slack, WhatsApp, Telegram, SMS und ntfy

chat-background = Hintergrund:
chat-details = Details:
chat-expires = Läuft ab: { $until }.
chat-comment = Kommentar:
chat-open = Anfrage öffnen
chat-answer-on-page = Auf der Seite beantworten:
chat-answer-on-page-only = Beantworten Sie die Anfrage auf ihrer Seite.
chat-more = Die Nachricht zeigt nur einen Teil der Anfrage.
chat-more-answer = Die Nachricht zeigt nur einen Teil der Anfrage. Lesen und beantworten Sie sie auf ihrer Seite.
chat-more-answer-here = Die Nachricht zeigt nur einen Teil der Anfrage. Hier lesen und beantworten:
chat-more-here = Die Nachricht zeigt nur einen Teil der Anfrage. Alles lesen:
chat-answers = Antworten
chat-form = Formular ausfüllen
chat-form-on-page = Das Formular ist auf der Seite der Anfrage.
chat-choose = Auswählen
chat-cancel = Abbrechen
chat-yes = Ja
chat-no = Nein
chat-reply-in-thread = Antworten Sie in diesem Thread.
chat-reply-in-thread-with = Antworten Sie in diesem Thread mit einem dieser Wörter:
chat-word-and-reason = { $word } und Ihre Begründung: { $label }
chat-word = { $word }: { $label }
chat-or-write = Oder schreiben Sie { $words }.
chat-or = { $first } oder { $second }
chat-reply-with = Antworten Sie auf diese Nachricht mit
chat-or-here = oder hier:
chat-reply-text = Antworten Sie auf diese Nachricht mit Ihrer Antwort.
chat-reply-text-or-code = Antworten Sie auf diese Nachricht mit Ihrer Antwort, oder schreiben Sie { $code } und Ihre Antwort.
chat-answer-with = Antworten Sie mit
chat-answer-with-text = Antworten Sie mit { $code } und Ihrem Text, oder hier:
chat-answer-here = Hier antworten:
chat-read-on-page = Lesen Sie alles und antworten Sie auf der Seite der Anfrage.
chat-open-short = Öffnen
chat-code-and-answer = { $code } und Ihre Antwort
# What a template shows in place of a text that does not fit: the question or the way to answer is on its page.
chat-on-its-page = auf ihrer Seite

## Antworten an Personen, die antworten oder schreiben

reply-invalid = Ihre Antwort wurde nicht gespeichert. { $problems }
reply-why = Warum?
reply-send = Senden
reply-on-page = Bitte antworten Sie auf der Seite: { $page }
reply-say-why = Bitte geben Sie kurz eine Begründung an.
reply-copied = Ihre Antwort wurde nicht gespeichert: Die E-Mail ging auch an andere. Antworten Sie auf der Seite: { $page }
reply-only-on-page = Diese Anfrage kann nur auf ihrer Seite beantwortet werden: { $page }
reply-sender-unverified = Ihre Antwort wurde nicht gespeichert: Die Anfrage verlangt eine E-Mail mit geprüftem Absender ({ $why }). Melden Sie sich an und antworten Sie auf der Seite: { $page }
reply-not-understood = Ihre Antwort wurde nicht verstanden. Antworten Sie mit { $words } oder öffnen Sie { $page }
reply-second-step = Diese Anfrage verlangt eine zweite Bestätigung und kann nur auf ihrer Seite beantwortet werden: { $page }
reply-recorded = Gespeichert: { $outcome }.
reply-recorded-others = Gespeichert. Weitere Personen müssen noch antworten.
reply-closed = { $over } { $when }: { $outcome }. { $sentence } Ihre Antwort hat nichts geändert.
reply-refused = Ihre Antwort wurde nicht gespeichert: { $why }. Die Seite: { $page }
reply-link-in-message = der Link in der Nachricht
reply-unknown-request = Es ist unklar, zu welcher Anfrage diese Antwort gehört. Beginnen Sie mit ihrem Code, oder öffnen Sie ihre Seite.
reply-not-asked = Diese Anfrage ging nicht an Sie. Es wurde nichts geändert.
reply-old-button = Diese Schaltfläche ist nicht mehr gültig. Es wurde nichts geändert.
reply-old-address = Diese Adresse ist nicht mehr gültig. Es wurde nichts gesendet.
reply-no-agent = Kein Agent nimmt Unterhaltungen mit Ihnen an.
reply-name-agent = Beginnen Sie mit dem Namen eines Agenten: { $names }.
reply-name-agent-others = Beginnen Sie mit dem Namen eines Agenten: { $names } und andere.
reply-unknown-or-agent = Es ist unklar, zu welcher Anfrage diese Antwort gehört. Beginnen Sie mit ihrem Code, oder öffnen Sie ihre Seite. Um einem Agenten zu schreiben, beginnen Sie mit seinem Namen: { $names }.
reply-unknown-or-agent-others = Es ist unklar, zu welcher Anfrage diese Antwort gehört. Beginnen Sie mit ihrem Code, oder öffnen Sie ihre Seite. Um einem Agenten zu schreiben, beginnen Sie mit seinem Namen: { $names } und andere.
reply-begun = { $agent } hat Ihre Nachricht. Die Antworten finden Sie hier: { $page }
reply-agent-refuses = { $agent } nimmt keine Unterhaltungen an. Es wurde nichts gesendet.
reply-agent-forbidden = Sie können { $agent } nicht mehr schreiben. Es wurde nichts gesendet.
reply-message-invalid = An { $agent } wurde nichts gesendet: Eine Nachricht hat { $expected }.
reply-not-sent = An { $agent } wurde nichts gesendet: { $why }.
