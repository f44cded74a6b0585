//! The same pages for a reader of German.

use scraper::Html;

use crate::every_page::{all, text};
use crate::samples::{german_pages, pages};

/// Every page is in the reader's language, and its scripts are too.
#[test]
fn every_page_is_in_the_language_of_its_reader() {
    assert_eq!(german_pages().len(), pages().len());
    for ((name, english), (_, german)) in pages().iter().zip(german_pages()) {
        let [english, german] = [english, german].map(|html| Html::parse_document(html));
        assert_eq!(all(&english, "html[lang=en]").len(), 1, "{name}");
        assert_eq!(all(&german, "html[lang=de]").len(), 1, "{name}");
        assert_eq!(text(all(&german, ".skip")[0]), "Zum Inhalt springen", "{name}");
        let words = |page: &Html| {
            all(page, "script[src*='/words.']")[0].attr("src").unwrap_or_default().to_owned()
        };
        assert_ne!(words(&english), words(&german), "{name}");
    }
}

/// The texts of pages whose words are all ours differ in the two languages.
#[test]
fn lists_and_notes_are_german() {
    let main = |name: &str| {
        let page = german_pages().iter().find(|(n, _)| n == name).expect(name);
        text(all(&Html::parse_document(&page.1), "main")[0])
    };
    for (name, expected) in [
        ("inbox-aside-empty", "Nichts zurückgestellt"),
        ("inbox-members", "1 ähnliche Anfrage"),
        ("inbox-folded", "12 ähnliche Anfragen, insgesamt 79,20 EUR"),
        ("inbox-folded", "Mark Osei sieht sie gerade an"),
        ("history-empty", "7 Ereignisse warten auf den ersten Block"),
        ("bulk-confirm", "Die ausgewählten Anfragen genehmigen"),
        ("bulk-confirm", "Sie ist unumkehrbar"),
        ("bulk-result", "Bereits beantwortet von Mark Osei, gerade eben"),
        ("insights", "72 Weigerungen"),
        ("insights-empty", "Keine Daten für diesen Zeitraum"),
        ("no-receipt", "Es gibt keinen Beleg"),
    ] {
        assert!(main(name).contains(expected), "{name}: {}", main(name));
    }
}
