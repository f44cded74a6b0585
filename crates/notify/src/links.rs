//! URLs of the server's own pages, as other people and programs reach them.

use url::Url;

/// Makes links from the public URL.
#[derive(Debug, Clone)]
pub struct LinkBuilder {
    public_url: Url,
}

impl LinkBuilder {
    /// Links below this URL.
    pub fn new(public_url: Url) -> Self {
        Self { public_url }
    }

    /// The URL of a page.
    pub fn page(&self, path: &str) -> String {
        let mut url = self.public_url.clone();
        url.set_path(path);
        url.into()
    }

    /// The URL that a one-time sign-in link leads to.
    pub fn sign_in(&self, secret: &str) -> anyhow::Result<String> {
        Ok(self.public_url.join(&format!("sign-in?token={secret}"))?.into())
    }

    /// The public URL itself.
    pub(crate) fn base(&self) -> &str {
        self.public_url.as_str()
    }

    /// The name of the server, as emails show it.
    pub(crate) fn host(&self) -> &str {
        self.public_url.host_str().unwrap_or_default()
    }
}
