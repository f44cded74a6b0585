//! The schemas of `docs/schemas`, held against what is sent.

use std::path::Path;

use jsonschema::Registry;
use serde_json::Value;

/// Asserts that a value is what this schema of this version wants.
#[track_caller]
pub(crate) fn holds(version: &str, name: &str, value: &Value) {
    let found = faults(version, name, value);
    assert!(found.is_empty(), "{name} {version}: {found:#?}\n{value:#}");
}

/// What is wrong with it.
pub(crate) fn faults(version: &str, name: &str, value: &Value) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let mut registry = Registry::new();
    let mut wanted = None;
    for entry in std::fs::read_dir(folder.join(format!("hitl-{version}"))).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        if path.file_stem().unwrap() == name {
            wanted = Some(schema.clone());
        }
        let id = schema["$id"].as_str().unwrap().to_owned();
        registry = registry.add(id, schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let options = jsonschema::options().with_registry(&registry).should_validate_formats(true);
    let validator = options.build(&wanted.unwrap()).unwrap();
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}
