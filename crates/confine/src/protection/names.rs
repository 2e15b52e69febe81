//! What a host reads and then obeys, or runs, later: the names that are protected and reported.
//!
//! *Protected* is what nobody edits by a tool without being asked: read-only where it exists.
//! *Reported* is what a developer edits every day and a machine executes all the same: it stays
//! writable, and a change report lists it apart. Every row has its reason. How a name is matched is
//! said in [`pattern`](super::pattern).

/// A row: the name, and why it is here.
pub(super) type Row = (&'static str, &'static str);

/// Parts of a repository's own directory (`.git`, or any directory that is shaped like one).
pub(super) const REPOSITORY: &[Row] = &[
    ("hooks", "git runs them"),
    ("config", "git runs the programs that it names"),
    ("config.worktree", "git runs the programs that it names"),
    ("info", "its attributes choose which filters git runs"),
    ("commondir", "says where git finds hooks and configuration"),
    ("gitdir", "says where git finds a working tree"),
    ("remotes", "git contacts what it names"),
    ("branches", "git contacts what it names"),
];

/// Why a file named `.git` is protected.
pub(super) const POINTER: &str = "says where git finds the repository";

/// Parts of it that git itself writes, and that may hold commands for its next run.
pub(super) const REPOSITORY_REPORTED: &[Row] = &[
    ("rebase-merge", "git runs the commands of a rebase that goes on"),
    ("rebase-apply", "git runs the commands of a rebase that goes on"),
    ("sequencer", "git goes on with what it says"),
];

const SHELL: &str = "a shell reads it when it starts";
const SESSION: &str = "it is read at login";
const EDITOR: &str = "an editor runs what it says";
const AGENT: &str = "an agent takes commands, tools or permissions from it";
const DIRECTORY: &str = "a shell reads it when it enters the directory";
const DEBUGGER: &str = "a debugger runs it when it starts there";
const PACKAGES: &str = "a package manager runs what it says";
const BUILD: &str = "a build runs what it says";
const HOOKS: &str = "a tool installs or runs hooks from it";
const PIPELINE: &str = "a build server runs what it says";
const INSTRUCTIONS: &str = "an agent follows it";

/// Read-only where it exists.
pub(super) const PROTECTED: &[Row] = &[
    // Version control besides git's own directory.
    (".gitconfig", "git runs the programs that it names"),
    (".config/git", "git runs the programs that it names"),
    (".hg/hgrc", "Mercurial runs the programs that it names"),
    (".hg/hgrc-not-shared", "Mercurial runs the programs that it names"),
    (".hgrc", "Mercurial runs the programs that it names"),
    (".jj/repo/config.toml", "Jujutsu runs the programs that it names"),
    (".githooks", HOOKS),
    (".husky", HOOKS),
    ("lefthook.yml", HOOKS),
    (".lefthook.yml", HOOKS),
    (".pre-commit-config.yaml", HOOKS),
    (".pre-commit-hooks.yaml", HOOKS),
    // Shells and logins.
    (".bashrc", SHELL),
    (".bash_profile", SHELL),
    (".bash_login", SHELL),
    (".bash_logout", SHELL),
    (".bash_aliases", SHELL),
    (".profile", SHELL),
    (".zshrc", SHELL),
    (".zshenv", SHELL),
    (".zprofile", SHELL),
    (".zlogin", SHELL),
    (".zlogout", SHELL),
    (".kshrc", SHELL),
    (".mkshrc", SHELL),
    (".cshrc", SHELL),
    (".tcshrc", SHELL),
    (".login", SHELL),
    (".logout", SHELL),
    (".config/fish", SHELL),
    (".config/nushell", SHELL),
    (".inputrc", "a shell binds keys to commands by it"),
    (".xprofile", SESSION),
    (".xsession", SESSION),
    (".xsessionrc", SESSION),
    (".xinitrc", SESSION),
    (".pam_environment", SESSION),
    (".config/autostart", SESSION),
    (".config/environment.d", SESSION),
    (".config/systemd", "a service manager starts what it says"),
    (".ssh", "it says who may log in, and what is run then"),
    (".tmux.conf", "a terminal runs what it says"),
    (".screenrc", "a terminal runs what it says"),
    // A directory's own environment.
    (".envrc", DIRECTORY),
    (".direnv", DIRECTORY),
    (".mise.toml", DIRECTORY),
    ("mise.toml", DIRECTORY),
    (".autoenv", DIRECTORY),
    // Editors.
    (".vscode", EDITOR),
    (".idea", EDITOR),
    (".fleet", EDITOR),
    (".zed", EDITOR),
    (".nova", EDITOR),
    (".devcontainer", "an editor builds and runs what it says"),
    (".devcontainer.json", "an editor builds and runs what it says"),
    (".vimrc", EDITOR),
    (".exrc", EDITOR),
    (".nvimrc", EDITOR),
    (".nvim.lua", EDITOR),
    (".lvimrc", EDITOR),
    (".emacs", EDITOR),
    (".emacs.d", EDITOR),
    (".dir-locals.el", EDITOR),
    (".config/nvim", EDITOR),
    // Agents.
    (".claude", AGENT),
    (".claude.json", AGENT),
    (".codex", AGENT),
    (".cursor", AGENT),
    (".gemini", AGENT),
    (".qwen", AGENT),
    (".windsurf", AGENT),
    (".continue", AGENT),
    (".roo", AGENT),
    (".kiro", AGENT),
    (".opencode", AGENT),
    (".amazonq", AGENT),
    (".aider.conf.yml", AGENT),
    (".mcp.json", AGENT),
    ("opencode.json", AGENT),
    // Debuggers.
    (".gdbinit", DEBUGGER),
    (".lldbinit", DEBUGGER),
    (".pdbrc", DEBUGGER),
    // Package managers and builds: settings that name programs.
    (".cargo/config.toml", BUILD),
    (".cargo/config", BUILD),
    (".npmrc", PACKAGES),
    (".yarnrc", PACKAGES),
    (".yarnrc.yml", PACKAGES),
    (".yarn/plugins", PACKAGES),
    (".yarn/releases", PACKAGES),
    (".pnpmfile.cjs", PACKAGES),
    ("pip.conf", PACKAGES),
    (".bazelrc", BUILD),
    (".mvn", BUILD),
];

