//! Artifact files: written files read back, and changed files are refused with a reason.

mod common;

use common::{code_of, reseal, sample};
use ptc_bytecode::{Artifact, Code, Container, Section, abi, decode, encode, kind, seal, seal_for};

/// Returns the refusal of a sample file after a change.
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
    check(Vec::clear, Code::BadMagic, "the file is empty");
    let other = "the file does not start like an artifact";
    check(|bytes| *bytes = b"(+ 1 2)".to_vec(), Code::BadMagic, other);
    check(|bytes| *bytes = b"P?".to_vec(), Code::BadMagic, other);
    // Damage by a transfer in text mode, which converts line ends.
    check(
        |bytes| {
            bytes.remove(5);
        },
        Code::BadMagic,
        other,
    );
}

#[test]
fn short_files_are_named() {
    check(|b| b.truncate(3), Code::Corrupt, "the file is cut off: it has 3 bytes, but needs 64");
    check(|b| b.truncate(63), Code::Corrupt, "the file is cut off: it has 63 bytes, but needs 64");
    let whole = encode(&sample()).len();
    let message = format!("the file is cut off: it has {} bytes, but needs {whole}", whole - 1);
    check(|b| b.truncate(whole - 1), Code::Corrupt, &message);
    let message = format!("the file is cut off: it has {whole} bytes, but needs {}", u64::MAX);
    check(|b| b[24..32].fill(0xff), Code::Corrupt, &message);
}

#[test]
fn other_versions_are_named() {
    let newer = "the file has container version 258, but this version of ptc reads version 1";
    check(|b| b[8..10].copy_from_slice(&[2, 1]), Code::UnsupportedFormat, newer);
    let older = "the file has container version 0, but this version of ptc reads version 1";
    check(|b| b[8] = 0, Code::UnsupportedFormat, older);
    let flags = "the file uses features this version of ptc does not have (flags 0x0082)";
    check(|b| b[10] |= 0x80, Code::UnsupportedFormat, flags);
}

#[test]
fn a_file_for_another_instruction_set_names_both_and_says_what_to_do() {
    let code = code_of(&encode(&sample()));
    let section = Section { kind: kind::CODE, ancillary: false, body: &code };
    let error = decode(&seal_for(0, 0xdead_beef, &[section])).unwrap_err();
    assert_eq!(error.code, Code::AbiMismatch);
    assert!(error.message.contains("deadbeef"), "{}", error.message);
    assert!(error.message.contains(&format!("{:08x}", abi())), "{}", error.message);
    assert!(error.hint.unwrap().contains("ptc build"));
}

#[test]
fn damage_is_named() {
    let hash = "the file is damaged: its content does not match its hash";
    for at in [12, 16, 20 + 12, 40, 64, 100, 120] {
        check(|b| b[at] ^= 1, Code::Corrupt, hash);
    }
    check(|b| *b.last_mut().unwrap() ^= 1, Code::Corrupt, hash);
    check(|b| b.extend([0, 0]), Code::Corrupt, "the file is damaged: 2 bytes follow its end");
}

#[test]
fn sections_that_do_not_fit_are_refused_although_the_digest_is_right() {
    let code = code_of(&encode(&sample()));
    let section = |kind, ancillary| Section { kind, ancillary, body: &code };
    let refusal = |sections: &[Section<'_>]| decode(&seal(0, sections)).unwrap_err();
    assert_eq!(refusal(&[]).code, Code::ArtifactLimitExceeded);
    assert_eq!(refusal(&[section(kind::SOURCE, true)]).message, "the file holds no code");
    let twice = [section(kind::CODE, false), section(kind::CODE, false)];
    assert_eq!(refusal(&twice).message, "the file is damaged: its table of sections is out of order");
    // Every byte of the section table changed, with the digest recomputed.
    let whole = seal(0, &[section(kind::CODE, false)]);
    for at in 64..64 + 56 {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes[32..64].fill(0);
        let digest: [u8; 32] =
            sha2::Digest::finalize(sha2::Digest::chain_update(<sha2::Sha256 as sha2::Digest>::new(), &bytes))
                .into();
        bytes[32..64].copy_from_slice(&digest);
        assert!(decode(&bytes).is_err(), "byte {at}");
    }
}

#[test]
fn an_old_reader_skips_what_it_may_and_refuses_what_it_must_not() {
    let code = code_of(&encode(&sample()));
    let code = Section { kind: kind::CODE, ancillary: false, body: &code };
    let new = |ancillary| Section { kind: 99, ancillary, body: b"from the future" };
    assert_eq!(Container::read(&seal(0, &[code, new(true)])).unwrap().sections, [code]);
    let error = decode(&seal(0, &[code, new(false)])).unwrap_err();
    assert_eq!(error.code, Code::UnsupportedFormat);
    assert!(error.message.contains("kind 99"), "{}", error.message);
}

#[test]
fn bodies_that_are_no_artifact_are_named() {
    let body = |change: &dyn Fn(&mut Vec<u8>)| {
        let refused = refusal(|bytes| {
            let mut body = code_of(bytes);
            change(&mut body);
            *bytes = reseal(&body);
        });
        (refused.0, refused.1)
    };
    let corrupt = |message: &str| (Code::Corrupt, message.to_string());
    assert_eq!(body(&|b| b.truncate(60)), corrupt("the file does not hold its artifact: it ends too early"));
    let longer = "the file is not in its canonical form: 1 bytes follow its artifact";
    assert_eq!(body(&|b| b.push(0)), (Code::NonCanonical, longer.to_string()));
    // The first function has no name; 2 is neither "none" nor "some".
    let message = "the file does not hold its artifact: an optional value is neither present nor absent";
    assert_eq!(body(&|b| b[33] = 2), corrupt(message));
    // The number of functions, padded to two bytes.
    let padded = |b: &mut Vec<u8>| {
        b[32] |= 0x80;
        b.insert(33, 0);
    };
    assert_eq!(body(&padded).0, Code::NonCanonical);
}

#[test]
fn a_forged_length_allocates_nothing() {
    // 2^60 items: if the length were believed, reserving room for them would abort.
    let huge = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    let plain = code_of(&encode(&sample()));
    for at in 32..plain.len() {
        let mut body = plain[..at].to_vec();
        body.extend(huge);
        body.extend(&plain[at + 1..]);
        if let Ok(artifact) = decode(&reseal(&body)) {
            // The change hit a number or a text and is now its content.
            assert!(encode(&artifact).len() < 2 * plain.len() + 256);
        }
    }
}
