//! The nesting limit of a body. The store wraps each body in a few levels of its own and reads it
//! back with `serde_json`'s limit of 128, so an incoming body must stay well below that.

/// The most levels of lists and objects in a body.
pub const DEEPEST: usize = 100;

/// Whether a body has more than [`DEEPEST`] levels. Brackets inside strings do not count.
pub fn too_deep(json: &[u8]) -> bool {
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            _ if text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_outside_texts() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(!too_deep(nested(DEEPEST).as_bytes()));
        assert!(too_deep(nested(DEEPEST + 1).as_bytes()));
        assert!(!too_deep("[[],[],{}]".repeat(200).as_bytes()));
        assert!(!too_deep(format!(r#"["\"{}", "\\"]"#, "[".repeat(500)).as_bytes()));
        assert!(too_deep(format!(r#"["\\", {}"#, "[".repeat(500)).as_bytes()));
    }
}
