### Aufgaben und Ledger.

## The board

tasks-title = Aufgaben
tasks-lead = Arbeit, die Agenten übertragen ist.
tasks-new = Neue Aufgabe
tasks-back = Zurück zur Übersicht
tasks-whose = Wessen Aufgaben
tasks-of-projects = Aus Ihren Projekten
tasks-yours = Ihre
tasks-empty = Hier ist noch keine Aufgabe
tasks-empty-text = Schreiben Sie das Ziel und die Abnahmekriterien auf und weisen Sie die Aufgabe einem Agenten zu. Er fragt Sie, wo er nicht entscheiden kann, liefert, und Sie prüfen das Ergebnis.
tasks-show-changes = Änderungen anzeigen
tasks-column-not-started = Nicht begonnen
tasks-column-in-progress = In Arbeit
tasks-column-blocked = Blockiert
tasks-column-in-review = In Prüfung
tasks-column-closed = Abgeschlossen
tasks-column-empty = Nichts.
tasks-column-end = Nichts weiter.
tasks-column-more = Mehr anzeigen
tasks-waits-for-you = Wartet auf Sie
# $when is a relative time: "in 3 hours", "3 days ago".
task-due = fällig { $when }
task-was-due = war fällig { $when }

## A new task

task-new-more = Mehr: Prüfende, übergeordnete Aufgabe, Berechtigungen
task-new-button = Aufgabe erstellen
task-new-refused = Es wurde keine Aufgabe erstellt. Alle Ihre Eingaben sind noch da.
task-goal = Ziel
task-new-goal-hint = In Ihren Worten. Es bleibt, wie Sie es schreiben; später können Sie es ergänzen.
task-new-goal-missing = Geben Sie das Ziel ein
task-criteria = Abnahmekriterien
task-new-criteria-hint = Eine Bedingung pro Zeile. Prüfende sehen sie als Checkliste.
task-new-agent = Zuweisen an
task-new-agent-hint = Sie können die Aufgabe auch später zuweisen.
task-new-nobody = Noch niemand
task-new-deadline = Frist
task-new-deadline-hint = In { $zone }. Lassen Sie das Feld leer, wenn es nicht eilt.
task-new-deadline-expected = Wählen Sie Tag und Uhrzeit, oder lassen Sie das Feld leer
task-new-deadline-past = Wählen Sie einen Zeitpunkt in der Zukunft.
task-new-project-expected = Wählen Sie eines dieser Projekte
task-new-project-refused = Wählen Sie ein Projekt, in dem Sie Mitglied sind.
task-new-autonomy = Was der Agent ohne Rückfrage darf
task-new-reviewers = Prüfende
task-new-reviewers-hint = Mitglieder des Projekts. Niemand angekreuzt: Sie prüfen.
task-new-reviewers-lines = Eine Person pro Zeile, mit Benutzer-ID, zum Beispiel user_olga. Niemand genannt: Sie prüfen.
task-new-reviewers-expected = Nennen Sie Mitglieder des Projekts der Aufgabe
task-new-quorum = Wie viele von ihnen annehmen müssen
task-new-quorum-all = Alle
task-new-quorum-majority = Mehr als die Hälfte
task-new-quorum-any = Eine Person
task-new-parent = Teil welcher Aufgabe
task-new-parent-hint = Die Adresse ihrer Seite oder ihre ID, zum Beispiel task_01KA3W…
task-new-parent-expected = Geben Sie die Adresse einer Aufgabe oder ihre ID ein
task-new-parent-unknown = Keine Aufgabe, die Sie sehen können, hat diese ID.
task-new-inputs-hint = Pro Zeile eine Adresse oder ein Artefakt mit seiner Version, zum Beispiel art_01KA… v2.
task-new-inputs-expected = Schreiben Sie in Zeile { $line } eine Adresse oder art_… und die Version
task-new-max-duration = Zeitlimit
task-new-max-duration-hint = Ab Beginn der Arbeit, zum Beispiel 30m, 2h oder 1d.
task-new-max-duration-expected = Geben Sie eine Dauer ein, zum Beispiel 30m, 2h oder 1d
task-new-allow = Ohne Rückfrage erlaubt
task-new-allow-hint = Ein Bereich pro Zeile, zum Beispiel bash:*, fs:/repo:write oder * für alles.
task-new-deny = Verboten
task-new-deny-hint = Ein Bereich pro Zeile, wie oben. Verbotenes bleibt verboten, was auch immer erlaubt ist.
task-new-scope-expected = Schreiben Sie in Zeile { $line } einen Bereich wie bash:*, fs:/repo:write oder *
task-new-until = Wie lange diese Berechtigungen gelten
task-new-until-run = Während des ersten Laufs
task-new-delegable = Weitergabe
task-new-delegable-yes = Der Agent darf die Aufgabe an einen anderen Agenten weitergeben
task-new-silence = Wenn niemand rechtzeitig entscheidet
task-new-silence-hint = Eine Entscheidung, um die der Agent bittet, kann eine Frist haben.
task-new-silence-wait = Die Aufgabe wartet, bis Sie doch noch entscheiden
task-new-silence-cancel = Die Aufgabe wird abgebrochen
task-new-capabilities = Erforderliche Fähigkeiten
task-new-capabilities-hint = Pro Zeile ein Name und, wenn nötig, die Version, zum Beispiel sql 2.
task-new-capabilities-expected = Schreiben Sie in Zeile { $line } einen Namen und eine Version
task-new-refs = Verweise auf andere Systeme
task-new-refs-hint = Pro Zeile die Art, das System und die ID, zum Beispiel issue github 42.
task-new-refs-expected = Schreiben Sie in Zeile { $line } die Art, das System und die ID
task-new-kind = Art der Aufgabe
task-new-kind-hint = In einem Wort oder zwei, für Agenten und Listen.
task-new-too-many-lines = Verwenden Sie höchstens { $count } Zeilen
task-new-too-many-permissions = Verwenden Sie höchstens { $count } Zeilen, zusammen mit dem Erlaubten
task-new-sent-before = Dieses Formular wurde schon einmal mit anderem Inhalt gesendet, und das ist angekommen. Ist dies eine andere Aufgabe, erstellen Sie sie jetzt.
task-agent-in-project = { $agent } in { $project }

