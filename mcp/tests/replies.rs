//! Size limits of replies, for any content.
#![allow(missing_docs)]

use ptc_mcp::{Payload, Profile, Reason};
use serde_json::{Value, json};

fn size(payload: &Payload, profile: Profile) -> usize {
    payload.reply(profile).to_json().to_string().len()
}

#[test]
fn no_reply_is_larger_than_its_profile_allows() {
    let hostile: Vec<String> =
        ["x", "\u{1}", "\"", "é", "💥", "\\"].iter().map(|c| c.repeat(9_000)).collect();
    for text in &hostile {
        let payload = Payload {
            result: Some(text.clone()),
            prints: vec![text.clone(); 20],
            feedback: text.clone(),
            validated: Some(json!({"rows": vec![text.clone(); 3]})),
            upstream_calls: vec![
                json!({"server": text, "tool": text, "status": "error", "reason": text});
                50
            ],
            upstream_results: vec![json!(text); 5],
            metrics: Some(json!({"note": text})),
            ..Payload::default()
        };
        let failed = Payload { reason: Some(Reason::RuntimeError), message: text.clone(), ..payload.clone() };
        for profile in Profile::ALL {
            for payload in [&payload, &failed] {
                let (size, most) = (size(payload, profile), profile.limits().envelope_bytes);
                assert!(size <= most, "{profile}: {size} > {most} for {:?}", &text[..4]);
            }
        }
    }
}

#[test]
fn a_validated_value_is_exact_or_absent() {
    let of = |items: usize| Payload { validated: Some(json!(vec![7; items])), ..Payload::default() };
    let structured = |items: usize| of(items).reply(Profile::Structured).structured.unwrap();
    assert_eq!(structured(10)["validated"], json!(vec![7; 10]));
    assert_eq!(structured(0)["validated"], json!([]));
    let large = structured(30_000);
    assert!(!large.contains_key("validated"));
    assert_eq!(
        (&large["validated_bytes"], &large["validated_preview_truncated"]),
        (&json!(60_001), &json!(true))
    );
    assert_eq!(large["validated_preview"].as_str().unwrap().chars().count(), 1024);
    // Slim replies show it as text, because they have no other form of the value.
    assert_eq!(of(3).reply(Profile::Slim).text, "[7,7,7]");
}

#[test]
fn prints_are_counted_as_they_come() {
    let many =
        Payload { result: Some("user=> 1".into()), prints: vec!["x".into(); 500], ..Payload::default() };
    let reply = many.reply(Profile::Slim);
    assert_eq!(reply.text.matches("\nx").count(), 20);
    assert!(reply.text.ends_with("[truncated]"));
    let few = Payload { prints: vec!["x".into(); 3], ..many };
    assert!(!few.reply(Profile::Slim).text.contains("truncated"));
}

#[test]
fn errors_tell_once_what_happened() {
    let payload = Payload {
        feedback: "timeout after 1000 ms\nhint: fewer rows".into(),
        upstream_calls: vec![
            json!({"server": "a", "tool": "x", "status": "ok"}),
            json!({"server": "b", "tool": "y", "status": "error", "reason": "rate_limited", "error": "…"}),
        ],
        ..Payload::error(Reason::Timeout, "timeout after 1000 ms")
    };
    let slim = payload.reply(Profile::Slim);
    let wanted =
        "timeout after 1000 ms\ntimeout after 1000 ms\nhint: fewer rows\nupstream b.y failed: rate_limited";
    assert_eq!(slim.text, wanted);
    let structured = payload.reply(Profile::Structured).structured.unwrap();
    assert_eq!(structured["upstream_calls"].as_array().unwrap().len(), 1);
    assert_eq!(structured["upstream_calls"][0].as_object().unwrap().len(), 4);
    let debug = payload.reply(Profile::Debug).structured.unwrap();
    assert_eq!(debug["upstream_calls"].as_array().unwrap().len(), 2);
    let same = Payload { feedback: payload.message.clone(), upstream_calls: vec![], ..payload };
    assert_eq!(same.reply(Profile::Slim).text, "timeout after 1000 ms");
    assert_eq!(same.reply(Profile::Slim).to_json()["isError"], Value::Bool(true));
}
