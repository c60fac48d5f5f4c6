//! Leaks of values derived from firewalled ones, in whole missions: requests and traces are searched for all spellings.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_bytecode::BUILTINS;
use ptc_model::{LlmRequest, Reply, Role, Scripted};
use ptc_runtime::ToolError;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Expressions that read a secret, each with the texts that would reveal it.
const SECRETS: [(&str, &[&str]); 7] = [
    ("(:_text data/s)", &["Xq7hiddenZw93kk"]),
    ("(:_int data/s)", &["987654321987"]),
    ("(:_float data/s)", &["271828.459", "271828", "271829"]),
    ("(parse (:_day data/s))", &["1987-11-23"]),
    ("(parse (:_time data/s))", &["1987-11-23", "04:05:06"]),
    ("(:_map data/s)", &["innerKey77", "innerVal88"]),
    ("data/_list", &["xq7Listed", "33445566"]),
];

fn context() -> serde_json::Value {
    json!({
        "s": {
            "_text": "Xq7hiddenZw93kk", "_int": 987_654_321_987_i64, "_float": 271_828.459, "_day": "1987-11-23",
            "_time": "1987-11-23T04:05:06Z", "_map": {"innerKey77": "innerVal88"}, "_pin": 7731, "_word": "qſz",
        },
        "_list": ["xq7Listed", 33_445_566],
        "open": "tea",
    })
}

/// Returns the texts that would reveal the secrets: their parts of six characters, also reversed.
fn needles() -> Vec<String> {
    let mut all = vec!["7731".to_string(), "7732".to_string(), "qſz".to_string()];
    for text in SECRETS.iter().flat_map(|(_, texts)| texts.iter()) {
        let chars: Vec<char> = text.to_lowercase().chars().collect();
        let reversed: Vec<char> = chars.iter().rev().copied().collect();
        for chars in [chars, reversed] {
            all.extend(chars.windows(chars.len().min(6)).map(|part| part.iter().collect::<String>()));
        }
    }
    all
}

/// Runs a mission of these programs, one per turn. Returns its step, and the texts that its model and its trace got.
fn mission(agent: Agent, replies: Vec<String>) -> (Result<Step, Box<Step>>, Vec<String>) {
    let (step, mut told, model) = mission_on(&context(), agent, replies);
    // Every request repeats the earlier ones.
    told.extend(model.requests().last().into_iter().flat_map(heard));
    (step, told)
}

/// Returns all texts of a request, except for the model's own words.
fn heard(request: &LlmRequest) -> Vec<String> {
    let messages = request.messages.iter().filter(|message| message.role != Role::Assistant);
    [request.system.clone()].into_iter().chain(messages.map(|message| message.content.clone())).collect()
}

fn mission_on(
    context: &serde_json::Value,
    agent: Agent,
    replies: Vec<String>,
) -> (Result<Step, Box<Step>>, Vec<String>, Scripted) {
    let replies = replies.into_iter().map(|program| Reply::from(format!("```clojure\n{program}\n```")));
    let model = Scripted::new(replies.collect::<Vec<_>>());
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = events.clone();
    let tracer = Tracer::new().with(move |event: &Event| {
        let mut data = serde_json::Value::Object(event.data.clone());
        without_chance(&mut data);
        seen.lock().unwrap().push(format!("{:?} {data}", event.tool_name));
    });
    let options =
        RunOptions::new().context(context).unwrap().tracer(tracer).llm(LlmRef::client(model.clone()));
    let step = run(&agent, &options);
    let told = std::mem::take(&mut *events.lock().unwrap());
    (step, told, model)
}

/// Removes numbers and hashes that differ between missions, since they may contain any digits.
fn without_chance(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            let is_made =
                |key: &str| ["hash", "_id", "_ids", "_ms", "key"].iter().any(|end| key.ends_with(end));
            map.retain(|key, _| !is_made(key) && key != "usage");
            map.values_mut().for_each(without_chance);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_chance),
        _ => {}
    }
}

fn assert_untold(told: &[String], needles: &[String]) {
    for text in told {
        let small = text.to_lowercase();
        if let Some(needle) = needles.iter().find(|needle| small.contains(*needle)) {
            panic!("{needle:?} is told:\n{text}");
        }
    }
}

#[test]
fn no_builtin_tells_a_model_what_it_made_of_a_firewalled_value() {
    let needles = needles();
    let mut programs = Vec::new();
    for (i, row) in BUILTINS.iter().enumerate() {
        if row.name.starts_with('%') || row.name.starts_with("tool/") || row.name.starts_with("Thread") {
            continue;
        }
        let n = row.min.max(1) as usize;
        for at in 0..n {
            let (read, _) = SECRETS[(i + at) % SECRETS.len()];
            let fillers = ["1", "\"ab\"", "[1 2]", "inc", ":a"];
            for (j, filler) in [fillers[i % 5], fillers[(i + 2) % 5]].into_iter().enumerate() {
                let place = if j == 0 { "s" } else { "[s {:k s}]" };
                let args: Vec<&str> = (0..n).map(|k| if k == at { place } else { filler }).collect();
                let call = format!("({} {})", row.name, args.join(" "));
                programs.push(format!(
                    "(let [s {read} r {call}] (println r) (prn [r]) (def kept r) {{:made r :text (str r)}})"
                ));
            }
        }
    }
    for chunk in programs.chunks(60) {
        let agent = Agent::builder().prompt("Do {{open}}").signature("(open :string) -> :any");
        let agent = agent.max_turns(70).turn_budget(100).build().unwrap();
        let replies = chunk.iter().cloned().chain(["(return 1)".to_string()]).collect();
        let (step, told) = mission(agent, replies);
        assert!(step.is_ok(), "{:?}", step.err().map(|step| step.fail));
        assert!(told.len() > chunk.len(), "nothing was looked at");
        assert_untold(&told, &needles);
    }
}