## The room of a task

task-overline = Aufgabe in { $project }
# $who is a person, $when a relative time.
task-written = Erstellt von <bdi>{ $who }</bdi> { $when }
task-then = So war die Aufgabe { $when }
task-then-text = Nach Ereignis { $event } von { $last }, { $exact }. Hier können Sie nichts ändern.
task-then-now = Die Aufgabe anzeigen, wie sie jetzt ist
task-show-now = Die Aufgabe hat sich geändert. Aktuellen Stand anzeigen
# $state is the state of the task: "In progress".
task-changed = Die Aufgabe hat sich geändert: { $state }
task-stages = Fortschritt
task-stage-created = Erstellt
task-stage-assigned = Zugewiesen
task-stage-in-progress = In Arbeit
task-stage-in-progress-again = Wieder in Arbeit
task-stage-delivered = Geliefert
task-stage-reviewed = Geprüft
# Read aloud after the name of a stage.
task-stage-is-now = jetzt
task-stage-is-done = erledigt
task-stage-is-skipped = nicht nötig
task-stage-is-left = steht aus
task-criteria-hint = Kreuzen Sie an, was Sie geprüft haben. Nur Sie sehen die Kreuze; sie bleiben in diesem Browser.
task-with-you = Sie liegt bei Ihnen.
task-with = Zuständig: <bdi>{ $who }</bdi>.
task-deadline-is = Sie ist <span class="exact">{ $exact }</span> fällig.
task-deadline-was = Sie war <span class="exact">{ $exact }</span> fällig.
task-answer-pending = Die wartende Frage beantworten
task-to-review = Zu Ihrer Prüfung
task-facts = Was Countersign weiß
task-facts-principal = Verantwortliche Person
task-facts-reviewers = Prüfende
task-facts-autonomy = Der Agent darf
task-facts-delegable = Er darf sie an einen anderen Agenten weitergeben
task-facts-parent = Teil von
task-facts-inputs = Eingaben
task-facts-chain = Zuweisungen
task-facts-handover = Von <bdi>{ $from }</bdi> an <strong><bdi>{ $to }</bdi></strong>
task-facts-messages = Nachrichten an den Agenten
task-facts-permissions = Berechtigungen
task-facts-more = { $count ->
    [one] 1 früherer Eintrag steht im Verlauf.
   *[other] { $count } frühere Einträge stehen im Verlauf.
}
task-facts-run = Lauf
task-facts-parts = Teile
task-facts-new-part = Eine Aufgabe erstellen, die Teil dieser ist
task-facts-id = Aufgabe
task-facts-revision = { $id }, Revision { $revision }

