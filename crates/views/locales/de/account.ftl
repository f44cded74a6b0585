### Einstellungen, Anmeldung, Sitzungen, Passkeys, erster Start.

## Every settings page

settings-title = Einstellungen
settings-lead = Alles hier geht auch über die API und mit dem Befehl countersign.
settings-nothing-changed = Es wurde nichts geändert. Alle Ihre Eingaben sind noch da.
settings-save = Speichern
settings-saved = Gespeichert
settings-remove = Entfernen
settings-removed = Entfernt
settings-back = Zurück
settings-this-browser = dieser Browser
settings-secret-once = Kopieren Sie den Wert jetzt: Er wird nur dieses eine Mal angezeigt.
# $expected is what the server expects, in English: "a name of letters and digits".
settings-expected = Erwartet wird: { $expected }.
settings-expected-not = Erwartet wird { $expected }, nicht { $given }.
settings-option-expected = Wählen Sie eine der Möglichkeiten.
settings-person-expected = Wählen Sie eine Person aus der Liste.
settings-time-expected = Geben Sie eine Uhrzeit wie 22:30 ein.
settings-date-time-expected = Geben Sie Tag und Uhrzeit ein, zum Beispiel 2026-12-24T08:00.
settings-email-taken = Eine andere Person hat diese Adresse.

## The navigation and the overview: name and content of each page

settings-profile = Mein Profil
settings-profile-about = Name, Sprache, Zeitzone, Ruhezeiten
settings-away = Abwesenheit
settings-away-about = Wann Sie abwesend sind und wer stattdessen gefragt wird
settings-notifications = Benachrichtigungen
settings-notifications-about = Geräte und E-Mail, ihre Reihenfolge und Sammelmitteilungen
settings-devices = Meine Geräte
settings-devices-about = Wohin Push-Benachrichtigungen gehen
settings-rules = Meine Weiterleitungsregeln
settings-rules-about = Welche Anfragen an eine andere Person gehen
settings-agents = Agenten und Schlüssel
settings-agents-about = Welche Programme fragen dürfen und mit welchen Schlüsseln
settings-webhooks = Webhooks
settings-webhooks-about = Signierte Aufrufe an Ihre Server, wenn etwas geschieht
settings-people = Personen
settings-people-about = Wer antwortet und was diese Personen dürfen
settings-groups = Gruppen
settings-groups-about = Wer Anfragen aus einem gemeinsamen Vorrat übernimmt
settings-projects = Projekte
settings-projects-about = Erinnerungen, Eskalation und was ohne Antwort geschieht
settings-signing = Signaturschlüssel
settings-signing-about = Die Schlüssel, mit denen Belege signiert werden
settings-sessions = Sitzungen
settings-sessions-about = Browser, die in Ihrem Namen antworten können
settings-tokens = API-Token
settings-tokens-about = Für den Befehl countersign und für Skripte

## My profile

settings-profile-lead = Wer Sie sind und wann Sie erreichbar sind.
settings-profile-name = Ihr Name
settings-profile-description = Ihre Aufgabe
settings-profile-description-hint = Was andere wissen sollten, bevor sie Ihnen eine Anfrage zuweisen.
settings-profile-language = Sprache
settings-profile-language-browser = Sprache des Browsers
settings-profile-time-zone = Zeitzone
settings-profile-time-zone-hint = Für Zeitangaben, Ruhezeiten und Abwesenheiten.
settings-time-zone-none = Nicht festgelegt: UTC
# $zone is the name of the time zone, such as Europe/Berlin.
settings-time-zone-browser = Zeitzone des Browsers: { $zone }
settings-region-africa = Afrika
settings-region-america = Amerika
settings-region-antarctica = Antarktis
settings-region-arctic = Arktis
settings-region-asia = Asien
settings-region-atlantic = Atlantik
settings-region-australia = Australien
settings-region-europe = Europa
settings-region-indian = Indischer Ozean
settings-region-pacific = Pazifik
settings-profile-quiet-from = Ruhe ab
settings-profile-quiet-to = Ruhe bis
settings-profile-quiet-hint = Benachrichtigungen warten bis zum Ende Ihrer Ruhezeiten, außer eine Anfrage ist kritisch. Lassen Sie beides leer, um keine zu haben.
settings-profile-quiet-both = Geben Sie beide Uhrzeiten an oder keine.
# $until is a relative time: "in 3 hours".
settings-profile-quiet-now = Gerade sind Ihre Ruhezeiten. Benachrichtigungen kommen wieder { $until }.
settings-profile-undo = Zeit zum Rückgängigmachen
settings-profile-undo-hint = Wie viele Sekunden lang Sie eine Antwort rückgängig machen können, von 0 bis 60. Danach erhält der Agent Ihre Antwort; bei 0 erhält er sie sofort.
settings-profile-undo-expected = Geben Sie eine ganze Zahl von 0 bis 60 ein.
settings-profile-save = Profil speichern
settings-profile-email = Ihre E-Mail-Adresse: { $email }. Mit ihr können Sie sich anmelden, deshalb ändert sie nur die Administration.
settings-profile-no-email = Sie haben hier keine E-Mail-Adresse. Mit ihr könnten Sie sich anmelden, deshalb trägt sie nur die Administration ein.

## Out of office