#[test]
fn what_is_derived_is_told_to_nobody_but_the_host_and_tools() {
    let got: Arc<Mutex<Vec<serde_json::Value>>> = Arc::default();
    let seen = got.clone();
    let send = Tool::new("send", move |args, _| {
        seen.lock().unwrap().push(args.json()?);
        Ok(json!({"ok": true}))
    });
    let refuse = Tool::new("refuse", |args, _| -> Result<(), ToolError> {
        // A tool that quotes its arguments: its text is searched for secrets.
        Err(ToolError::new(format!("cannot take {}", args.json()?)))
    });
    let child = Agent::builder()
        .prompt("Look at {{what}} of {{n}}")
        .signature("(what :string, n :int) -> {seen :string}")
        .build()
        .unwrap();
    let agent = Agent::builder()
        .prompt("Do {{open}}")
        .signature("(open :string) -> :any")
        .tool(send)
        .tool(refuse)
        .tool(Tool::agent("child", child))
        .journaling(true)
        .llm_query(true)
        .max_turns(40)
        .turn_budget(80)
        .build()
        .unwrap();
    let replies = [
        // Short values, dates, rounded floats: printed, defined, and returned as values.
        "(println (:_pin data/s) (inc (:_pin data/s)) (:_word data/s)) (:_pin data/s)",
        "(def day (parse (:_day data/s))) (println (.plusDays day 1)) {:day day :year (.getYear day)}",
        "(println (round (:_float data/s)) (format \"%.1f\" (:_float data/s))) [(floor (:_float data/s))]",
        "(def up (upper-case (:_text data/s))) (str/reverse up)",
        "(subs (:_text data/s) 90)",
        "(assert false (:_word data/s))",
        "[*1 day up (count up)]",
        // Tools.
        "(tool/send {:to up :day (str day) :n (:_pin data/s) :deep [{:a (:_int data/s)}]})",
        "(tool/refuse {:text (:_text data/s)})",
        // Missions and models below.
        "(tool/child {:what (subs (:_text data/s) 0 8) :n (:_pin data/s)})",
        "(println data/what data/n) (return {:seen data/what})",
        "(tool/llm-query {:prompt \"Say {{x}}\" :x (str \"<\" (:_word data/s) \">\")})",
        "(tool/llm-query {:prompt (str \"Say \" (:_text data/s))})",
        // The journal and the plan.
        "(task \"one\" (:_text data/s)) (step-done \"one\" (:_word data/s)) (task \"one\" 1)",
        "(task (:_text data/s) 1)",
        "(return {:text (:_text data/s) :pin (inc (:_pin data/s)) :day day :n (count up)})",
    ];
    let replies: Vec<String> = replies.into_iter().map(str::to_string).collect();
    let (mut at, mut scripted) = (0, Vec::new());
    while at < replies.len() {
        scripted.push(replies[at].clone());
        // The reply to `llm-query`.
        if replies[at].contains("Say {{x}}") {
            scripted.push("fine".to_string());
        }
        at += 1;
    }
    let (step, told) = mission(agent, scripted);
    let step = step.unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns.last()));
    let day = json!("1987-11-23");
    assert_eq!(step.json().unwrap(), json!({"text": "Xq7hiddenZw93kk", "pin": 7732, "day": day, "n": 15}));
    let sent = json!({"to": "XQ7HIDDENZW93KK", "day": "1987-11-23", "n": 7731, "deep": [{"a": 987_654_321_987_i64}]});
    assert_eq!(*got.lock().unwrap(), [sent]);
    assert_untold(&told, &needles());
}

/// Checks hashes in traces, since trying all short secrets would reveal one from its hash.
#[test]
fn hashes_in_traces_do_not_depend_on_firewalled_values() {
    let hashes = |pin: i64| {
        let send = Tool::new("send", |_, _| Ok(json!({"ok": true}))).cache(true);
        let agent = Agent::builder().prompt("Do it").tool(send).build().unwrap();
        let replies = ["(tool/send {:n (inc (:_pin data/s)) :to \"tea\"})", "(return 1)"];
        let model = Scripted::new(replies.map(|program| Reply::from(format!("```clojure\n{program}\n```"))));
        let found: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = found.clone();
        let tracer = Tracer::new().with(move |event: &Event| {
            let calls = event.data.get("tool_calls").and_then(|calls| calls.as_array()).into_iter().flatten();
            let of_turns = calls.map(|call| call["args_hash"].to_string());
            let of_calls = event.data.get("cache_key_hash").map(|hash| hash.to_string());
            seen.lock().unwrap().extend(of_turns.chain(of_calls).filter(|hash| hash != "null"));
        });
        let context = json!({"s": {"_pin": pin}});
        let options = RunOptions::new().context(&context).unwrap().tracer(tracer).llm(LlmRef::client(model));
        run(&agent, &options).unwrap();
        std::mem::take(&mut *found.lock().unwrap())
    };
    let one = hashes(7731);
    assert!(one.len() >= 2, "{one:?}");
    assert_eq!(one, hashes(1234));
}

