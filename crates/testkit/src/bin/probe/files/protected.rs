//! Files inside the writable working directory that the host would execute later.
//!
//! The working directory holds a repository (`.git`), a nested one (`vendor/sub/.git`) and nothing
//! of the agents' and editors' files; the protection must hold for what is absent too.

use std::fs;
use std::os::unix::fs::symlink;

use super::{MARK, append, plant};
use crate::attempt::{Attempt, Given, Tried, c_path};
use crate::sys::call;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.git-hook", "plants .git/hooks/pre-commit", git_hook).on_guarded(),
    Attempt::new("files.git-config", "adds to .git/config", git_config).on_guarded(),
    Attempt::new("files.git-attributes", "plants .git/info/attributes", git_attributes)
        .on_guarded(),
    Attempt::new("files.git-modules", "plants a configuration below .git/modules", git_modules)
        .on_guarded(),
    Attempt::new("files.nested-hook", "plants a hook of a nested repository", nested_hook)
        .on_guarded(),
    Attempt::new("files.nested-config", "adds to a nested repository's config", nested_config)
        .on_guarded(),
    Attempt::new("files.hook-hard-link", "hard-links a hook", hook_hard_link).on_guarded(),
    Attempt::new("files.hook-rename", "renames a file of ours to a hook", hook_rename).on_guarded(),
    Attempt::new("files.hooks-symlink", "replaces the hooks by a link", hooks_symlink).on_guarded(),
    Attempt::new("files.git-swap", "moves .git away and makes another", git_swap).on_guarded(),
    Attempt::new("files.git-exchange", "exchanges .git for a directory of ours", git_exchange)
        .on_guarded(),
    Attempt::new("files.parent-swap", "moves the nested repository's parent", parent_swap)
        .on_guarded(),
    Attempt::new("files.git-chmod", "makes the hooks' directory writable for all", git_chmod)
        .on_guarded(),
    Attempt::new("files.agent-settings", "creates .claude/settings.json", agent_settings)
        .on_guarded(),
    Attempt::new("files.editor-tasks", "creates .vscode/tasks.json", editor_tasks).on_guarded(),
    Attempt::new("files.envrc", "creates .envrc", envrc).on_guarded(),
    Attempt::new("files.tool-servers", "creates .mcp.json", tool_servers).on_guarded(),
    Attempt::new("files.shell-start", "creates .bashrc", shell_start).on_guarded(),
];

fn git_hook(given: &Given) -> Tried {
    append(&given.path("work", ".git/hooks/pre-commit")?)
}

fn git_config(given: &Given) -> Tried {
    append(&given.path("work", ".git/config")?)
}

fn git_attributes(given: &Given) -> Tried {
    plant(&given.path("work", ".git/info/attributes")?)
}

fn git_modules(given: &Given) -> Tried {
    plant(&given.path("work", ".git/modules/evil/config")?)
}

fn nested_hook(given: &Given) -> Tried {
    append(&given.path("work", "vendor/sub/.git/hooks/post-checkout")?)
}

fn nested_config(given: &Given) -> Tried {
    append(&given.path("work", "vendor/sub/.git/config")?)
}

fn hook_hard_link(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    fs::hard_link(&ours, given.path("work", ".git/hooks/pre-commit")?)?;
    Ok("linked".to_owned())
}

fn hook_rename(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    fs::rename(&ours, given.path("work", ".git/hooks/pre-commit")?)?;
    Ok("renamed".to_owned())
}

fn hooks_symlink(given: &Given) -> Tried {
    let hooks = given.path("work", ".git/hooks")?;
    fs::rename(&hooks, given.path("work", ".git/hooks-before")?)?;
    symlink("../evil", &hooks)?;
    Ok("linked".to_owned())
}

fn git_swap(given: &Given) -> Tried {
    fs::rename(given.path("work", ".git")?, given.path("work", "git-before")?)?;
    plant(&given.path("work", ".git/hooks/pre-commit")?)
}

fn git_exchange(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    plant(&ours.join("hooks/pre-commit"))?;
    let (ours, theirs) = (c_path(&ours)?, c_path(&given.path("work", ".git")?)?);
    let here = libc::AT_FDCWD;
    call!(libc::SYS_renameat2, here, &ours, here, &theirs, libc::RENAME_EXCHANGE)?;
    Ok("exchanged".to_owned())
}

fn parent_swap(given: &Given) -> Tried {
    fs::rename(given.path("work", "vendor")?, given.path("work", "vendor-before")?)?;
    plant(&given.path("work", "vendor/sub/.git/hooks/post-checkout")?)
}

fn git_chmod(given: &Given) -> Tried {
    call!(libc::SYS_fchmodat, libc::AT_FDCWD, &c_path(&given.path("work", ".git/hooks")?)?, 0o777)?;
    Ok("mode changed".to_owned())
}

fn agent_settings(given: &Given) -> Tried {
    plant(&given.path("work", ".claude/settings.json")?)
}

fn editor_tasks(given: &Given) -> Tried {
    plant(&given.path("work", ".vscode/tasks.json")?)
}

fn envrc(given: &Given) -> Tried {
    plant(&given.path("work", ".envrc")?)
}

fn tool_servers(given: &Given) -> Tried {
    plant(&given.path("work", ".mcp.json")?)
}

fn shell_start(given: &Given) -> Tried {
    plant(&given.path("work", ".bashrc")?)
}