settings-away-lead = Während Sie abwesend sind, wird die Person gefragt, die Sie nennen.
settings-away-delegate = Wer stattdessen gefragt wird
settings-away-until = Zurück am
settings-away-until-hint = Lassen Sie das Feld leer, um abwesend zu sein, bis Sie sich zurückmelden. Zeitangaben in { $zone }.
settings-away-from = Abwesend ab
settings-away-from-hint = Lassen Sie das Feld leer, um ab sofort abwesend zu sein.
settings-away-nobody = Niemand: Anfragen bleiben bei Ihnen
settings-away-more = Nur die ersten { $count } Personen sind aufgeführt. Um eine andere zu nennen, verwenden Sie die API.
settings-away-button = Ich bin abwesend
settings-away-change = Änderung speichern
settings-away-back = Ich bin zurück
settings-away-note = Anfragen, die Sie schon erhalten haben, bleiben bei Ihnen, und Sie können weiterhin alles beantworten. Wer selbst abwesend ist oder nicht zum Projekt der Anfrage gehört, wird nicht stattdessen gefragt.
settings-away-now = Sie sind abwesend.
# $back is a relative time ("in 3 days"), $exact the date and time.
settings-away-now-until = Sie sind abwesend und { $back } zurück ({ $exact }).
settings-away-later = Sie sind { $from } abwesend.
settings-away-later-until = Sie sind { $from } abwesend und { $back } zurück ({ $exact }).
settings-away-delegated = Stattdessen wird { $name } gefragt.
settings-away-undelegated = Niemand vertritt Sie, deshalb bleiben Anfragen bei Ihnen.

## Notifications

settings-notifications-lead = Wo Sie über eine Anfrage benachrichtigt werden und in welcher Reihenfolge.
settings-notifications-address = Adresse
settings-notifications-via = Kanal
settings-notifications-digest = Anfragen mit niedriger Priorität
settings-notifications-digest-time = Uhrzeit, bei einmal am Tag
settings-notifications-no-email = E-Mail ist nicht eingerichtet.
settings-notifications-code-hint = Sie erhalten dort einen Code, um zu zeigen, dass die Adresse Ihnen gehört.
settings-notifications-add = Adresse hinzufügen
settings-notifications-add-title = Eine Adresse hinzufügen
settings-notifications-add-email-title = Eine E-Mail-Adresse hinzufügen
settings-notifications-address-hint = Eine E-Mail-Adresse, eine Telefonnummer wie +4930123456 oder Ihre dortige ID, zum Beispiel U0123ABC in Slack. Sie erhalten dort einen Code, um zu zeigen, dass die Adresse Ihnen gehört.
settings-notifications-note = Countersign benachrichtigt Sie auf dem ersten dieser Wege. Schlägt das fehl oder öffnen Sie die Anfrage eine Weile nicht (2 Minuten bei kritischer, 5 bei hoher, sonst 15), folgt der nächste. In Ihren Ruhezeiten werden Sie nur über kritische Anfragen benachrichtigt. Der Posteingang zeigt immer alles.
settings-notifications-quiet-hours = Meine Ruhezeiten
settings-notifications-earlier = Früher versuchen
settings-notifications-later = Später versuchen
settings-notifications-use = Wieder verwenden
settings-notifications-do-not-use = Nicht verwenden
settings-notifications-off = aus
settings-notifications-off-facts = Hierhin gehen keine Benachrichtigungen.
settings-notifications-unused = nicht genutzt
settings-notifications-no-push = Push-Benachrichtigungen sind auf diesem Server abgeschaltet.
settings-notifications-no-channel = Dieser Kanal ist auf diesem Server nicht eingerichtet.
settings-notifications-unverified = nicht bestätigt
settings-notifications-unverified-facts = Hierhin geht noch nichts.
settings-notifications-devices = { $count ->
    [0] Noch kein Gerät.
    [one] 1 Gerät.
   *[other] { $count } Geräte.
}
settings-notifications-verified = Bestätigt.
settings-contact-email = E-Mail an { $address }
settings-contact-slack = Slack, { $address }
settings-contact-sms = SMS an { $address }
settings-contact-whatsapp = WhatsApp, { $address }
settings-contact-telegram = Telegram, { $address }
settings-contact-ntfy = ntfy, { $address }
settings-contact-webhook = Webhook, { $address }
settings-notifications-code = Code
settings-notifications-code-digits = Sechs Ziffern. Der Code gilt einmal, zehn Minuten lang.
settings-notifications-verify = Adresse bestätigen
settings-notifications-verify-title = { $address } bestätigen
settings-notifications-send-code = Code senden
settings-notifications-digest-hour = Gesammelt, einmal in der Stunde
settings-notifications-digest-day = Gesammelt, einmal am Tag
settings-notifications-digest-off = Jede sofort
settings-notifications-digest-hint = Über alles andere werden Sie sofort benachrichtigt.
settings-notifications-digest-save = Sammelmitteilung speichern
settings-notifications-digest-title = Sammelmitteilung
# $contact is a contact method: "Email to ada@example.com".
settings-code-sent = Ein Code ist unterwegs: { $contact }
settings-code-no-channel = Dieser Server sendet dorthin nichts.
settings-code-too-many = Es wurden zu viele Codes gesendet. Versuchen Sie es in einigen Minuten erneut.
settings-code-failed = Der Code konnte nicht gesendet werden. Versuchen Sie es später erneut.
settings-code-wrong = Das ist nicht der zuletzt gesendete Code.
settings-code-gone = Es gilt kein Code mehr. Senden Sie einen neuen.

## Devices with push notifications