## Decisions

task-decisions = Entscheidungen
task-decision-asked = gefragt von <bdi>{ $who }</bdi> { $when }
task-decision-by-principal = der verantwortlichen Person
task-decision-hidden = Eine Frage, die Sie nicht lesen dürfen
task-decision-actions = { $count ->
    [one] { $outcome }, { $allowed } von 1 Aktion erlaubt
   *[other] { $outcome }, { $allowed } von { $count } Aktionen erlaubt
}
task-decision-answer = Lesen und beantworten
task-decision-open = Diese Anfrage öffnen
task-decisions-more = { $count ->
    [one] 1 ältere Entscheidung steht unten im Verlauf.
   *[other] { $count } ältere Entscheidungen stehen unten im Verlauf.
}

## Deliveries

task-deliveries = Lieferungen
task-checksum = Prüfsumme
task-download = { $version } herunterladen
task-download-all = Alles herunterladen
task-versions-more = { $count ->
    [one] 1 ältere Version lässt sich unten auswählen.
   *[other] { $count } ältere Versionen lassen sich unten auswählen.
}
task-verdict-by = { $verdict } von { $who }
task-version-unknown = Hierzu ist nichts mehr bekannt
task-compare-older = Ältere Version
task-compare-none = Keine: nur die neuere
task-compare-newer = Neuere Version
task-compare-button = Nebeneinander anzeigen
task-compare-title = { $older } neben { $newer }
task-agents-words = Worte des Agenten
task-picture = Das Bild, das als { $version } geliefert wurde
task-rendered = Formatiert
task-rendered-cut = Es geht weiter; laden Sie es herunter, um alles zu lesen.
task-lines = Zeile für Zeile
task-lines-of = { $title }, Zeile für Zeile
task-same-lines = { $count ->
    [one] 1 gleiche Zeile
   *[other] { $count } gleiche Zeilen
}
task-line-removed = entfernt:
task-line-added = hinzugefügt:
task-lines-same = Beide sind gleich.
task-line-count = { $count ->
    [one] 1 Zeile
   *[other] { $count } Zeilen
}
task-lines-added = { $count ->
    [one] 1 Zeile hinzugefügt
   *[other] { $count } Zeilen hinzugefügt
}
task-lines-removed = { $count ->
    [one] 1 Zeile entfernt
   *[other] { $count } Zeilen entfernt
}
task-more-lines = { $count ->
    [one] 1 weitere Zeile wird hier nicht angezeigt.
   *[other] { $count } weitere Zeilen werden hier nicht angezeigt.
}
task-version-cut = Es geht über das hier Gezeigte hinaus weiter.
task-version-binary = Das ist weder Text noch Bild. Laden Sie es herunter, um es anzusehen.
task-version-elsewhere = Es ist anderswo gespeichert; Countersign hat nur die Angaben oben.
task-version-missing = Der Inhalt ist nicht mehr hier.
task-version-unreadable = Der Inhalt kann gerade nicht gelesen werden. Versuchen Sie es in einer Minute erneut.
# Part of a message to an administrator.
task-version-error = die Lieferung kann nicht gelesen werden

