//! Artifact files: what is written is read back, and what was changed is refused with a reason.

mod common;

use common::{reseal, sample};
use ptc_bytecode::{Artifact, Code, Header, decode, encode};

/// The refusal of a sample file after a change, as code and message.
fn refusal(change: impl FnOnce(&mut Vec<u8>)) -> (Code, String) {
    let mut bytes = encode(&sample());
    change(&mut bytes);
    let error = decode(&bytes).expect_err("this must not decode");
    assert!(error.hint.is_some(), "{} has no hint", error.message);
    (error.code, error.message)
}

fn check(change: impl FnOnce(&mut Vec<u8>), code: Code, message: &str) {
    assert_eq!(refusal(change), (code, message.into()));
}

#[test]
fn what_is_written_is_read_back() {
    assert_eq!(decode(&encode(&sample())).unwrap(), sample());
    assert_eq!(encode(&sample()), encode(&sample()));
    let nothing = Artifact::default();
    assert_eq!(decode(&encode(&nothing)).unwrap(), nothing);
}

#[test]
fn files_of_another_kind_are_named() {
    check(Vec::clear, Code::ArtifactInvalid, "the file is empty");
    let other = "the file does not start like an artifact, with `PTCP`";
    check(|bytes| *bytes = b"(+ 1 2)".to_vec(), Code::ArtifactInvalid, other);
    check(|bytes| *bytes = b"P?".to_vec(), Code::ArtifactInvalid, other);
}

#[test]
fn short_files_are_named() {
    check(|b| b.truncate(3), Code::ArtifactInvalid, "the file is cut off: it has 3 bytes, but needs 112");
    check(|b| b.truncate(111), Code::ArtifactInvalid, "the file is cut off: it has 111 bytes, but needs 112");
    let whole = encode(&sample()).len();
    let message = format!("the file is cut off: it has {} bytes, but needs {whole}", whole - 1);
    check(|b| b.truncate(whole - 1), Code::ArtifactInvalid, &message);
    let message = format!("the file is cut off: it has {whole} bytes, but needs {}", u64::MAX);
    check(|b| b[104..112].fill(0xff), Code::ArtifactInvalid, &message);
}

#[test]
fn other_versions_are_named() {
    let newer = "the file has format version 258, but this version of ptc reads version 1";
    check(|b| b[4..6].copy_from_slice(&[2, 1]), Code::ArtifactStale, newer);
    let older = "the file has format version 0, but this version of ptc reads version 1";
    check(|b| b[4] = 0, Code::ArtifactStale, older);
    let flags = "the file uses features this version of ptc does not have (flags 0x0080)";
    check(|b| b[6] = 0x80, Code::ArtifactStale, flags);
    check(|b| b[8] ^= 1, Code::ArtifactStale, "the file was compiled for another instruction set");
}

#[test]
fn the_stale_file_says_what_to_do() {
    let mut bytes = encode(&sample());
    bytes[8] ^= 1;
    let text = decode(&bytes).unwrap_err().to_text("");
    assert_eq!(
        text,
        "error[E0602] artifact_stale: the file was compiled for another instruction set\n \
         hint: recompile it with this version of ptc\n"
    );
}

#[test]
fn damage_is_named() {
    let hash = "the file is damaged: its content does not match its hash";
    check(|b| b[72] ^= 1, Code::ArtifactInvalid, hash);
    check(|b| *b.last_mut().unwrap() ^= 1, Code::ArtifactInvalid, hash);
    check(|b| b.extend([0, 0]), Code::ArtifactInvalid, "the file is damaged: 2 bytes follow its end");
    let sources = "the file is damaged: header and content name different sources";
    check(|b| b[40] ^= 1, Code::ArtifactInvalid, sources);
}

#[test]
fn bodies_that_are_no_artifact_are_named() {
    let body = |change: &dyn Fn(&mut Vec<u8>)| {
        refusal(|bytes| {
            let mut body = bytes.split_off(Header::BYTES);
            change(&mut body);
            *bytes = reseal(&body);
        })
        .1
    };
    assert_eq!(body(&|b| b.truncate(60)), "the file does not hold an artifact: it ends too early");
    assert_eq!(body(&|b| b.push(0)), "the file holds 1 bytes behind its artifact");
    // The first function has no name; 2 is neither "none" nor "some".
    assert_eq!(
        body(&|b| b[33] = 2),
        "the file does not hold an artifact: a choice is neither there nor absent"
    );
}

#[test]
fn a_forged_length_allocates_nothing() {
    // 2^60 items: were the length believed, reserving room for them would abort.
    let huge = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    let plain = encode(&sample()).split_off(Header::BYTES);
    for at in 32..plain.len() {
        let mut body = plain[..at].to_vec();
        body.extend(huge);
        body.extend(&plain[at + 1..]);
        if let Ok(artifact) = decode(&reseal(&body)) {
            // The bytes landed in a number or a text, and mean that now.
            assert!(encode(&artifact).len() < 2 * plain.len() + Header::BYTES);
        }
    }
}
