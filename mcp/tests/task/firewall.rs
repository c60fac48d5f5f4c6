//! Firewalled values of a task never reach its client, neither in its answer nor in its trace.

use crate::world::{READS, World};
use serde_json::json;

const CUSTOMER: &str = "(:value (tool/call {:server \"shop\" :tool \"orders\" :args {:of 1}}))";

#[tokio::test]
async fn answers_failures_previews_and_traces_are_without_firewalled_values() {
    let programs = [
        ("(return {:mail (:_mail v) :pin (:_pin v) :_x (:_short v) :name (:name v)})", "ok"),
        ("(return (str \"mail \" (:_mail v)))", "ok"),
        ("(return v)", "ok"),
        ("(fail {:message (str \"for \" (:_mail v)) :pin (:_pin v)})", "error"),
        ("(fail {:reason :no :message (:_short v) :details {:_mail (:_mail v) :pin (:_pin v)}})", "error"),
        ("(fail {:_pin (:_pin v)})", "error"),
        ("(fail (:_mail v))", "error"),
        ("(subs (:_mail v) 900)", "error"),
    ];
    for (program, status) in programs {
        let folder = tempfile::tempdir().unwrap();
        let dir = format!("--trace-dir={}", folder.path().display());
        let flags: &[&str] = &[&dir, "--trace-payloads=full"];
        let program = format!("(let [v {CUSTOMER}] {program})");
        // One reply for each turn.
        let world = World::new(&[READS, flags], vec![format!("```clojure\n{program}\n```"); 9]);
        let told = world.task("x").await;
        assert_eq!(told["status"], status, "{told}");
        world.server.traces().unwrap().flush();
        let mut all = told.to_string();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            all += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        for secret in ["ada@", "q7z", "4711"] {
            assert!(!all.contains(secret), "{secret}: {program}: {all}");
        }
        let preview = &told["upstream_results"][0]["preview"];
        assert_eq!(
            preview, r#"{"_mail":"<Firewalled>","_pin":"<Firewalled>","_short":"<Firewalled>","name":"Ada"}"#,
            "{told}"
        );
        if program.contains(":name (:name v)") {
            let public =
                json!({"mail": "<Firewalled>", "pin": "<Firewalled>", "_x": "<Firewalled>", "name": "Ada"});
            assert_eq!(told["structured_result"], public);
        }
    }
}