## Reviews

task-reviews = Prüfungen
task-reviews-more = { $count ->
    [one] 1 frühere Prüfung steht im Verlauf.
   *[other] { $count } frühere Prüfungen stehen im Verlauf.
}
# After the verdict: "Accepted  Ada on v2".
task-review-of = <strong><bdi>{ $who }</bdi></strong> zu { $version }
task-review-erased = Der Text wurde gelöscht.
task-review-title = { $version } prüfen
task-review-press = Drücken Sie eine der Schaltflächen unten
task-review-quorum-all = Angenommen ist die Lieferung, wenn auch { $names } sie annehmen.
task-review-quorum-majority = Angenommen ist die Lieferung, wenn mehr als die Hälfte von Ihnen sie annimmt; auch { $names } prüfen sie.
task-review-quorum-any = Ihre Prüfung genügt; auch { $names } könnten prüfen.
task-review-comments = Kommentare zu Zeilen
task-review-click = Klicken Sie oben auf eine Zeile, um sie zu kommentieren.
task-review-line = Zeile
task-review-severity = Schweregrad
task-review-nth = Kommentar { $n }
task-review-add-comment = Kommentar hinzufügen
task-review-changes = Was sich ändern muss
task-review-changes-hint = Ein Punkt pro Zeile. Der Agent erhält sie als Liste. Nötig, um Änderungen zu verlangen.
task-review-plan = Das ist nur der Plan
task-review-plan-note = Mit der Annahme macht der Agent weiter; die Aufgabe bleibt offen.
task-review-accept = { $version } annehmen
task-review-accept-note = Der Agent erhält alles, was Sie oben geschrieben haben
task-review-request-changes = Änderungen verlangen
task-review-request-changes-note = Der Agent macht weiter und liefert erneut
task-review-reject = { $version } ablehnen und die Aufgabe beenden
task-review-reject-note = Die Aufgabe ist damit endgültig abgeschlossen
task-review-no-verdict = Drücken Sie eine der Schaltflächen
task-review-no-changes = Geben Sie ein, was sich ändern muss; der Agent braucht es
task-comment = Kommentar
task-comment-added = hinzugefügt von <bdi>{ $who }</bdi> { $when }
task-remark = Diese Prüfung ergänzen
task-remark-text = Ihr Kommentar
task-remark-button = Kommentar hinzufügen
task-remark-missing = Schreiben Sie, was Sie ergänzen möchten
task-remarked = Ihr Kommentar wurde hinzugefügt
task-remarked-text = Alle, die diese Aufgabe sehen, können ihn lesen.
task-reviewed = Ihre Prüfung wurde festgehalten
task-reviewed-text = Der Agent hat sie jetzt, mit allem, was Sie geschrieben haben.

## Actions of the task's owner