settings-devices-lead = Geräte, die Push-Benachrichtigungen über neue Anfragen erhalten.
settings-devices-disabled = Push-Benachrichtigungen sind auf diesem Server abgeschaltet.
settings-devices-full = Sie haben schon { $count } Geräte. Entfernen Sie eines, um dieses hinzuzufügen.
settings-devices-unnamed = Ein Gerät
# $service is the host of the push service, $added a relative time.
settings-devices-facts = Über { $service } · hinzugefügt { $added }
settings-devices-heading = Geräte mit Push-Benachrichtigungen
settings-devices-test = Test an alle senden
settings-devices-tested = { $count ->
    [one] An ein Gerät gesendet; der Test erscheint gleich
   *[other] An { $count } Geräte gesendet; der Test erscheint gleich
}
settings-devices-note = Eine Benachrichtigung zeigt, welcher Agent fragt und was, auch auf dem Sperrbildschirm, sofern Ihr Gerät das nicht verbirgt. Sie ist für Ihr Gerät verschlüsselt. Ein Gerät erhält Benachrichtigungen, solange es hier angemeldet ist, in Ihren Ruhezeiten nur über kritische Anfragen.
settings-device-this = Dieses Gerät
settings-device-on = Push-Benachrichtigungen sind eingeschaltet. Kommen keine mehr an, schalten Sie sie erneut ein.
settings-device-needs = Push-Benachrichtigungen brauchen JavaScript und einen Browser, der sie anzeigen kann.
settings-device-turn-on = Einschalten
settings-device-turn-on-again = Erneut einschalten
settings-device-apple = Auf iPhone und iPad erhalten nur Apps Benachrichtigungen: Tippen Sie auf „Teilen“, dann auf „Zum Home-Bildschirm“, öffnen Sie Countersign von dort und kehren Sie auf diese Seite zurück.
settings-device-https = Browser zeigen Benachrichtigungen nur für Seiten, die über HTTPS kommen.
settings-device-unsupported = Dieser Browser kann keine Benachrichtigungen anzeigen, solange keine Seite offen ist.
settings-device-denied = Benachrichtigungen sind für diese Website blockiert. Erlauben Sie sie in den Einstellungen des Browsers und laden Sie diese Seite dann neu.
settings-device-refused = Es wurde nichts geändert: Der Browser darf keine Benachrichtigungen anzeigen.
settings-device-unreachable = Der Push-Dienst des Browsers ist nicht erreichbar. Versuchen Sie es später erneut; manche Netze und Browser haben keinen.
# $field and $expected are from the server, in English.
settings-device-invalid = Der Push-Dienst dieses Browsers kann nicht verwendet werden: { $field } muss { $expected } sein.
settings-device-test-gone = { $device }: Dieses Gerät gibt es nicht mehr. Es wurde entfernt.
settings-device-test-later = { $device }: Der Push-Dienst ist gerade überlastet. Versuchen Sie es später erneut.
settings-device-test-never = { $device }: Der Push-Dienst hat den Test abgelehnt. Schalten Sie Benachrichtigungen auf diesem Gerät erneut ein.

## Delegation rules

settings-rules-lead = Fragt einer Ihrer Agenten nach einer Vertretung, bestimmt die erste passende Regel die Person.
settings-rules-delegate = Geht an
settings-rules-kinds = Welche Fragen
settings-rules-kinds-hint = Nichts angekreuzt: alle.
settings-rules-project = Welches Projekt
settings-rules-project-hint = Nach Namen oder nach der Bezeichnung des Agenten. Leer: alle.
settings-rules-tag = Welches Schlagwort
settings-rules-tag-hint = Leer: alle.
settings-rules-priority = Welche Priorität
settings-rules-none = Sie haben noch keine Regel: Sie werden selbst gefragt.
settings-rules-nobody = In Ihren Projekten ist keine andere Person, deshalb können Sie keine Anfragen weiterleiten.
settings-rules-add = Regel hinzufügen
settings-rules-add-title = Eine Regel hinzufügen
settings-rules-to = An { $name }
settings-rules-any-kind = jede Frage
settings-rules-in-project = in { $project }
settings-rules-with-tag = zu { $tag }
settings-rules-any-priority = Jede
settings-rules-critical = Kritisch
settings-rules-high = Hoch
settings-rules-normal = Normal
settings-rules-low = Niedrig
settings-rules-only-critical = nur kritisch
settings-rules-only-high = nur hoch
settings-rules-only-normal = nur normal
settings-rules-only-low = nur niedrig

## Agents and their keys

settings-agents-lead = Programme, die fragen dürfen. Jedes fragt in einem Projekt und hat eine verantwortliche Person.
settings-agents-id = Name des Agenten
settings-agents-id-hint = Zum Beispiel refund-bot.
settings-agents-id-taken = Ein Agent hat diesen Namen schon.
settings-agents-project = Projekt
settings-agents-owner = Verantwortliche Person
settings-agents-owner-hint = Sie wird gefragt, sofern der Agent keine andere Person nennt.
settings-agents-owner-title = Verantwortliche Person und Unterhaltungen
settings-agents-keys = Schlüssel
settings-agents-facts = in { $project } · verantwortlich: { $owner }
settings-agents-none = Es gibt noch keinen Agenten.
settings-agents-none-yours = Sie haben noch keinen Agenten. Die Administration kann einen für Sie hinzufügen.
settings-agents-more = Weitere Agenten anzeigen
settings-agents-add = Agent hinzufügen
settings-agents-add-title = Einen Agenten hinzufügen
settings-agents-back = Zurück zu allen Agenten
settings-agents-page-lead = Fragt in { $project }. Verantwortliche Person: { $owner }.
settings-agents-conversations = Unterhaltungen
settings-agents-conversations-yes = Personen seines Projekts dürfen ihm zuerst schreiben
settings-agents-no-key = Er hat noch keinen Schlüssel und kann deshalb nicht fragen.
settings-agents-key-label = Wofür der Schlüssel ist
settings-agents-key-label-hint = Um ihn später zu erkennen, zum Beispiel Staging oder Adas Laptop.
settings-agents-key-wide = Umfang
settings-agents-key-wide-yes = Er darf alle Anfragen seines Projekts lesen und zurückziehen, nicht nur die eigenen
settings-agents-key-add = Schlüssel erstellen und einmal anzeigen
settings-agents-key-add-title = Einen Schlüssel erstellen
# $created and $used are relative times.
settings-agents-key-unused = { $id } · erstellt { $created } · nie verwendet
settings-agents-key-used = { $id } · erstellt { $created } · zuletzt verwendet { $used }
settings-agents-key-revoked = widerrufen
settings-agents-key-expired = abgelaufen
settings-agents-key-whole-project = sieht sein ganzes Projekt
settings-agents-key-revoke = Schlüssel widerrufen
settings-agents-key-unnamed = ohne Namen

