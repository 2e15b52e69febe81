//! Sections, keys and layers.

use std::{collections::BTreeMap, path::PathBuf};

use browser::{BrowserConfig, EngineKind};
use confine::Mechanism;
use rlm_backend::{ProtectionConfig, Requirements};
use serde_json::Value;
use spawner::{
    AgentNetwork, Isolation, ProviderConfig, ProviderKind, SubagentConfig, TaskDelivery,
};
use toolset::{
    CommandConfig, CommandNetwork, Config, ConfigBuilder, ConfigError, LayeredConfig, Origin,
    WorkdirAccess, config_schema,
};

fn read(toml: &str) -> Result<LayeredConfig, ConfigError> {
    let mut builder = ConfigBuilder::new();
    builder.file("remit.toml", toml)?;
    builder.build()
}

/// Lists in which no key has its default.
fn protection() -> ProtectionConfig {
    let one = |name: &str| vec![name.to_owned()];
    ProtectionConfig { protect: one("a"), report: one("b/c"), unprotect: one("./d") }
}

/// A command in which no key has its default.
fn full_command() -> CommandConfig {
    let parameters = serde_json::json!({"type": "object", "properties": {"path": {}}});
    CommandConfig {
        description: "Counts.".to_owned(),
        argv: vec!["wc".to_owned(), "{path}".to_owned()],
        parameters: parameters.as_object().cloned(),
        workdir: WorkdirAccess::ReadWrite,
        protection: protection(),
        readable: vec![PathBuf::from("/srv/data")],
        network: CommandNetwork::Host,
        env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        timeout_ms: Some(1),
        memory_bytes: Some(2),
        processes: Some(3),
        cpu_percent: Some(4),
        require: Requirements(vec![Mechanism::MemoryGroup]),
    }
}

/// A configuration in which no key has its default.
fn full() -> Config {
    let mut config = Config::default();
    config.tools.definitions = Some(PathBuf::from("defs.json"));
    config.tools.execute = true;
    config.tools.allow = vec!["a".to_owned(), "b.c".to_owned()];
    config.tools.ask = vec!["a".to_owned()];
    config.tools.workdir = Some(PathBuf::from("/srv/a folder"));
    let table = BTreeMap::from([("Côte d'Ivoire".to_owned(), "Yamoussoukro".to_owned())]);
    config.tools.lookup = BTreeMap::from([("capitals".to_owned(), table)]);
    config.tools.command = BTreeMap::from([("count".to_owned(), full_command())]);
    config.limits.timeout_ms = Some(1);
    config.limits.max_args_bytes = 2;
    config.limits.max_output_bytes = 3;
    config.limits.jobs = 4;
    config.limits.executor_threads = 5;
    config.limits.max_abandoned_threads = 6;
    config.limits.max_queued_calls = 7;
    config.chain.max_turns = 9;
    config.chain.token_budget = Some(10);
    config.chain.wall_clock_ms = Some(11);
    config.chain.repeat_limit = 12;
    config.chain.cut_off_limit = 13;
    config.chain.context_window_tokens = Some(1400);
    config.chain.context_reserve_tokens = 15;
    config.chain.keep_exchanges = 16;
    config.chain.eviction = chain::Eviction::Refuse;
    config.model.provider = model::ProviderKind::Anthropic;
    config.model.url = Some("http://127.0.0.1:1".to_owned());
    config.model.name = Some("m".to_owned());
    config.model.api_key_env = Some("MY_KEY".to_owned());
    config.model.stream = true;
    config.model.max_tokens = Some(17);
    config.model.temperature = Some(0.5);
    config.model.seed = Some(-18);
    config.model.timeout_secs = 19;
    config.model.idle_timeout_secs = 20;
    config.model.max_retries = 0;
    config.model.proxy = Some("http://127.0.0.1:2".to_owned());
    config.audit.file = Some(PathBuf::from("trail"));
    config.sandbox = rlm_backend::SandboxConfig {
        enabled: true,
        backend: "other".to_owned(),
        fallback: vec!["another".to_owned()],
        separate_tools: true,
        timeout_secs: 21,
        max_output_bytes: 22,
        max_sessions: 23,
        session_lifetime_secs: 24,
        session_extensions: 28,
        session_extension_secs: 29,
        idle_secs: 25,
        warm_sessions: 30,
        memory_bytes: 26,
        processes: 27,
        cpu_percent: Some(33),
        disk_bytes: 31,
        max_file_bytes: 32,
        network: rlm_backend::SessionNetwork::Host,
        workdir: Some(PathBuf::from("sessions")),
        workdir_access: rlm_backend::SessionAccess::ReadWrite,
        protection: rlm_backend::ProtectionConfig {
            protect: vec!["deploy.sh".to_owned()],
            report: vec!["run".to_owned()],
            unprotect: vec![".vscode".to_owned()],
        },
        readable: vec![PathBuf::from("/srv/data")],
        require: Requirements(vec![Mechanism::Namespaces]),
        docker: docker(),
    };
    let price = rlm_backend::Price { input_micros: 33, output_micros: 34 };
    config.query = rlm_backend::QueryConfig {
        leaf_model: Some("leaf".to_owned()),
        models: vec!["other".to_owned()],
        max_tokens: 35,
        time_secs: 36,
        max_depth: 3,
        max_iterations: 37,
        max_sub_calls: 38,
        concurrency: 39,
        child_share_percent: 40,
        output_chars: 410,
        compact_at_tokens: 42,
        max_text_bytes: 43,
        system_prompt: Some(PathBuf::from("prompt.md")),
        prices: BTreeMap::from([("m".to_owned(), price)]),
        max_cost_micros: 44,
        session_max_tokens: 45,
        session_time_secs: 46,
        session_max_sub_calls: 47,
        session_max_cost_micros: 48,
    };
    config.subagent = subagent();
    config.browser = browser();
    config
}

