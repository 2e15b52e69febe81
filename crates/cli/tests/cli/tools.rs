//! `remit tools`.

use serde_json::{Value, json};

use crate::support::{Place, repository};

fn place() -> Place {
    let place = Place::new();
    place.workdir();
    place.file("remit.toml", "[tools.lookup.capitals]\nFrance = \"Paris\"\nItaly = \"Rome\"\n");
    place
}

#[test]
fn the_list_for_people_names_standing_and_parameters() {
    let args = ["tools", "--config", "remit.toml", "--exec-workdir", "work"];
    let args = args.into_iter().chain(["--allow-tool", "read_file_in_workdir"]);
    let output = place().remit(args).run().ended(0);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 245), "{}", output.stdout);
    insta::assert_snapshot!(output.stdout);
}

#[test]
fn declared_tools_are_told_apart() {
    let tools = repository("data/tools_sandbox_smoke.json");
    let args = ["tools", "--tools", &tools, "--exec-workdir", "work"];
    let output = place().remit(args).run().ended(0).stdout;
    assert!(output.contains("send_mail  [declared only]"), "{output}");
    assert!(output.contains("read_file_in_workdir  [not authorized]"), "{output}");
}

#[test]
fn json_has_the_whole_of_each_tool() {
    let args = ["tools", "--config", "remit.toml", "--json", "--allow-tool", "capitals"];
    let tools = place().remit(args).run().ended(0).json();
    let [capitals] = &tools[..] else { panic!("{tools:?}") };
    assert_eq!(capitals["name"], "capitals");
    assert_eq!(capitals["is_executable"], true);
    assert_eq!(capitals["authorized"], json!(["capitals"]));
    assert_eq!(capitals["parameters"]["required"], json!(["key"]));
    let told = capitals.to_string();
    assert!(!told.contains("Paris") && !told.contains("Rome"), "values are not told: {told}");
}

#[test]
fn definitions_are_written_as_each_vendor_writes_them() {
    let place = place();
    for shape in ["openai", "anthropic", "mcp"] {
        let args = ["tools", "--config", "remit.toml", "--format", shape];
        let output = place.remit(args).run().ended(0).stdout;
        insta::assert_snapshot!(format!("capitals_for_{shape}"), output);
        // What it writes, it reads.
        place.file("defs.json", &output);
        let read = place.remit(["tools", "--tools", "defs.json", "--json"]).run().ended(0).json();
        assert_eq!(read[0]["name"], "capitals", "{shape}");
        let same: Value =
            place.remit(["tools", "--config", "remit.toml", "--json"]).run().json().remove(0);
        assert_eq!(read[0]["parameters"], same["parameters"], "{shape}");
    }
}

#[test]
fn where_no_tool_exists_it_says_how_to_get_one() {
    let output = Place::new().remit(["tools"]).run().ended(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("--exec-workdir DIR"), "{}", output.stderr);
}

#[test]
fn nothing_of_a_definition_can_repaint_the_terminal() {
    let place = Place::new();
    let description = "nice\u{1b}[2J\u{202e}\nsecond line";
    let tool = json!({"name": "t", "description": description, "parameters": {"type": "object"}});
    place.file("defs.json", tool.to_string());
    let output = place.remit(["tools", "--tools", "defs.json"]).run().ended(0).stdout;
    assert!(!output.contains('\u{1b}') && !output.contains('\u{202e}'), "{output:?}");
    assert!(output.contains("nice\\u{1b}"), "{output:?}");
}