## A new key; revoking a key

settings-key-new = Ihr neuer Schlüssel
settings-key-new-lead = Für den Agenten { $agent }. Wer den Schlüssel hat, kann als dieser Agent fragen.
# The name of the key that the first run creates.
settings-key-first = erster Schlüssel
settings-key-label = API-Schlüssel
settings-key-examples = Damit fragen: drei Wege
settings-key-curl = Mit curl
settings-key-python = Mit Python
settings-key-terminal = Im Terminal
settings-key-to-inbox = Zum Posteingang: dort erscheint die Frage
settings-key-all = Alle Schlüssel dieses Agenten
settings-key-revoke-title = Einen Schlüssel widerrufen
settings-key-revoke-lead = { $key } des Agenten { $agent }. Programme, die ihn verwenden, können ab sofort nicht mehr fragen. Das lässt sich nicht rückgängig machen; Sie können einen anderen Schlüssel erstellen.
settings-key-revoke-tokens = Token der offenen Anfragen
settings-key-revoke-tokens-yes = Auch die Token zum Prüfen, Antworten und Abfragen der offenen Anfragen beenden, die mit diesem Schlüssel gestellt wurden
settings-key-keep = Diesen Schlüssel behalten
settings-key-revoke-button = Schlüssel widerrufen

## The first run: the demonstration of the inbox

settings-demo-prompt = Vorführung: Ada 120,00 € für Bestellung 4711 erstatten?
settings-demo-context = So sieht eine Anfrage aus. Es fließt kein Geld, und sonst sieht sie niemand.
settings-demo-amount = Betrag
settings-demo-amount-value = 120,00 €
settings-demo-recipient = Empfängerin
settings-demo-recipient-value = Ada Lovelace (erfunden)
settings-demo-effect = Was geschieht
settings-demo-effect-value = Nichts, was immer Sie antworten: Dies ist eine Vorführung
# Part of a message to an administrator.
settings-demo-broken = die Vorführung kann nicht erstellt werden

## Webhooks

settings-webhooks-lead = Countersign ruft diese Adressen auf, wenn mit einer Anfrage etwas geschieht. Die Aufrufe sind signiert.
settings-webhooks-scope = Wessen Anfragen
settings-webhooks-scope-hint = Ein Endpunkt eines Projekts erhält die Ereignisse der Agenten, die keinen eigenen haben.
settings-webhooks-agent = der Agent { $agent }
settings-webhooks-project = das Projekt { $project }
settings-webhooks-url = Adresse
settings-webhooks-url-hint = Eine öffentliche https-Adresse.
settings-webhooks-events = Ereignisse
settings-webhooks-format = Format
settings-webhooks-format-standard = Standard Webhooks
settings-webhooks-format-humanlayer = HumanLayer
settings-webhooks-format-humanlayer-v1beta1 = HumanLayer v1beta1, das bloße Objekt
settings-webhooks-format-humanlayer-v1beta3 = HumanLayer v1beta3, Unterhaltungen in einer Form
settings-webhooks-description = Wofür er ist
settings-webhooks-none = Noch kein Endpunkt. Agenten können auch warten oder abfragen.
settings-webhooks-no-agent = Sie haben keinen Agenten, für den Sie einen Endpunkt hinzufügen könnten.
settings-webhooks-more = Weitere Endpunkte anzeigen
settings-webhooks-add = Hinzufügen und das Geheimnis einmal anzeigen
settings-webhooks-add-title = Einen Endpunkt hinzufügen
settings-webhooks-back = Zurück zu allen Endpunkten
settings-webhooks-disabled = abgeschaltet
settings-webhooks-gone = entfallen
# What happened to a request, after the name of the event: "ask.created: was asked".
settings-topic-created = die Anfrage wurde erstellt
settings-topic-opened = eine Person hat sie geöffnet
settings-topic-claimed = eine Person hat sie übernommen
settings-topic-commented = eine Person hat kommentiert
settings-topic-action-picked = eine Person hat eine Aktion gewählt
settings-topic-escalated = weitere Personen werden gefragt
settings-topic-answered = sie wurde beantwortet
settings-topic-changes-requested = Änderungen wurden verlangt
settings-topic-defaulted = die Vorgabe wurde übernommen
settings-topic-expired = sie ist abgelaufen
settings-topic-cancelled = sie wurde zurückgezogen
settings-topic-revoked = ihr Beleg wurde widerrufen
settings-topic-started = eine Person hat dem Agenten geschrieben
settings-topic-delegate = die Laufzeit des Agenten muss einen Lauf beginnen
settings-topic-block = der Lauf muss anhalten und warten
settings-topic-resume = der Lauf muss weitergehen
settings-topic-handoff = der Lauf muss übernehmen
settings-topic-steer = der Lauf muss eine Nachricht berücksichtigen
settings-topic-stop = der Lauf muss endgültig anhalten

