//! Embeds the documentation: every Markdown file under `docs` except the decision records, and
//! every other file there that one of them shows or links.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

/// The decision records are for contributors and are read in the repository.
const LEFT_OUT: &str = "adr";

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize()?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", docs.display());
    let mut pages = BTreeMap::new();
    collect(&docs, &docs, &mut pages)?;
    let mut files = BTreeSet::new();
    for (path, text) in &pages {
        let folder = Path::new(path).parent().unwrap_or_else(|| Path::new(""));
        let linked = targets(text).filter_map(|target| joined(folder, target));
        files.extend(linked.filter(|file| {
            !pages.contains_key(file) && !file.starts_with(LEFT_OUT) && docs.join(file).is_file()
        }));
    }
    let mut source = String::from("pub(super) static PAGES: &[(&str, &str)] = &[\n");
    for path in pages.keys() {
        writeln!(source, "({path:?}, include_str!({:?})),", absolute(&docs, path)?)?;
    }
    source.push_str("];\npub(super) static FILES: &[(&str, &[u8])] = &[\n");
    for path in &files {
        writeln!(source, "({path:?}, include_bytes!({:?})),", absolute(&docs, path)?)?;
    }
    source.push_str("];\n");
    #[expect(clippy::disallowed_methods, reason = "Cargo names the folder for generated code so")]
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(PathBuf::from(out).join("embedded_docs.rs"), source)?;
    Ok(())
}

/// The path of a file for the compiler.
fn absolute(docs: &Path, path: &str) -> Result<String, String> {
    let path = docs.join(path).into_os_string();
    path.into_string().map_err(|path| format!("{} is not text", path.display()))
}

/// Every Markdown file below a folder, by its path from `docs`.
fn collect(
    docs: &Path,
    folder: &Path,
    pages: &mut BTreeMap<String, String>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.strip_prefix(docs)?.to_string_lossy().into_owned();
        if path.is_dir() && name != LEFT_OUT {
            collect(docs, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The targets of links and images: `](target)` and `src="target"`, without the anchor.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let until = |rest: &'static str| move |part| str::split(part, rest).next();
    let links = text.split("](").skip(1).filter_map(until(")"));
    let images = text.split("src=\"").skip(1).filter_map(until("\""));
    links.chain(images).filter_map(|target| target.split('#').next())
}

/// A relative target as a path from `docs`; none if it lies outside.
fn joined(folder: &Path, target: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in folder.join(target).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?.to_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    Some(parts.join("/"))
}
