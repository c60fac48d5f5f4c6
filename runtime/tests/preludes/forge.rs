//! Forged prelude files, made from sound ones: the changes look random and are reproducible.
//!
//! Tests of other crates include this file as well, so it stands alone.

use ptc_bytecode::{Container, Op, PreludeFile, Section, decode_prelude, encode_prelude, seal, used_as};

/// A small, reproducible random number generator.
pub struct Dice(u64);

impl Dice {
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below.max(1)
    }
}

/// Reads a number from the environment.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

impl Dice {
    /// Seeds the numbers separately for each kind of change, and by `PTC_MUTANTS_SEED`.
    pub fn new(which: u64) -> Dice {
        Dice(setting("PTC_MUTANTS_SEED").unwrap_or(0).wrapping_mul(1_000).wrapping_add(which))
    }
}

/// Makes a file that differs from the sound one, with hashes that fit its content.
pub fn forged(sound: &[u8], dice: &mut Dice) -> Vec<u8> {
    loop {
        let forged = match dice.roll(2) {
            0 => forged_section(sound, dice),
            _ => {
                let mut file = decode_prelude(sound).expect("a sound file");
                for _ in 0..=dice.roll(2) {
                    bend_file(&mut file, dice);
                }
                encode_prelude(&file.sealed())
            }
        };
        if forged != sound {
            return forged;
        }
    }
}

/// Changes some bytes of one section of the file.
pub fn forged_section(sound: &[u8], dice: &mut Dice) -> Vec<u8> {
    let container = Container::read(sound).expect("a sound file");
    let mut sections: Vec<Section<'_>> = container.sections.clone();
    let which = dice.roll(sections.len());
    let mut body = sections[which].body.to_vec();
    for _ in 0..=dice.roll(3) {
        bend(&mut body, dice);
    }
    sections[which].body = &body;
    seal(container.header.flags, &sections)
}

/// Makes one change to some bytes.
pub fn bend(body: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.roll(body.len());
    if body.is_empty() {
        return body.push(dice.roll(256) as u8);
    }
    match dice.roll(5) {
        0 => body[at] ^= 1 << dice.roll(8),
        1 => body[at] = dice.roll(256) as u8,
        2 => body.insert(at, dice.roll(256) as u8),
        3 => drop(body.splice(at..at + 1, [])),
        _ => {
            let from = dice.roll(body.len());
            let len = dice.roll(12).min(body.len() - at.max(from));
            body.copy_within(from..from + len, at);
        }
    }
}