/// A section of which every key is changed.
fn browser() -> BrowserConfig {
    let one = |text: &str| vec![text.to_owned()];
    BrowserConfig {
        enabled: true,
        allow_hosts: one("example.com"),
        deny_hosts: one("*.example.com"),
        internal_hosts: one("127.0.0.1:8000"),
        ports: vec![81, 82],
        api_methods: one("PUT"),
        timeout_secs: 51,
        connect_timeout_ms: 52,
        first_byte_timeout_ms: 53,
        max_bytes: 5400,
        max_document_bytes: 5500,
        max_header_bytes: 9000,
        max_redirects: 7,
        per_host: 8,
        host_delay_ms: 59,
        user_agent: Some("mine/1".to_owned()),
        robots: true,
        proxy: Some("http://proxy.example:3128".to_owned()),
        ca_file: Some(PathBuf::from("ca.pem")),
        keep_secs: 60,
        keep_bytes: 61,
        engine: Some(EngineKind::Chromium),
        engine_program: Some(PathBuf::from("/opt/chromium")),
        max_pages: 5,
        page_memory_mib: 1024,
        page_idle_secs: 62,
    }
}

/// A section of which every key is changed, and a provider of which every key is.
fn subagent() -> SubagentConfig {
    let provider = ProviderConfig {
        kind: ProviderKind::Agent,
        preset: Some("claude".to_owned()),
        program: Some("/opt/claude".to_owned()),
        args: Some(vec!["--".to_owned(), "{task}".to_owned()]),
        task: Some(TaskDelivery::Argument),
        model: Some("m".to_owned()),
        network: AgentNetwork::Host,
        network_needs: vec!["browser".to_owned()],
        workdir_access: spawner::WorkdirAccess::ReadWrite,
        write_needs: vec!["sandbox".to_owned()],
        readable: vec![PathBuf::from("/opt")],
        writable: vec![PathBuf::from("/srv")],
        credentials: vec!["A_KEY".to_owned()],
        env: [("A".to_owned(), "b".to_owned())].into(),
        memory_bytes: Some(1 << 30),
        processes: Some(31),
        cpu_secs: Some(32),
        file_bytes: Some(33),
        timeout_secs: Some(34),
        allow: Some(vec!["a".to_owned()]),
        fallback: Some("other".to_owned()),
        restarts: 35,
        restart_pause_ms: Some(36),
        isolate: Isolation::Worktree,
    };
    SubagentConfig {
        enabled: true,
        provider: Some("one".to_owned()),
        providers: [("one".to_owned(), provider)].into(),
        allow: Some(vec!["b".to_owned()]),
        workdir: Some(PathBuf::from("agents")),
        state_dir: Some(PathBuf::from("state")),
        max_live: 41,
        max_total: 42,
        max_depth: 3,
        timeout_secs: 43,
        total_time_secs: 44,
        max_tokens: 45,
        total_tokens: 46,
        max_output_bytes: 4700,
        total_output_bytes: 4800,
        grace_ms: 49,
        stall_secs: 50,
    }
}

