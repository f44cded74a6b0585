//! How long the text of closed requests is kept, as a setting.

pub use kernel::retention::{Retention, RetentionSetting};

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn a_file_may_say_a_number() {
        #[derive(Deserialize)]
        struct File {
            retention: RetentionSetting,
        }
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.retention.to_string());
        assert_eq!(read("retention = 30").unwrap(), "30d");
        assert_eq!(read("retention = \"12h\"").unwrap(), "12h");
        let error = read("retention = \"soon\"").unwrap_err().to_string();
        assert!(error.contains("such as 30d"), "{error}");
    }
}