/// Makes one change to the meaning of the file.
pub fn bend_file(file: &mut PreludeFile, dice: &mut Dice) {
    let artifact = &mut file.artifact;
    // Files without uses draw no number here, so that their mutants stay the same.
    if !artifact.defs.is_empty() && dice.roll(5) == 0 {
        return bend_uses(file, dice);
    }
    match dice.roll(14) {
        0 => {
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let (at, from) = (dice.roll(ops.len()), dice.roll(ops.len()));
            ops[at] = ops[from];
        }
        1 => {
            // Changes the operands of an instruction, through its bytes.
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let at = dice.roll(ops.len());
            let mut bytes = postcard::to_stdvec(&ops[at]).unwrap();
            let byte = dice.roll(bytes.len());
            bytes[byte] = dice.roll(256) as u8;
            if let Ok(op) = postcard::from_bytes::<Op>(&bytes) {
                ops[at] = op;
            }
        }
        2 => {
            let block = dice.roll(artifact.blocks.len());
            artifact.blocks[block].regs = dice.roll(300) as u16;
        }
        3 => {
            let (a, b) = (dice.roll(artifact.consts.len()), dice.roll(artifact.consts.len()));
            artifact.consts.swap(a, b);
        }
        4 => {
            let (a, b) = (dice.roll(artifact.imports.len()), dice.roll(artifact.imports.len()));
            artifact.imports.swap(a, b);
        }
        5 => {
            let (a, b) = (dice.roll(artifact.functions.len()), dice.roll(artifact.functions.len()));
            artifact.functions.swap(a, b);
        }
        6 => {
            let export = dice.roll(file.manifest.exports.len());
            let export = &mut file.manifest.exports[export];
            export.requires = vec![["tool:x", "upstream:s/t", "nothing", ""][dice.roll(4)].into()];
        }
        7 => {
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let at = dice.roll(ops.len());
            if ops.len() > 1 {
                ops.remove(at);
            }
        }
        8 => {
            let export = dice.roll(file.manifest.exports.len());
            let other = file.manifest.exports[dice.roll(file.manifest.exports.len())].clone();
            let export = &mut file.manifest.exports[export];
            match dice.roll(8) {
                0 => export.symbol = other.symbol,
                1 => export.target = other.target,
                2 => export.tool_refs = vec!["other".into()],
                3 => export.dynamic = !export.dynamic,
                4 => export.namespace = ["tool", "other", "m.n", ""][dice.roll(4)].into(),
                5 => export.params = other.params,
                6 => export.data_keys = vec!["secret".into()],
                _ => export.doc = Some("x".repeat(dice.roll(40_000))),
            }
        }
        9 => {
            let import = dice.roll(artifact.imports.len());
            let mut bytes = postcard::to_stdvec(&artifact.imports[import]).unwrap();
            let byte = dice.roll(bytes.len());
            bytes[byte] = dice.roll(128) as u8;
            if let Ok(import_) = postcard::from_bytes(&bytes) {
                artifact.imports[import] = import_;
            }
        }
        10 => {
            let constant = dice.roll(artifact.consts.len());
            let mut bytes = postcard::to_stdvec(&artifact.consts[constant]).unwrap();
            let byte = dice.roll(bytes.len());
            bytes[byte] = dice.roll(256) as u8;
            if let Ok(other) = postcard::from_bytes(&bytes) {
                artifact.consts[constant] = other;
            }
        }
        11 => match dice.roll(3) {
            0 => file.sources = Some(vec!["(ns other)".into()]),
            1 => file.rendered.push(("z/z".into(), "(defn z [])".into())),
            _ => file.manifest.namespaces[0].name = ["tool", "n", "m/m"][dice.roll(3)].into(),
        },
        12 => {
            // A repetition, now and then far too often.
            let copies = if dice.roll(10) == 0 { 70_000 } else { 1 + dice.roll(3) };
            match dice.roll(3) {
                0 => {
                    let block = artifact.blocks[dice.roll(artifact.blocks.len())].clone();
                    artifact.blocks.extend(std::iter::repeat_n(block, copies.min(5_000)));
                }
                1 => {
                    let function = artifact.functions[dice.roll(artifact.functions.len())].clone();
                    artifact.functions.extend(std::iter::repeat_n(function, copies.min(5_000)));
                }
                _ => {
                    let constant = artifact.consts[dice.roll(artifact.consts.len())].clone();
                    artifact.consts.extend(std::iter::repeat_n(constant, copies));
                }
            }
        }
        _ => {
            let function = dice.roll(artifact.functions.len());
            let arity = &mut artifact.functions[function].arities[0];
            match dice.roll(3) {
                0 => arity.required = dice.roll(256) as u8,
                1 => arity.rest = !arity.rest,
                _ => arity.block = dice.roll(20) as u32,
            }
        }
    }
}

/// Makes one change to the uses of other preludes that the file claims.
fn bend_uses(file: &mut PreludeFile, dice: &mut Dice) {
    let (defs, uses) = (&mut file.artifact.defs, &mut file.manifest.uses);
    let at = dice.roll(defs.len());
    let names =
        ["crm/find", "crm/raw", "crm/size", "crm/tag", "crm/none", "other/find", "tool/find", "crm", ""];
    match dice.roll(9) {
        0 => defs[at] = used_as(names[dice.roll(names.len())]).into(),
        1 => defs[at] = names[dice.roll(names.len())].into(),
        2 => {
            let other = dice.roll(defs.len());
            defs.swap(at, other);
        }
        3 => defs[at] = defs[dice.roll(defs.len())].clone(),
        4 => drop(defs.remove(at)),
        5 => uses.truncate(dice.roll(2)),
        6 => uses.extend(uses.first().cloned()),
        _ => {
            let Some(used) = uses.first_mut() else { return };
            match dice.roll(3) {
                0 => used.namespace = ["crm", "other", "tool", "m", ""][dice.roll(5)].into(),
                1 => used.interface_hash[dice.roll(32)] ^= 1,
                _ => used.artifact_hash[dice.roll(32)] ^= 1,
            }
        }
    }
}
