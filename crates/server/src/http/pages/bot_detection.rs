//! Bot detection: whether a person opened a page, or a prefetcher, a link unfurler or a scanner
//! did. It only decides whether a request counts as opened. That is a hint: loading a page never
//! decides anything.

use axum::http::{HeaderMap, Method, header};

/// Parts of the user agents of bots, in lower case.
const MACHINES: [&str; 24] = [
    "bot",
    "crawl",
    "spider",
    "preview",
    "scanner",
    "unfurl",
    "facebookexternalhit",
    "facebookcatalog",
    "whatsapp",
    "skypeuripreview",
    "slack-imgproxy",
    "google-safety",
    "googleimageproxy",
    "google-inspectiontool",
    "google-read-aloud",
    "bingpreview",
    "safelinks",
    "microsoft office",
    "ms-office",
    "outlook-",
    "barracuda",
    "mimecast",
    "proofpoint",
    "headlesschrome",
];

/// Headers by which a browser marks a request as a prefetch.
const AHEAD: [&str; 4] = ["sec-purpose", "purpose", "x-purpose", "x-moz"];

/// Whether a person seems to load the page.
pub(super) fn is_person(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let ahead = AHEAD.iter().filter_map(|name| text(name)).any(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("prefetch") || value.contains("preview") || value.contains("prerender")
    });
    let agent = text(header::USER_AGENT.as_str()).unwrap_or_default().to_ascii_lowercase();
    let machine = MACHINES.iter().any(|name| agent.contains(name));
    // Browsers send the destination of a fetch; only documents count. The service worker of the
    // installed app fetches pages too; only the navigation mode then shows that a person opens one.
    let navigates = text("sec-fetch-mode") == Some("navigate");
    let aside = match text("sec-fetch-dest") {
        None | Some("document") => false,
        Some("empty") => !navigates,
        Some(_) => true,
    };
    method == Method::GET && !ahead && !machine && !aside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(method: &Method, name: &'static str, value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        is_person(method, &headers)
    }

    /// HITL-045: unfurlers, scanners and prefetching browsers open nothing.
    #[test]
    fn machines_are_told_from_people() {
        for machine in [
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Slack-ImgProxy (+https://api.slack.com/robots)",
            "Twitterbot/1.0",
            "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
            "WhatsApp/2.23.20.0 A",
            "TelegramBot (like TwitterBot)",
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) SkypeUriPreview Preview/0.5",
            "Microsoft Office/16.0 (Microsoft Outlook 16.0.16130; Pro)",
            "Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; BingPreview/1.0b)",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Mozilla/5.0 (Windows NT 5.1) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
            "LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)",
            "Mozilla/5.0 (compatible; Barracuda Sentinel)",
        ] {
            assert!(!looks(&Method::GET, "user-agent", machine), "{machine}");
        }
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
                     (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
        assert!(looks(&Method::GET, "user-agent", phone));
        assert!(!looks(&Method::HEAD, "user-agent", phone));
        for (name, value) in [
            ("sec-purpose", "prefetch;prerender"),
            ("purpose", "prefetch"),
            ("x-purpose", "preview"),
            ("x-moz", "prefetch"),
            ("sec-fetch-dest", "iframe"),
        ] {
            assert!(!looks(&Method::GET, name, value), "{name}");
        }
        assert!(looks(&Method::GET, "sec-fetch-dest", "document"));
    }

    /// A page that comes through the service worker of the installed app counts as opened. Content
    /// that a script fetches or a frame shows does not.
    #[test]
    fn a_page_through_the_worker_is_looked_at() {
        for (dest, mode, person) in [
            ("document", "navigate", true),
            ("empty", "navigate", true),
            ("empty", "cors", false),
            ("empty", "same-origin", false),
            ("iframe", "navigate", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("sec-fetch-dest", dest.parse().unwrap());
            headers.insert("sec-fetch-mode", mode.parse().unwrap());
            assert_eq!(is_person(&Method::GET, &headers), person, "{dest} {mode}");
        }
    }
}