settings-webhook-lead-agent = Für den Agenten { $agent }. Geheimnis Nummer { $number }.
settings-webhook-lead-project = Für das Projekt { $project }. Geheimnis Nummer { $number }.
settings-webhook-disabled-by-hand = Er ist abgeschaltet und erhält keine Ereignisse.
settings-webhook-disabled-gone = Der Endpunkt hat mit 410 geantwortet: Er ist entfallen und abgeschaltet. Die Zustellungen, die er nicht angenommen hat, stehen unten. Schalten Sie ihn ein, um sie erneut zu senden.
settings-webhook-deliveries = Zustellungen
settings-webhook-no-deliveries = Noch nichts, oder seit 30 Tagen nichts.
settings-webhook-older = Ältere anzeigen
settings-webhook-test = Test senden
settings-webhook-test-title = Ausprobieren
settings-webhook-test-sent = Ein Test ist unterwegs; das Ergebnis erscheint unten
settings-webhook-enabled = Eingeschaltet
settings-webhook-enabled-yes = Erhält Ereignisse
settings-webhook-save = Endpunkt speichern
settings-webhook-title = Der Endpunkt
settings-webhook-secret = Signaturgeheimnis
settings-webhook-rotate = Geheimnis wechseln; das alte signiert noch einen Tag lang
settings-webhook-rotate-leaked = Sofort wechseln: Das alte ist bekannt geworden und darf nicht mehr signieren
settings-webhook-remove = Diesen Endpunkt entfernen
settings-webhook-remove-title = Einen Endpunkt entfernen
settings-webhook-remove-lead = { $url }: Er erhält ab sofort keine Ereignisse mehr, und wartende Zustellungen entfallen.
settings-webhook-keep = Diesen Endpunkt behalten
settings-webhook-remove-button = Jetzt entfernen
settings-webhook-secret-title = Das Geheimnis dieses Endpunkts
settings-webhook-secret-lead = Wer es hat, kann Aufrufe von hier prüfen und könnte welche fälschen.
settings-webhook-secret-label = Signaturgeheimnis
settings-webhook-secret-verify = Prüfen Sie jeden Aufruf mit einer Bibliothek für Standard Webhooks; docs/webhooks.md zeigt, wie.
settings-webhook-to-endpoint = Zum Endpunkt
settings-delivery-waiting = wartet
settings-delivery-done = zugestellt
settings-delivery-dead = aufgegeben
settings-delivery-attempts = { $count ->
    [one] 1 Versuch
   *[other] { $count } Versuche
}
# $at is a relative time, $status an HTTP status, $error a message of the network.
settings-delivery-accepted = { $at } mit { $status } angenommen
settings-delivery-refused = { $at } mit { $status } beantwortet
settings-delivery-unreached = { $at } { $error }
settings-delivery-next = nächster Versuch { $at }
settings-delivery-again = Erneut senden
settings-delivery-sent-again = Die Zustellung wird erneut gesendet; das Ergebnis erscheint unten

## People