#[test]
fn what_is_written_is_read_back() {
    for config in [Config::default(), full()] {
        let text = toml::to_string(&config).unwrap();
        assert_eq!(read(&text).unwrap().config(), &config, "{text}");
    }
}

#[test]
fn every_key_was_changed_by_this_test() {
    let default = read("").unwrap().settings();
    let full = read(&toml::to_string(&full()).unwrap()).unwrap().settings();
    assert_eq!(default.len(), full.len());
    for (default, full) in default.iter().zip(&full) {
        assert_eq!(default.origin, Origin::Default);
        assert_ne!(default.value, full.value, "{}", default.key);
        assert_eq!(full.origin, Origin::File("remit.toml".to_owned()), "{}", full.key);
    }
}

#[test]
fn an_unknown_key_of_any_section_is_refused_with_a_valid_one() {
    let schema = config_schema();
    let sections = schema["properties"].as_object().unwrap();
    assert_eq!(sections.len(), 9);
    for (section, own) in sections {
        let keys = own["properties"].as_object().unwrap();
        for key in keys.keys() {
            // A letter too many, as it happens.
            let error = read(&format!("[{section}]\n{key}x = 1\n")).unwrap_err();
            let ConfigError::UnknownKey { origin, key: unknown, nearest } = error else {
                unreachable!("{section}.{key}: {error}")
            };
            assert_eq!(origin, "remit.toml");
            assert_eq!(unknown, format!("{section}.{key}x"));
            assert_eq!(nearest, format!("{section}.{key}"));
        }
    }
}

#[test]
fn the_keys_of_a_table_are_free() {
    let layered = read("[tools.lookup.t]\nenabeld = \"x\"\n").unwrap();
    assert_eq!(layered.config().tools.lookup["t"]["enabeld"], "x");
    let error = read("[tools.lookup.t]\na = 1\n").unwrap_err().to_string();
    assert_eq!(error, "remit.toml: tools.lookup.t.a: expected string, found a number 1");
}

#[test]
fn a_later_layer_wins_and_says_so() {
    let mut builder = ConfigBuilder::new();
    builder.file("a.toml", "[limits]\njobs = 1\n[tools]\nallow = [\"a\", \"b\"]\n").unwrap();
    let variables =
        [("REMIT_LIMITS_JOBS", "2"), ("REMIT_TOOLS_ALLOW", "c"), ("REMIT_X", ""), ("X", "")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(builder.environment(variables).unwrap(), ["REMIT_X"]);
    builder.set("limits.jobs", 3.into(), "--jobs");
    let layered = builder.build().unwrap();
    assert_eq!(layered.config().limits.jobs, 3);
    assert_eq!(layered.origin("limits.jobs"), Origin::Flag("--jobs"));
    assert_eq!(layered.config().tools.allow, ["c"], "a list is replaced");
    assert_eq!(layered.origin("tools.allow").to_string(), "REMIT_TOOLS_ALLOW");
    assert_eq!(layered.origin("limits.timeout_ms"), Origin::Default);
}

#[test]
fn the_schema_refuses_other_keys_and_has_every_default() {
    let schema = config_schema();
    let compiled = tool_core::CompiledSchema::compile(&schema).unwrap();
    let written = serde_json::to_value(full()).unwrap();
    assert!(compiled.check(&written).is_ok());
    let mut unknown: Value = written;
    unknown["limits"]["other"] = 1.into();
    assert!(compiled.check(&unknown).is_err());
    assert_eq!(schema["properties"]["limits"]["properties"]["jobs"]["default"], 1);
}

/// What the environment says of engines is in no layer.
fn docker() -> rlm_backend::DockerConfig {
    rlm_backend::DockerConfig {
        host: Some("unix:///engine.sock".to_owned()),
        context: Some("there".to_owned()),
        image: "image".to_owned(),
        pull: rlm_backend::PullPolicy::Never,
        runtime: Some("runsc".to_owned()),
        open_files: 45,
        tmp_bytes: 46,
        share_pipes: false,
        environment: rlm_backend::EngineEnvironment::default(),
    }
}

#[test]
fn a_variable_can_hold_numbers() {
    let mut builder = ConfigBuilder::new();
    let ports = |text: &str| [("REMIT_BROWSER_PORTS".to_owned(), text.to_owned())];
    builder.environment(ports("80, 8000")).unwrap();
    assert_eq!(builder.build().unwrap().config().browser.ports, [80, 8000]);
    let error = ConfigBuilder::new().environment(ports("80,http")).unwrap_err().to_string();
    assert!(error.contains("browser.ports") && error.contains("whole numbers"), "{error}");
}
