//! Settings from flags, environment and defaults.
#![allow(missing_docs)]

use ptc_mcp::settings::{FLAGS, Flag, Kind, Origin};
use ptc_mcp::{Profile, Settings};

fn problems(flags: &[&str]) -> Vec<String> {
    let problems = Settings::resolve(flags.iter().copied(), |_| None).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_default() {
    let env = |name: &str| match name {
        "PTC_MCP_MAX_SESSIONS" => Some("8".to_string()),
        "PTC_MCP_MAX_PROGRAM_BYTES" => Some("9".to_string()),
        "PTC_MCP_SESSIONS" => Some(String::new()),
        "PTC_MCP_UPSTREAMS" => Some("up.json".to_string()),
        _ => None,
    };
    let resolved = Settings::resolve(["--max-sessions", "4"], env).unwrap();
    let settings = &resolved.settings;
    assert_eq!((settings.max_sessions, settings.max_program_bytes), (4, 9));
    assert!(!settings.sessions, "an empty variable is not set");
    assert_eq!(settings.upstreams_config.as_deref(), Some("up.json"));
    assert_eq!(resolved.origin("max-sessions"), Origin::Flag);
    assert_eq!(resolved.origin("max-program-bytes").to_string(), "PTC_MCP_MAX_PROGRAM_BYTES");
    assert_eq!(resolved.origin("max-frame-bytes"), Origin::Default);
}

#[test]
fn variables_with_their_old_names_are_read_with_a_warning() {
    let env = |name: &str| match name {
        "PTC_RUNNER_MCP_MAX_SESSIONS" => Some("8".to_string()),
        "PTC_RUNNER_MCP_SESSIONS" | "PTC_MCP_DEBUG_TOOL" => Some("true".to_string()),
        "PTC_MCP_SESSIONS" | "PTC_RUNNER_MCP_DEBUG_TOOL" => Some("false".to_string()),
        _ => None,
    };
    let resolved = Settings::resolve([], env).unwrap();
    assert_eq!(resolved.settings.max_sessions, 8);
    assert!(!resolved.settings.sessions && resolved.settings.debug_tool, "the new name wins");
    assert_eq!(
        resolved.warnings,
        ["PTC_RUNNER_MCP_MAX_SESSIONS is an old name; set PTC_MCP_MAX_SESSIONS instead"]
    );
    assert!(resolved.print().contains("max-sessions = 8  # PTC_RUNNER_MCP_MAX_SESSIONS\n"));
}

#[test]
fn numbers_must_be_whole_and_above_zero() {
    for text in ["0", "-1", "1.5", "", "1e3", " 1", "99999999999999999999"] {
        let found = problems(&[&format!("--max-sessions={text}")]);
        let wanted =
            format!("--max-sessions / PTC_MCP_MAX_SESSIONS must be a positive integer, got: {text:?}");
        assert_eq!(found, [wanted]);
    }
    // Numbers for HTTP matter only if HTTP is on.
    assert!(Settings::resolve(["--http-port=x"], |_| None).unwrap().warnings[0].contains("--http-port"));
    assert!(problems(&["--http", "--http-disable-auth", "--http-port=x"])[0].contains("--http-port"));
}

#[test]
fn switches_take_many_words() {
    for (text, wanted) in
        [("1", true), ("YES", true), ("on", true), ("Off", false), ("no", false), ("0", false)]
    {
        let flag = format!("--sessions={text}");
        assert_eq!(Settings::resolve([flag.as_str()], |_| None).unwrap().settings.sessions, wanted, "{text}");
    }
    let odd = Settings::resolve(["--sessions=maybe", "--catalog-mode=big"], |_| None).unwrap();
    assert_eq!((odd.settings.sessions, odd.warnings.len()), (false, 2));
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    let found =
        problems(&["--sesions", "--max-sessions", "--log-level=loud", "stray", "--sessions", "--sessions"]);
    assert_eq!(
        found,
        [
            "unknown flag --sesions; did you mean --sessions?",
            "--max-sessions needs a value",
            "unknown flag stray",
            "--sessions is given twice",
            "--log-level / PTC_MCP_LOG_LEVEL must be one of debug, info, warn, error",
        ]
    );
}

#[test]
fn lists_grow() {
    let flags = ["--prelude", "a.ptcp", "--prelude=b.ptcp,c.ptcp"];
    let settings = Settings::resolve(flags, |_| None).unwrap().settings;
    assert_eq!(settings.prelude, ["a.ptcp", "b.ptcp", "c.ptcp"]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let with = |more: &[&str]| problems(&[&["--http", "--http-auth-token", TOKEN], more].concat());
    assert!(with(&[]).is_empty());
    assert!(problems(&["--http"])[0].contains("needs --http-auth-token"));
    assert!(problems(&["--http", "--http-disable-auth"]).is_empty());
    assert!(problems(&["--http", "--http-auth-token=short"])[0].contains("32 bytes"));
    assert!(with(&["--http-host=0.0.0.0"])[0].contains("--http-allow-unsafe-network"));
    assert!(with(&["--http-host=0.0.0.0", "--http-allow-unsafe-network"]).is_empty());
    assert!(with(&["--http-host=example.org"])[0].contains("IP address or localhost"));
    assert!(with(&["--http-metrics", "--http-metrics-path=/mcp"])[0].contains("must differ"));
    assert!(with(&["--http-path=/health"])[0].contains("neither /health"));
    for wrong in ["proxy.example", "10.0.0.0/33", "10.0.0/8"] {
        let found = with(&[&format!("--http-trusted-proxy=10.0.0.1,{wrong}")]);
        assert!(found.len() == 1 && found[0].contains(&format!("got: {wrong:?}")), "{found:?}");
    }
    assert!(with(&["--http-trusted-proxy=10.0.0.0/8,::1"]).is_empty());
    assert!(with(&["--http-port=70000"])[0].contains("65535"));
    let open = ["--http", "--http-disable-auth", "--http-host=::", "--http-allow-unsafe-network"];
    assert_eq!(problems(&open).len(), 2);
    assert!(problems(&["--hide-stateless"])[0].contains("no tool"));
}

#[test]
fn defaults_that_depend_on_others() {
    let settings = |flags: &[&str]| Settings::resolve(flags.iter().copied(), |_| None).unwrap().settings;
    assert_eq!(settings(&[]).profile(), Profile::Slim);
    assert_eq!(settings(&["--debug-tool"]).profile(), Profile::Debug);
    assert_eq!(settings(&["--debug-tool", "--response-profile=slim"]).profile(), Profile::Slim);
    assert_eq!((settings(&[]).program_timeout(false), settings(&[]).program_timeout(true)), (1_000, 10_000));
    assert_eq!(settings(&["--program-timeout-ms=7"]).program_timeout(true), 7);
    assert_eq!(settings(&["--debug-ring-size=3"]).debug_ring_size, 10);
    assert!(settings(&[]).concurrent_calls() <= 8);
}

#[test]
fn the_table_is_in_order() {
    for flag in FLAGS {
        assert!(flag.doc.ends_with('.') && flag.doc.len() > 8, "{flag:?}");
        assert_eq!(Flag::named(flag.name).unwrap().doc, flag.doc, "{} is there twice", flag.name);
        if let (Kind::Word(words), false) = (flag.kind, flag.default.is_empty()) {
            assert!(words.contains(&flag.default), "{flag:?}");
        }
    }
    let printed = Settings::resolve([], |_| None).unwrap().print();
    assert_eq!(printed.lines().count(), FLAGS.len());
    // The defaults of the table are those of the settings.
    for flag in FLAGS.iter().filter(|flag| !flag.default.is_empty()) {
        assert!(printed.contains(&format!("{} = {}  # default", flag.name, flag.default)), "{}", flag.name);
    }
}