settings-people-lead = Die Personen, die gefragt werden und sich anmelden können.
settings-people-id = Benutzer-ID
settings-people-id-hint = Buchstaben, Ziffern und -_.@, zum Beispiel ada. Sie lässt sich später nicht ändern.
settings-people-id-taken = Eine Person hat diese Benutzer-ID schon.
settings-people-name = Anzeigename
settings-people-email = E-Mail-Adresse
settings-people-email-hint = Die Person kann sich mit einem Link anmelden, der dorthin gesendet wird.
settings-people-admin = Administration
settings-people-admin-yes = Darf diese Einstellungen ändern
settings-people-active = Aktiv
settings-people-active-yes = Kann sich anmelden und gefragt werden
settings-people-projects = Projekte
settings-people-groups = Gruppen
settings-people-groups-hint = Durch Kommas getrennt.
settings-people-skills = Qualifiziert für
settings-people-skills-hint = Schlagwörter von Anfragen, die die Person aus einem Vorrat übernehmen darf, durch Kommas getrennt.
settings-people-ids-expected = Geben Sie Namen aus Buchstaben, Ziffern und -_.@ ein, durch Kommas getrennt.
settings-people-away = abwesend
settings-people-erased = gelöscht
settings-people-inactive = kann sich nicht anmelden
settings-people-administrator = Administration
settings-people-more = Weitere Personen anzeigen
settings-people-add = Person hinzufügen
settings-people-add-title = Eine Person hinzufügen
settings-people-back = Zurück zu allen Personen
settings-person-lead = Benutzer-ID: { $id }
settings-person-passkeys = Passkeys zu bestätigen
# $added and $from are relative times.
settings-person-passkey = „{ $name }“, hinzugefügt { $added }. Er bestätigt Antworten { $from }, oder sobald Sie ihn bestätigen. Fragen Sie die Person, persönlich oder am Telefon, ob sie ihn hinzugefügt hat.
settings-person-passkey-confirm = Diesen Passkey bestätigen
settings-invite = Einladen
settings-invite-button = Anmeldelink erstellen und einmal anzeigen
settings-invite-title = Ein Anmeldelink für { $name }
settings-invite-lead = Geben Sie ihn der Person selbst. Er gilt einmal, innerhalb von 24 Stunden, und meldet jeden, der ihn öffnet, als diese Person an.
settings-invite-link = Anmeldelink
settings-invite-broken = die Anmeldeadresse kann nicht gebildet werden
settings-end-access = Jeden Zugang beenden
settings-end-access-text = Beendet Sitzungen, Token, Anmeldelinks und Passkeys der Person, setzt ihre Kontaktwege auf „nicht bestätigt“ und beendet die Prüflinks und Nachrichten, die ihr gesendet wurden. Nutzen Sie das, wenn ein Gerät oder ein Konto gestohlen wurde. Ein neuer Anmeldelink lässt sie wieder herein.
settings-end-access-button = Jetzt jeden Zugang beenden
settings-erase-heading = Personenbezogene Daten löschen (DSGVO)
settings-erase-link = Diese Person löschen …
settings-erase-title = { $name } löschen
settings-erase-lead = Die personenbezogenen Daten dieser Person löschen (DSGVO).
settings-erase-removed = Was entfernt wird
settings-erase-removed-data = Name, E-Mail-Adresse, Kontaktwege, Benachrichtigungen, Zeitzone, Ruhezeiten und Abwesenheit; Mitgliedschaften in Projekten und Gruppen; Sitzungen, Passkeys, Anmeldelinks und Token; Geräte; zurückgestellte Anfragen; Weiterleitungsregeln und Eskalationsstufen, die diese Person nennen.
settings-erase-removed-text = Was diese Person geschrieben hat: Kommentare, Gründe, Anmerkungen zu Antworten, Prüfungen und Unterhaltungen mit Agenten. Das geschieht im Hintergrund innerhalb von Minuten.
settings-erase-kept = Was bleibt
settings-erase-kept-text = Die Benutzer-ID und was mit ihr entschieden wurde: Das Prüfprotokoll bleibt überprüfbar. Geschriebene Antworten gehören zu ihren Anfragen und werden mit diesen gelöscht. Sicherungen und Exporte von früher sowie schon gesendete Chatnachrichten und E-Mails ändern sich nicht.
settings-erase-first = Agenten, offene Anfragen und offene Aufgaben dieser Person müssen zuerst übergeben werden.
settings-erase-confirm-hint = Geben Sie zur Bestätigung { $id } ein. Das lässt sich nicht rückgängig machen.
settings-erase-confirm-wrong = Geben Sie zur Bestätigung { $id } ein.
settings-erase-button = Diese Person löschen
settings-erased-lead = Benutzer-ID: { $id }. Diese Person wurde gelöscht.
settings-erased-text = Name, Adressen, Zugangsdaten und Geräte wurden entfernt. Was diese Person zu Anfragen und Aufgaben geschrieben hat, wird im Hintergrund innerhalb von Minuten gelöscht. Das Prüfprotokoll zeigt weiterhin, was diese Benutzer-ID entschieden hat. Sie kann nicht erneut verwendet werden.

## Groups

settings-groups-lead = Ein Agent kann eine Gruppe fragen: Das erste Mitglied, das die Anfrage übernimmt, beantwortet sie.
settings-groups-id = Name der Gruppe
settings-groups-id-hint = Zum Beispiel recht oder bereitschaft.
settings-groups-members = Mitglieder
settings-groups-members-expected = Wählen Sie Personen aus der Liste.
settings-groups-members-none = Wählen Sie mindestens eine Person.
settings-groups-none = Es gibt noch keine Gruppe.
settings-groups-add = Gruppe hinzufügen
settings-groups-add-title = Eine Gruppe hinzufügen
settings-groups-change = Ändern
settings-groups-back = Zurück zu allen Gruppen
settings-group-lead = Genau diese Personen sind in der Gruppe. Eine Gruppe ohne Mitglieder wird entfernt.
settings-group-save = Mitglieder speichern

## Projects

