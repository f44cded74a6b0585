//! The field that selects a time zone of the IANA database.

use std::sync::LazyLock;

use jiff::tz::TimeZoneDatabase;

use super::controls::{FormDraft, SelectOption, pickable};
use crate::answer_form::fields::{Control, FieldView, GroupedSelect};

/// A part of the world in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    Africa,
    America,
    Antarctica,
    Arctic,
    Asia,
    Atlantic,
    Australia,
    Europe,
    Indian,
    Pacific,
}

impl Region {
    const ALL: [Self; 10] = [
        Self::Africa,
        Self::America,
        Self::Antarctica,
        Self::Arctic,
        Self::Asia,
        Self::Atlantic,
        Self::Australia,
        Self::Europe,
        Self::Indian,
        Self::Pacific,
    ];

    /// The beginning of the names of its time zones.
    fn prefix(self) -> &'static str {
        match self {
            Self::Africa => "Africa/",
            Self::America => "America/",
            Self::Antarctica => "Antarctica/",
            Self::Arctic => "Arctic/",
            Self::Asia => "Asia/",
            Self::Atlantic => "Atlantic/",
            Self::Australia => "Australia/",
            Self::Europe => "Europe/",
            Self::Indian => "Indian/",
            Self::Pacific => "Pacific/",
        }
    }

    fn label(self) -> String {
        match self {
            Self::Africa => t!("settings-region-africa"),
            Self::America => t!("settings-region-america"),
            Self::Antarctica => t!("settings-region-antarctica"),
            Self::Arctic => t!("settings-region-arctic"),
            Self::Asia => t!("settings-region-asia"),
            Self::Atlantic => t!("settings-region-atlantic"),
            Self::Australia => t!("settings-region-australia"),
            Self::Europe => t!("settings-region-europe"),
            Self::Indian => t!("settings-region-indian"),
            Self::Pacific => t!("settings-region-pacific"),
        }
    }
}

/// The time zones of each region, with their names and labels. Zones without a region, such as
/// `EST`, are old names that nobody needs to find.
static ZONES: LazyLock<Vec<(Region, Vec<SelectOption>)>> = LazyLock::new(|| {
    let mut names: Vec<String> =
        TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
    names.sort_unstable();
    let zones = |region: Region| {
        names.iter().filter_map(move |name| {
            let place = name.strip_prefix(region.prefix())?;
            Some((name.clone(), place.replace('_', " ").replace('/', " / ")))
        })
    };
    Region::ALL.into_iter().map(|region| (region, zones(region).collect())).collect()
});

/// A list of all time zones by region. The first option is none, which means UTC; a script puts the
/// browser's own time zone before it if none is set.
pub fn field(filled: FormDraft<'_>, name: &str, label: &str, current: &str) -> FieldView {
    let value = filled.value(name, current);
    let option = |(zone, shown): &SelectOption| pickable(zone, shown, *zone == value);
    let mut options = vec![pickable("", &t!("settings-time-zone-none"), value.is_empty())];
    let listed = |zone: &SelectOption| zone.0 == value;
    if !value.is_empty() && !ZONES.iter().any(|(_, zones)| zones.iter().any(listed)) {
        options.push(pickable(&value, &value, true));
    }
    let groups =
        ZONES.iter().map(|(region, zones)| (region.label(), zones.iter().map(option).collect()));
    let browser = t!("settings-time-zone-browser", zone = "{}");
    let select = GroupedSelect {
        options,
        groups: groups.collect(),
        attributes: vec![("data-zone", browser)],
    };
    filled.field(name, label, Control::Grouped(select))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer_form::problem::FormProblems;
    use crate::locale::{Language, ReaderLocale, with};

    fn shown(current: &str) -> GroupedSelect {
        let problems = FormProblems::default();
        let filled = FormDraft { form: None, problems: &problems };
        match field(filled, "zone", "Time zone", current).control {
            Control::Grouped(select) => select,
            other => panic!("{other:?}"),
        }
    }

    fn selected(select: &GroupedSelect) -> Vec<&str> {
        let grouped = select.groups.iter().flat_map(|(_, options)| options);
        let all = select.options.iter().chain(grouped);
        all.filter(|option| option.checked).map(|option| option.value.as_str()).collect()
    }

    #[test]
    fn every_stored_time_zone_is_selected() {
        for zone in ["", "Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "US/Eastern"] {
            assert_eq!(selected(&shown(zone)), [zone], "{zone}");
        }
    }

    #[test]
    fn the_time_zones_stand_under_the_regions_in_the_readers_language() {
        let german = ReaderLocale { language: Language::German, time_zone: None };
        let select = with(german, || shown("Europe/Berlin"));
        let europe = select.groups.iter().find(|(label, _)| label == "Europa");
        let europe = &europe.expect("a region").1;
        assert!(europe.iter().any(|option| option.label.as_str() == "Berlin" && option.checked));
        assert!(select.groups.iter().all(|(_, options)| !options.is_empty()));
    }
}