task-assign = Einem Agenten zuweisen
task-assign-choose = Wählen Sie einen Agenten
task-assign-button = Zuweisen
task-assigned = Die Aufgabe wurde zugewiesen
task-assigned-text = Der Agent wurde benachrichtigt und beginnt von selbst.
task-amend = Nachricht an den Agenten
task-amend-text = Nachricht
task-amend-intent = Zweck
task-amend-hint = Der Agent arbeitet weiter und liest die Nachricht, sobald er kann. Das Ziel bleibt, wie es geschrieben wurde.
task-amend-button = An den Agenten senden
task-amend-missing = Schreiben Sie die Nachricht an den Agenten
task-amend-no-intent = Wählen Sie den Zweck der Nachricht
task-amended = Die Nachricht wurde gesendet
task-amended-text = Der Agent arbeitet weiter und berücksichtigt sie.
task-interrupt = Den Agenten vorerst anhalten
task-interrupt-why = Warum Sie ihn anhalten
task-interrupt-hint = Er wartet, bis Sie ihn weitermachen lassen; das ist eine Anfrage in Ihrem Posteingang.
task-interrupt-button = Agenten anhalten
task-interrupt-missing = Geben Sie an, warum Sie ihn anhalten
task-interrupted = Der Agent wurde angehalten
task-interrupted-text = Er macht weiter, sobald Sie die Anfrage beantworten, die jetzt in Ihrem Posteingang ist.
task-decide = Doch noch entscheiden
task-decide-what = Frage
task-decide-hint = Niemand hat rechtzeitig geantwortet, und der Agent wartet noch. Hiermit kommt eine neue Frage in den Posteingang; ist sie beantwortet, macht der Agent weiter.
task-decide-button = Erneut fragen
task-grant = Etwas erlauben oder verbieten
task-grant-decision = Berechtigung
task-grant-allow = Erlauben, ohne Rückfrage
task-grant-deny = Verbieten
task-grant-scope = Bereich
task-grant-scope-hint = Zum Beispiel <code>bash:*</code>, <code>fs:/repo:write</code> oder <code>*</code> für alles. Verbotenes bleibt verboten, was auch immer erlaubt ist.
task-grant-until = Gültig
task-grant-until-task = Für die ganze Aufgabe
task-grant-until-run = Während dieses Laufs
task-grant-until-moment = Bis zu einem Zeitpunkt
task-grant-moment = Zeitpunkt, in { $zone }
task-grant-button = Berechtigung festlegen
task-grant-missing = Wählen Sie Erlauben oder Verbieten, einen Bereich und die Gültigkeit
task-granted = Die Berechtigung wurde festgelegt
task-granted-text = Der Agent wurde benachrichtigt.
task-transfer = Übernehmen oder neu zuweisen
task-transfer-take = Selbst übernehmen
task-transfer-take-note = Der Agent, der daran arbeitet, hört auf
task-transfer-to = Zuweisen an
task-transfer-choose = Wählen Sie eine Person oder einen Agenten
task-transfer-button = Aufgabe neu zuweisen
task-transferred = Die Aufgabe wurde neu zugewiesen
task-transferred-text = Der bisherige Agent wurde angewiesen aufzuhören.
task-cancel = Aufgabe abbrechen
task-cancel-reason = Grund
task-cancel-button = Aufgabe abbrechen
task-cancel-note = Der Agent hört auf. Das lässt sich nicht rückgängig machen.
task-cancelled = Die Aufgabe wurde abgebrochen
task-cancelled-text = Der Agent wurde angewiesen aufzuhören.
task-load-again = Laden Sie die Seite neu
task-wrong = Eine Angabe muss korrigiert werden
# $expected is a sentence without its full stop: "Choose an agent".
task-wrong-text = { $expected }. Es wurde nichts geändert, und Ihre Eingaben sind noch da.
task-not-yours = Es wurde nichts geändert. Nur { $who }, die verantwortliche Person, kann das tun.
task-moved-on = Die Aufgabe hat sich inzwischen geändert
task-moved-on-text = Es wurde nichts geändert. Ihr Stand jetzt: { $state }.
task-no-earlier-state = Wählen Sie einen Zeitpunkt nach dem Erstellen der Aufgabe

## Activity: each text follows the name of a person or an agent, "Ada | created the task"

