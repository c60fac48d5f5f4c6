//! `ptc-fuzz list`, `ptc-fuzz seeds FOLDER` and `ptc-fuzz TARGET FILE…`: the targets without a fuzzer.
#![forbid(unsafe_code)]

use ptc_fuzz::{TARGETS, target};
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["list"] => TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.max_len)),
        ["seeds", folder] => {
            for target in TARGETS {
                let folder = Path::new(folder).join(target.name);
                std::fs::create_dir_all(&folder)?;
                for (n, seed) in (target.seeds)().iter().enumerate() {
                    std::fs::write(folder.join(format!("seed-{n}")), seed)?;
                }
            }
        }
        [name, ref files @ ..] if !files.is_empty() => {
            let target = target(name).ok_or_else(|| Error::other(format!("there is no target {name}")))?;
            for file in files {
                (target.body)(&std::fs::read(file)?);
                println!("{file}: fine");
            }
        }
        _ => return Err(Error::other("usage: ptc-fuzz list | seeds FOLDER | TARGET FILE…")),
    }
    Ok(())
}