settings-projects-lead = Ein Projekt fasst Agenten und Personen zusammen und enthält die Regeln für ihre Anfragen.
settings-projects-id = Name des Projekts
settings-projects-id-hint = Zum Beispiel abrechnung. Er lässt sich später nicht ändern.
settings-projects-id-taken = Ein Projekt hat diesen Namen schon.
settings-projects-silence-allowed = ein Agent darf ohne Antwort weitermachen
settings-projects-silence-forbidden = ohne Antwort geschieht nichts
settings-projects-reminders = { $count ->
    [one] 1 Erinnerung
   *[other] { $count } Erinnerungen
}
settings-projects-steps = { $count ->
    [one] 1 Eskalationsstufe
   *[other] { $count } Eskalationsstufen
}
settings-projects-more = Weitere Projekte anzeigen
settings-projects-add = Projekt hinzufügen
settings-projects-add-title = Ein Projekt hinzufügen
settings-projects-back = Zurück zu allen Projekten
settings-project-lead = Die Regeln für Anfragen dieses Projekts. Schon erstellte Anfragen behalten die Regeln von damals.
settings-project-save = Regeln speichern
settings-project-assurance = Erforderliche Identitätsprüfung
settings-project-assurance-hint = Antworten mit einer schwächeren Prüfung werden abgelehnt.
settings-assurance-agent-attested = Keine: Nur der Agent bürgt für die Person; das schließt Prüflinks ein, die Agenten erhalten haben
settings-assurance-link = Ein Link oder eine Antwortadresse, die Countersign an eine bestätigte Adresse gesendet hat
settings-assurance-channel = Ein verknüpftes Chatkonto oder eine E-Mail mit geprüftem Absender
settings-assurance-session = Eine angemeldete Person
settings-assurance-passkey = Ein Passkey, für jede Antwort
settings-project-irreversible = Erforderliche Identitätsprüfung für unumkehrbare oder kritische Genehmigungen
settings-project-irreversible-none = Wie für jede Antwort
settings-project-irreversible-hint = Jede Person, die antworten darf, kann eine solche Anfrage ablehnen oder Änderungen verlangen. Ist hier mehr als das Wort des Agenten verlangt, wird sie nie durch Schweigen genehmigt.
settings-project-silence = Ohne Antwort
settings-project-silence-yes = Ein Agent darf bestimmen, was dann geschieht
settings-project-silence-no = Kein Agent darf Schweigen als Zustimmung oder andere Antwort werten
settings-project-envelopes = Umschläge von Nachrichten
settings-project-envelopes-lenient = Gültige Teile annehmen und Fehler vermerken
settings-project-envelopes-strict = Anfragen mit ungültigem Umschlag ablehnen
settings-project-envelopes-hint = Wie sicher Agenten sind, was sie annehmen und mehr, im Umschlag von HXP eXperience.
settings-project-reminders = Erinnerungen
settings-project-reminders-hint = Wie lange nach der Anfrage, durch Kommas getrennt: 15 min, 1 h, 1 day. Sie gelten, wenn der Agent keine nennt, und enden mit dem Ablauf der Anfrage.
settings-project-retention = Aufbewahrung
settings-project-retention-hint = Wie lange Texte bleiben, nachdem eine Anfrage oder Aufgabe abgeschlossen ist: 30d, 12h oder off für immer. Leer heißt: wie auf diesem Server üblich. Entscheidungen und ihr Nachweis bleiben.
settings-project-recipients = Empfänger von Agenten
settings-project-recipients-project = Personen dieses Projekts, die verantwortliche Person des Agenten und erlaubte Empfänger
settings-project-recipients-any = Jede Adresse, die ein Agent nennt
settings-project-recipients-hint = Anfragen eines Agenten an andere Adressen werden abgelehnt.
settings-project-allowed = Erlaubte Empfänger
settings-project-allowed-hint = Weitere Adressen, die Agenten nutzen dürfen, durch Kommas getrennt: slack:C0123ABC, email:ops@example.com, @example.com für eine E-Mail-Domain, sms:* für jede Nummer.
settings-project-quotas = Kontingente
settings-project-quotas-hint = Worin dieses Projekt vom Server abweicht, durch Kommas getrennt: agent.open_asks=100, project.notifications=500. 0 heißt: keine Grenze.
settings-project-escalation = Eskalation
settings-project-step = Stufe { $step }
settings-project-step-after = Stufe { $step }: nach
settings-project-step-ask = Stufe { $step }: fragen
settings-project-step-hint = Wer zusätzlich gefragt wird, wenn die Anfrage bis dahin nicht beantwortet ist. Leeren Sie eine Stufe, um sie zu entfernen.
settings-project-step-nobody = Niemand
settings-project-step-anyone = Alle im Projekt
settings-project-step-group = Die Gruppe { $group }
settings-project-step-expected = Wählen Sie, wer gefragt wird, oder leeren Sie die Stufe.

## Signing keys

settings-signing-lead = Jeder Beleg ist mit einem dieser Schlüssel signiert. Der Name eines Schlüssels ist der Fingerabdruck seines öffentlichen Teils.
settings-signing-revoked = widerrufen
settings-signing-revoked-facts = erstellt { $created } · widerrufen { $at }: { $reason } · seine Signaturen sind ungültig
settings-signing-destroyed = vernichtet
settings-signing-destroyed-facts = erstellt { $created } · privater Schlüssel vernichtet { $at } von { $by } · weiterhin vertrauenswürdig
settings-signing-retired = abgelöst
settings-signing-retired-facts = erstellt { $created } · signierte bis { $at } · weiterhin vertrauenswürdig
settings-signing-current = signiert jetzt
settings-signing-current-facts = erstellt { $created }
settings-signing-verify = Einen Beleg prüfen, mit oder ohne diesen Server
settings-signing-rotate = Schlüssel wechseln oder widerrufen, dort, wo der Server läuft
settings-signing-destroy = Den privaten Schlüssel eines abgelösten vernichten; seine Belege bleiben gültig
settings-signing-note = Schlüssel werden dort geändert und nicht hier, damit niemand sie mit einer gestohlenen Browsersitzung ändern kann.
settings-signing-unreadable = die Signaturschlüssel können nicht gelesen werden

## Sign-in

sign-in-title = Bei Countersign anmelden
sign-in-title-link = Mit Ihrem Link anmelden
sign-in-lead = KI-Agenten stellen Ihnen hier Fragen und handeln nach Ihren Antworten.
sign-in-lead-link = KI-Agenten stellen Ihnen hier Fragen und handeln nach Ihren Antworten. Dieser Link gilt einmal.
sign-in-button-link = Auf diesem Gerät anmelden
sign-in-button-provider = Mit { $name } anmelden
sign-in-email = Ihre E-Mail-Adresse
sign-in-button-email = Anmeldelink senden
sign-in-button-passkey = Mit einem Passkey anmelden
sign-in-hint = Oder öffnen Sie einen Anmeldelink, den Sie erhalten haben. Der Server gibt beim ersten Start einen aus, und die Administration kann Ihnen einen neuen erstellen.
sign-in-again = Erneut anmelden

## Confirming an answer with a passkey

sign-in-confirm-title = Antwort bestätigen
sign-in-confirm-heading = Bestätigen Sie Ihre Antwort mit Ihrem Passkey
sign-in-confirm-lead = Für diese Anfrage genügt die Anmeldung nicht. Es wurde noch nichts gesendet.
sign-in-confirm-asked = Sie wurden gefragt
sign-in-confirm-answer = Ihre Antwort
sign-in-confirm-back = Zurück zur Anfrage

