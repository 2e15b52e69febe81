//! Help, completions and manual pages.

use crate::support::Place;

const COMMANDS: [&str; 17] = [
    "",
    "exec",
    "agent",
    "agents",
    "agents list",
    "agents show",
    "agents tail",
    "agents kill",
    "tools",
    "mcp",
    "config",
    "config show",
    "config schema",
    "audit",
    "audit verify",
    "completions",
    "man",
];

#[test]
fn help_is_as_it_was_read_last() {
    let place = Place::new();
    for command in COMMANDS {
        let output =
            place.remit(command.split(' ').filter(|c| !c.is_empty()).chain(["--help"])).run();
        let output = output.ended(0);
        assert_eq!(output.stderr, "");
        assert!(output.stdout.lines().all(|line| line.chars().count() <= 100), "{}", output.stdout);
        let name = format!("help_{}", command.replace(' ', "_"));
        insta::assert_snapshot!(name.trim_end_matches('_').to_owned(), output.stdout);
    }
}

#[test]
fn nothing_typed_is_help_and_a_mistake() {
    let place = Place::new();
    let help = place.remit(["--help"]).run().ended(0);
    let nothing = place.remit([""; 0]).run().ended(2);
    assert_eq!((nothing.stdout.as_str(), nothing.stderr), ("", help.stdout));
    let version = place.remit(["--version"]).run().ended(0);
    assert_eq!(version.stdout, concat!("remit ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn completions_hold_the_commands_and_flags() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.remit(["completions", shell]).run().ended(0).stdout;
        for word in ["exec-workdir", "allow-tool", "agent", "audit"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let place = Place::new();
    let script = place.remit(["completions", "bash"]).run().ended(0).stdout;
    if !std::path::Path::new("/bin/bash").exists() {
        eprintln!("SKIPPED: this machine has no /bin/bash");
        return;
    }
    let ask = "\nCOMP_WORDS=(remit exec --exec-w); COMP_CWORD=2; _remit remit --exec-w exec; \
               echo \"${COMPREPLY[@]}\"\n";
    let output = place.program("/bin/bash", ["-s"]).input(script + ask).run().ended(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("--exec-workdir\n", ""));
}

#[test]
fn there_is_a_page_for_every_command() {
    let place = Place::new();
    for command in COMMANDS {
        let names = command.split(' ').filter(|name| !name.is_empty());
        let page = place.remit(["man"].into_iter().chain(names)).run().ended(0).stdout;
        let title = format!(
            ".TH remit{}{}",
            if command.is_empty() { "" } else { "-" },
            command.replace(' ', "-")
        );
        assert!(page.contains(&title), "{title}: {}", tool_core::clip(&page, 300));
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
}
