//! The headers that every page is sent with.

/// Allows no third-party content, nothing inline and no frames. Forms post only to this server, and
/// scripts connect only to it.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
     connect-src 'self'; img-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'";

/// The policy for a page behind a review link. Only the script with the page's nonce runs, no other
/// script on this server, and the person can save their draft.
pub fn guest_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; style-src 'self'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// The policy for the page of the API reference. Its script inserts style elements, which must carry
/// the page's nonce, and a font for its icons, which is in the script.
pub fn api_reference_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; style-src 'self' 'nonce-{nonce}'; script-src 'self'; \
         connect-src 'self'; img-src 'self'; font-src data:; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
}

/// Pages contain questions and answers, so no cache may keep them.
pub const CACHE_PAGE: &str = "no-store";

/// The documentation is the same for everyone and changes with the binary: caches ask whether they
/// still have it.
pub const CACHE_DOCS: &str = "no-cache";

/// Assets have their hash in their path and never change.
pub const CACHE_ASSET: &str = "public, max-age=31536000, immutable";

/// Name and value of every header of a page.
pub const PAGE: [(&str, &str); 6] = [
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("cache-control", CACHE_PAGE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_nothing_inline_and_nothing_from_elsewhere() {
        assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none'; "));
        for never in ["unsafe", "http", "*", "data:", "nonce", "  "] {
            assert!(!CONTENT_SECURITY_POLICY.contains(never), "{never}");
        }
    }
}