task-activity = Verlauf
task-event = Ereignis { $event }
task-event-then = Die Aufgabe anzeigen, wie sie danach war
task-earlier-events = Frühere Ereignisse anzeigen
task-at-moment = Die Aufgabe zu einem Zeitpunkt anzeigen, in { $zone }
task-at-moment-button = Damaligen Stand anzeigen
task-event-created = hat die Aufgabe erstellt
task-event-assigned = hat sie dem Agenten { $agent } zugewiesen
task-event-started = hat begonnen
task-event-cancelled = hat die Aufgabe abgebrochen
task-event-interrupted = hat den Agenten angehalten
task-event-asked-approval = hat um eine Genehmigung gebeten
task-event-asked-choice = hat um eine Auswahl gebeten
task-event-asked-input = hat um Angaben gebeten
task-event-asked-help = hat um Hilfe gebeten
task-event-waits = wartet, bis eine Person den Agenten weitermachen lässt
task-event-approved = hat genehmigt
task-event-rejected = hat abgelehnt und die Aufgabe beendet
task-event-chose = hat { $choice } gewählt
task-event-answered = hat geantwortet
task-event-timed-out = hat die Frage geschlossen, weil die Zeit abgelaufen war
task-event-closed = hat die Frage ohne Antwort geschlossen
task-event-withdrew = hat die Frage zurückgezogen
task-event-closed-with-task = hat die Frage mit der Aufgabe geschlossen
task-event-message = hat dem Agenten eine Nachricht gesendet: { $intent }
task-event-allowed = hat { $scope } erlaubt
task-event-forbade = hat { $scope } verboten
task-event-transferred = hat sie { $to } neu zugewiesen
task-event-delegated = hat sie an den Agenten { $agent } weitergegeben
task-event-delivered = hat { $version } geliefert
task-event-reviewed = hat { $version } geprüft: { $verdict }
task-event-remarked = hat eine Prüfung ergänzt
task-event-completed = hat die Aufgabe abgeschlossen
task-event-referenced = verwendet { $artifact } { $version }
task-event-shared = hat Aufgaben von { $project } erlaubt, { $artifact } zu verwenden
task-event-wrote = hat { $key } in das Ledger von { $scope } geschrieben
task-event-erased = hat den Text gelöscht; das Prüfprotokoll bleibt überprüfbar
task-event-request-erased = hat den Text einer Anfrage gelöscht
task-event-person-erased = hat gelöscht, was eine gelöschte Person geschrieben hat
task-event-other = hat etwas anderes geändert

## Ledgers

ledgers-title = Ledger
ledgers-lead = Was sich Ihre Projekte und Teams von Aufgabe zu Aufgabe merken. Aufgaben schreiben hier hinein; nichts wird je entfernt.
ledgers-none = Ein solches Ledger haben Sie nicht
ledgers-none-text = Ein Ledger ist nach einem Projekt oder Team benannt, in dem Sie sind, oder nach der Organisation: project:shop, team:sales, org:all.
ledgers-team = Team
ledgers-organisation = Organisation
ledgers-written = hat Einträge
ledgers-unwritten = noch keine Einträge
ledgers-by-name = Ein anderes Ledger, nach seinem Namen
ledgers-open = Dieses Ledger öffnen
ledgers-back = Zurück zu allen Ledgern
ledger-overline = Ledger von { $scope }
ledger-lead = Der neueste Wert jedes Schlüssels.
ledger-key-lead = Alle Werte dieses Schlüssels, der neueste zuerst.
ledger-agents-words = Das meiste schreiben Agenten: Lesen Sie es als deren Worte.
ledger-empty = Noch keine Einträge.
ledger-end = Nichts weiter.
ledger-version = Version { $number }
ledger-value = Wert
# $when is a relative time, $task the id of the task that wrote it.
ledger-written = { $count ->
    [one] 1-mal geschrieben, zuletzt { $when } von <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
   *[other] { $count }-mal geschrieben, zuletzt { $when } von <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
}
ledger-version-by = { $when } von <a class="tall" href="{ $href }"><bdi>{ $task }</bdi></a>
ledger-older = Ältere Werte anzeigen
ledger-more = Weitere Schlüssel anzeigen
ledger-back = Zurück zu diesem Ledger