/// Runs a mission on a user with firewalled collections. Also returns all texts that its model, and those below, got.
fn mission_on_user(agent: Agent, replies: &[&str]) -> (Result<Step, Box<Step>>, Vec<String>) {
    let user = json!({"u": {
        "_list": ["xq7item", "yq8item"], "_person": {"mail": "ada@engine.uk"}, "_q": {"prompt": "tell pp9pp"},
        "_args": {"what": "zz9what", "kname9": 3}, "_short": "q7z", "_age": 83_719, "_parts": "w3w,v4v",
    }});
    let replies = replies.iter().map(|reply| reply.to_string()).collect();
    let (step, mut told, model) = mission_on(&user, agent, replies);
    told.extend(model.requests().iter().flat_map(heard));
    let secrets = ["xq7", "yq8", "ada@", "pp9pp", "zz9", "kname9", "q7z", "83719", "w3w", "v4v"];
    assert_untold(&told, &secrets.map(str::to_string));
    (step, told)
}

fn has(told: &[String], text: &str) -> bool {
    told.iter().any(|told| told.contains(text))
}

#[test]
fn questions_show_no_part_of_a_firewalled_collection() {
    let agent = Agent::builder().prompt("Do it").llm_query(true).max_turns(9).build().unwrap();
    let replies = [
        r#"(tool/llm-query {:prompt "{{#xs}}<{{.}}>{{/xs}} of {{p.mail}}" :xs (:_list data/u) :p (:_person data/u)})"#,
        "fine",
        "(tool/llm-query (:_q data/u))",
        r#"(tool/llm-query {:prompt "x" (:_short data/u) 1})"#,
        r#"(tool/llm-query (assoc (:_args data/u) :prompt "x"))"#,
        "(return 1)",
    ];
    let (step, told) = mission_on_user(agent, &replies);
    assert!(step.is_ok(), "{:?}", step.err().map(|step| step.fail));
    assert!(has(&told, "<Firewalled> of <Firewalled>") && has(&told, "one of its keys is"), "{told:?}");
}

#[test]
fn agents_below_are_told_no_names_of_a_firewalled_map() {
    let child = Agent::builder().prompt("Look at {{what}}").signature("(what :string, n :int) -> :string");
    let broken =
        Agent::builder().prompt("Fail").signature("(k :string) -> :string").max_turns(1).build().unwrap();
    let agent = Agent::builder()
        .prompt("Do it")
        .tool(Tool::agent("child", child.build().unwrap()))
        .tool(Tool::agent("broken", broken))
        .max_turns(9)
        .turn_budget(20)
        .build()
        .unwrap();
    let replies = [
        "(tool/child (assoc (:_args data/u) :n 5))",
        // The hint lists existing names.
        "data/foo",
        "(println data/what) (return data/what)",
        "(tool/broken {:k (:_short data/u)})",
        "(fail {:_k data/k :message (str \"no \" data/k)})",
        "(return 1)",
    ];
    let (step, told) = mission_on_user(agent, &replies);
    assert!(step.is_ok(), "{:?}", step.err().map(|step| step.fail));
    assert!(has(&told, "there is `data/fail`, `data/n`, `data/what`"), "{told:?}");
}

#[test]
fn contracts_and_types_tell_nothing_of_firewalled_values() {
    let send = Tool::new("send", |_, _| Ok(json!({"ok": true})));
    let send = send.signature("(n :int[>90000]) -> :any");
    let agent = Agent::builder().prompt("Do it").signature("{l [:int]}").tool(send).max_turns(12);
    let agent = agent.turn_budget(20).build().unwrap();
    let replies = [
        "(tool/send {:n (:_age data/u)})",
        "(tool/send {:n (str (:_age data/u))})",
        "(do {(str \"K\" (:_short data/u)) 1})",
        "(def kept {(keyword (:_short data/u)) {:a 1}})",
        "(:_person data/u)",
        "data/foo",
        "(count data/result)",
        "(return {:l (clojure.string/split (:_parts data/u) #\",\")})",
        "(return {:l [1]})",
    ];
    let (step, told) = mission_on_user(agent, &replies);
    assert!(step.is_ok(), "{:?}", step.err().map(|step| step.fail));
    assert!(has(&told, "expected int >90000, got int <Firewalled>"), "{told:?}");
    assert!(has(&told, "l[0]: expected int, got string <Firewalled>"), "{told:?}");
    assert!(has(&told, "<Firewalled> ; :map") && has(&told, "data/result"), "{told:?}");
}
