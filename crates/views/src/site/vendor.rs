//! Scripts of other projects, compiled in as `assets/vendor` has them: compressed.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// A compressed file that browsers load with a page.
#[derive(Debug)]
pub struct CompressedAsset {
    /// The file, compressed with gzip.
    pub gzip: &'static [u8],
    pub content_type: &'static str,
    /// The path it is served at. New content gets a new path.
    pub href: String,
}

static REDOC: LazyLock<CompressedAsset> = LazyLock::new(|| {
    let gzip = include_bytes!("../../assets/vendor/redoc.standalone.js.gz");
    let mut hash = hex::encode(Sha256::digest(gzip));
    hash.truncate(8);
    CompressedAsset {
        gzip,
        content_type: "text/javascript; charset=utf-8",
        href: format!("/docs/assets/redoc.{hash}.js"),
    }
});

/// Finds a file by its path.
pub fn compressed_asset(path: &str) -> Option<&'static CompressedAsset> {
    Some(&*REDOC).filter(|asset| asset.href == path)
}

/// The path of the script that renders the API reference.
pub(crate) fn redoc() -> &'static str {
    &REDOC.href
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever renews the file renews the note with its origin.
    #[test]
    fn the_note_names_the_file_that_is_here() {
        let note = include_str!("../../assets/vendor/README.md");
        let sum = hex::encode(Sha256::digest(REDOC.gzip));
        assert!(note.contains(&sum), "assets/vendor/README.md does not have {sum}");
        assert!(compressed_asset(redoc()).is_some());
        assert!(compressed_asset("/docs/assets/redoc.js").is_none());
    }
}
