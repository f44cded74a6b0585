//! Every kept input through its target: what once broke a reader does not break it again.

use std::fs;
use std::path::Path;

#[test]
fn every_target_has_kept_inputs_and_reads_them() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for target in fuzz::TARGETS {
        let mut inputs = 0;
        for entry in fs::read_dir(seeds.join(target.name)).unwrap() {
            (target.run)(&fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{} has no kept inputs", target.name);
        (target.run)(b"");
    }
    let folders: Vec<_> = fs::read_dir(&seeds).unwrap().map(Result::unwrap).collect();
    for folder in folders {
        let name = folder.file_name().into_string().unwrap();
        assert!(fuzz::target(&name).is_some(), "fuzz/seeds/{name} belongs to no target");
    }
}
