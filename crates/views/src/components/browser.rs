//! The name of a browser, from its user agent.

/// Part of a user agent, and the name of that browser. The first match counts, because most
/// browsers also name others.
const BROWSERS: [(&str, &str); 10] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
];

/// The same for operating systems.
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// A summary such as "Firefox on Linux". It is enough for people to recognise their own browser, so
/// the user agent itself is not kept.
pub fn summary(user_agent: &str) -> String {
    let called = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    match (called(&BROWSERS), called(&SYSTEMS)) {
        (Some(browser), Some(system)) => {
            t!("browser-on-system", browser = browser, system = system)
        }
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => t!("browser-unknown-on-system", system = system),
        (None, None) => t!("browser-unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_by_their_names() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
                 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/18.0 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("curl/8.9.1", "curl"),
            ("Plan 9 on Linux", "A browser on Linux"),
            ("<script>alert(1)</script>", "A browser"),
            ("", "A browser"),
        ] {
            assert_eq!(summary(agent), name, "{agent}");
        }
    }
}