/// Writable, and listed apart when it is made or changed.
pub(super) const REPORTED: &[Row] = &[
    ("AGENTS.md", INSTRUCTIONS),
    ("AGENT.md", INSTRUCTIONS),
    ("CLAUDE.md", INSTRUCTIONS),
    ("CLAUDE.local.md", INSTRUCTIONS),
    ("GEMINI.md", INSTRUCTIONS),
    ("QWEN.md", INSTRUCTIONS),
    (".cursorrules", INSTRUCTIONS),
    (".windsurfrules", INSTRUCTIONS),
    (".clinerules", INSTRUCTIONS),
    (".github/copilot-instructions.md", INSTRUCTIONS),
    (".gitattributes", "chooses which filters git runs"),
    (".gitmodules", "says what git fetches, and from where"),
    (".env", "programs take settings from it"),
    (".tool-versions", "chooses which programs are run"),
    ("Makefile", BUILD),
    ("makefile", BUILD),
    ("GNUmakefile", BUILD),
    ("CMakeLists.txt", BUILD),
    ("meson.build", BUILD),
    ("justfile", BUILD),
    ("Justfile", BUILD),
    ("Taskfile.yml", BUILD),
    ("Taskfile.yaml", BUILD),
    ("Rakefile", BUILD),
    ("SConstruct", BUILD),
    ("wscript", BUILD),
    ("configure", BUILD),
    ("Cargo.toml", BUILD),
    ("build.rs", BUILD),
    ("rust-toolchain.toml", BUILD),
    ("rust-toolchain", BUILD),
    ("package.json", PACKAGES),
    ("deno.json", PACKAGES),
    ("Gemfile", PACKAGES),
    ("composer.json", PACKAGES),
    ("pyproject.toml", PACKAGES),
    ("setup.py", PACKAGES),
    ("setup.cfg", PACKAGES),
    ("tox.ini", BUILD),
    ("noxfile.py", BUILD),
    ("conftest.py", "a test run loads it"),
    ("pytest.ini", "a test run obeys it"),
    ("sitecustomize.py", "Python loads it when it starts"),
    ("usercustomize.py", "Python loads it when it starts"),
    ("pom.xml", BUILD),
    ("build.gradle", BUILD),
    ("build.gradle.kts", BUILD),
    ("settings.gradle", BUILD),
    ("settings.gradle.kts", BUILD),
    ("gradle.properties", BUILD),
    ("gradlew", BUILD),
    ("mvnw", BUILD),
    ("build.sbt", BUILD),
    ("flake.nix", BUILD),
    ("shell.nix", BUILD),
    ("Dockerfile", BUILD),
    ("Containerfile", BUILD),
    ("compose.yaml", BUILD),
    ("compose.yml", BUILD),
    ("docker-compose.yaml", BUILD),
    ("docker-compose.yml", BUILD),
    ("Vagrantfile", BUILD),
    ("Procfile", BUILD),
    (".github/workflows", PIPELINE),
    (".github/actions", PIPELINE),
    (".gitlab-ci.yml", PIPELINE),
    (".circleci", PIPELINE),
    (".buildkite", PIPELINE),
    (".woodpecker", PIPELINE),
    (".woodpecker.yml", PIPELINE),
    (".drone.yml", PIPELINE),
    (".travis.yml", PIPELINE),
    ("azure-pipelines.yml", PIPELINE),
    ("Jenkinsfile", PIPELINE),
];