## Passkeys

sign-in-passkeys-title = Ihre Passkeys
sign-in-passkeys-lead = Ein Passkey meldet Sie mit Fingerabdruck, Gesicht oder PIN an. Manche Anfragen lassen sich nur mit einem Passkey beantworten.
sign-in-passkeys-none = Sie haben noch keinen.
# $when is a relative time: "3 days ago", "in 2 hours".
sign-in-passkey-added = Hinzugefügt { $when }
sign-in-passkey-used = zuletzt verwendet { $when }
sign-in-passkey-pending = Meldet Sie an, bestätigt aber noch keine Antworten. Das beginnt { $when }, oder sobald die Administration ihn bestätigt.
sign-in-passkey-never-used = noch nicht verwendet
sign-in-passkey-add = Einen Passkey hinzufügen
sign-in-passkey-add-button = Passkey auf diesem Gerät hinzufügen
sign-in-passkey-add-another = Einen weiteren Passkey hinzufügen
sign-in-passkey-add-another-text = Bestätigen Sie zuerst mit einem vorhandenen Passkey. Haben Sie ihn verloren, melden Sie sich erneut an und entfernen Sie ihn, oder bitten Sie die Administration darum.
sign-in-passkey-name = Name
sign-in-passkey-name-example = Arbeitslaptop
sign-in-passkey-confirm = Mit Ihrem Passkey bestätigen
sign-in-passkey-again-first = Melden Sie sich zuerst erneut an. Ihr erster Passkey braucht eine Anmeldung aus den letzten zehn Minuten.
sign-in-passkey-remove-title = Einen Passkey entfernen
sign-in-passkey-remove-heading = Diesen Passkey entfernen?
sign-in-passkey-remove-text = Bestätigen Sie mit einem vorhandenen Passkey. Haben Sie ihn verloren, melden Sie sich erneut an: Danach können Sie zehn Minuten lang einen Passkey ohne Bestätigung entfernen.
sign-in-passkey-keep = Diesen Passkey behalten
sign-in-passkey-remove-button = Mit Ihrem Passkey entfernen
sign-in-passkey-javascript = Passkeys brauchen JavaScript.
sign-in-passkey-unsupported = Dieser Browser unterstützt keine Passkeys.
sign-in-passkey-exists = Sie haben auf diesem Gerät schon einen Passkey.
sign-in-passkey-not-verified = Es wurde nichts geändert: Der Passkey wurde nicht verwendet, oder seine Signatur ist ungültig.
sign-in-passkey-not-created = Es wurde nichts geändert: Der Passkey wurde nicht erstellt.
sign-in-passkey-unused = Der Passkey wurde nicht verwendet. Versuchen Sie es erneut, wenn Sie bereit sind.

## Sessions

sign-in-sessions-lead = Melden Sie Browser ab, die Sie nicht kennen oder nicht mehr nutzen. Wer in Ihrem Namen angemeldet ist, kann in Ihrem Namen antworten.
sign-in-session-link = Angemeldet { $when } mit einem Anmeldelink
sign-in-session-email = Angemeldet { $when } mit einem Link per E-Mail
sign-in-session-passkey = Angemeldet { $when } mit einem Passkey
sign-in-session-oidc = Angemeldet { $when } über Ihre Organisation
sign-in-session-since = Angemeldet { $when }
sign-in-session-used = zuletzt verwendet { $when }
sign-in-session-ends = endet { $when }
sign-in-session-end = Abmelden
sign-in-session-which = { $browser }, angemeldet { $since }
sign-in-session-end-others = Überall sonst abmelden

## Signing in on the command line

cli-login-title = Im Terminal anmelden
cli-login-heading = Im Terminal anmelden?
# $device is the name of the computer.
cli-login-asks = { $days ->
    [one] Der Befehl <code>countersign</code> auf <strong dir="auto">{ $device }</strong> möchte sich in Ihrem Namen anmelden. Er kann dann alles tun, was Sie hier tun können, { $days } Tag lang oder bis Sie sich dort mit <code>countersign logout</code> abmelden.
   *[other] Der Befehl <code>countersign</code> auf <strong dir="auto">{ $device }</strong> möchte sich in Ihrem Namen anmelden. Er kann dann alles tun, was Sie hier tun können, { $days } Tage lang oder bis Sie sich dort mit <code>countersign logout</code> abmelden.
}
cli-login-compare = Ihr Terminal zeigt diesen Code. Vergleichen Sie beide: <strong class="mono">{ $code }</strong>
cli-login-warning = Fahren Sie nur fort, wenn Sie <code>countersign login</code> selbst gestartet haben. Hat Ihnen jemand diesen Link geschickt, schließen Sie die Seite.
cli-login-confirm = Im Terminal anmelden
cli-login-copy-code = Kopieren Sie diesen Code in Ihr Terminal
cli-login-code-hint = Der Code gilt einmal, zehn Minuten lang, und nur in dem Terminal, in dem Sie <code>countersign login</code> gestartet haben. Geben Sie ihn an niemanden weiter.
cli-login-code = Code
cli-login-go-back = Gehen Sie zurück zu Ihrem Terminal
cli-login-go-back-hint = Wenn es in Ihrem Terminal nicht innerhalb weniger Sekunden von selbst weitergeht, benutzen Sie diesen Link.
cli-login-continue = Im Terminal fortfahren
cli-login-invalid = Ein Teil der Adresse fehlt oder ist falsch. Führen Sie <code>countersign login</code> erneut aus und öffnen Sie die ganze Adresse, die dort erscheint.
