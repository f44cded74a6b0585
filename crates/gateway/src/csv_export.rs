//! Asks as CSV (RFC 4180), escaped so that a spreadsheet runs no formulas.

use serde_json::Value;

use views::answer::changes::{self, ChangedValue};

/// The columns, each with its JSON pointer in an ask of the native API.
const COLUMNS: [(&str, &str); 18] = [
    ("id", "/id"),
    ("project", "/project"),
    ("agent", "/agent"),
    ("kind", "/kind"),
    ("priority", "/priority"),
    ("prompt", "/question/prompt"),
    ("asked_at", "/created_at"),
    ("expires_at", "/expires_at"),
    ("outcome", "/result/outcome"),
    ("verdict", "/result/answer/verdict"),
    ("comment", "/result/comment"),
    ("reason", "/result/reason"),
    ("by", "/result/by/id"),
    ("by_kind", "/result/by/kind"),
    ("via", "/result/via"),
    ("assurance", "/result/assurance"),
    ("ended_at", "/result/at"),
    ("follows", "/follows"),
];
/// The last column: the changes of an approval to the agent's proposal, because the prompt still
/// has the old values.
const CHANGES: &str = "changes";

/// The header line.
pub fn header() -> String {
    line(COLUMNS.iter().map(|(name, _)| *name).chain([CHANGES]).map(str::to_owned))
}

/// One ask. Leaves out provided values, because CSV files are passed around.
pub fn row(ask: &Value) -> String {
    let cells = COLUMNS.iter().map(|(_, place)| match ask.pointer(place) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    });
    line(cells.chain([changes(ask)]))
}

/// The changed values of an approval, one line each, such as "Amount: 120 → 90".
fn changes(ask: &Value) -> String {
    let map = |place| ask.pointer(place).and_then(Value::as_object);
    let approved = ask.pointer("/result/answer/verdict").is_some_and(|is| is == "approved");
    let (proposed, edits) = (map("/question/details"), map("/result/answer/edits"));
    let Some((proposed, edits)) = proposed.zip(edits).filter(|_| approved) else {
        return String::new();
    };
    let changed = changes::changes(proposed, edits);
    changed.iter().map(ChangedValue::line).collect::<Vec<_>>().join("\n")
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\r\n"
}

/// A cell. A spreadsheet would run text that begins like a formula. An apostrophe before it makes
/// it show the text.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains(['"', ',', '\r', '\n']) || cell.starts_with(' ') {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_text_whatever_is_in_them() {
        for (cell, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+49", "'+49"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
        ] {
            assert_eq!(quoted(cell), expected, "{cell:?}");
        }
    }

    #[test]
    fn a_row_has_every_column_and_no_values() {
        let ask = json!({
            "id": "ask_1", "agent": "bot", "question": { "prompt": "=Pay?" },
            "result": { "by": { "kind": "human", "id": "olga" }, "comment": null,
                "answer": { "verdict": "provided", "values": { "key": "secret" } } },
        });
        let (header, row) = (header(), row(&ask));
        assert_eq!(header.matches(',').count(), row.matches(',').count());
        assert!(row.ends_with("\r\n") && row.contains("'=Pay?") && row.contains("olga,human"));
        assert!(!row.contains("secret"), "{row}");
    }

    #[test]
    fn an_approval_with_changes_says_what_was_changed() {
        let mut ask = json!({
            "question": { "prompt": "Pay 100 EUR?", "details": { "amount": 100, "to": "Bob" } },
            "result": { "answer": { "verdict": "approved", "edits": { "amount": 50, "to": "Bob" } } },
        });
        assert!(header().ends_with(",changes\r\n"));
        assert!(row(&ask).ends_with(",Amount: 100 → 50\r\n"), "{}", row(&ask));
        ask["result"]["answer"]["edits"] = Value::Null;
        assert!(row(&ask).ends_with(",\r\n"), "{}", row(&ask));
    }
}
