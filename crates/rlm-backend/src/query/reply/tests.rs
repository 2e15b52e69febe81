//! Replies as models write them, each with what it means.

use super::{Final, Note, Reply, Tag, read};

fn codes(text: &str) -> Vec<(Tag, String)> {
    read(text).blocks.into_iter().map(|block| (block.tag, block.code)).collect()
}

#[track_caller]
fn python(text: &str, code: &str) {
    assert_eq!(codes(text), [(Tag::Python, code.to_owned())], "{text}");
}

#[track_caller]
fn answers(text: &str, value: &str) {
    assert_eq!(read(text).answer, Some(Final::Value(value.to_owned())), "{text}");
}

#[track_caller]
fn neither(text: &str, notes: &[Note]) {
    let expected = Reply { notes: notes.to_vec(), ..Reply::default() };
    assert_eq!(read(text), expected, "{text}");
}

#[test]
fn fences_are_commonmarks() {
    let cases = [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("~~~py\nx = 1\n~~~\n", "x = 1\n"),
        ("   ```repl\n   x = 1\n     y\n   ```", "x = 1\n  y\n"),
        ("```python\r\nx = 1\r\ny = 2\r\n```\r\n", "x = 1\ny = 2\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("``` Python3 title=\"a b\"\nx\n```", "x\n"),
        ("```{python}\nx\n```", "x\n"),
        ("````python\ns = \"\"\"\n```\n\"\"\"\n````", "s = \"\"\"\n```\n\"\"\"\n"),
        ("~~~python\ns = '''\n```\n'''\n~~~", "s = '''\n```\n'''\n"),
        ("```python\ns = \"```\"\n```", "s = \"```\"\n"),
        ("```python\n```bash\nx\n```", "```bash\nx\n"),
        ("```python\nx\n`````", "x\n"),
        ("```python\nx\n~~~\ny\n```", "x\n~~~\ny\n"),
        ("1. First:\n\n    ```python\n    x = 1\n    ```\n", ""),
        ("10. First:\n    ```python\n    x = 1\n    ```\n", "x = 1\n"),
        ("- step\n  ```python\n  if x:\n    y\n  ```\nDone.", "if x:\n  y\n"),
        ("- ```python\n  x\n  ```", "x\n"),
        ("- ```python\n  x\nOut of the list.", "x\n"),
        ("<think>```python\nno\n```</think>\n```python\nyes\n```", "yes\n"),
        ("\t- a\n```python\nx\n```", "x\n"),
    ];
    for (text, code) in cases.into_iter().filter(|(_, code)| !code.is_empty()) {
        python(text, code);
    }
}

#[test]
fn an_unclosed_block_goes_to_the_end_and_says_so() {
    let reply = read("```python\nx = 1\ny = 2\n");
    assert_eq!(
        (reply.blocks[0].code.as_str(), reply.blocks[0].is_closed),
        ("x = 1\ny = 2\n", false)
    );
    assert!(read("```python\nx\n```").blocks[0].is_closed);
}

#[test]
fn what_opens_no_block_is_said() {
    neither("```python print(1)```", &[Note::NoFence]);
    neither("Run ```print(1)``` now", &[Note::NoFence]);
    neither("    ```python\n    x\n    ```", &[Note::NoFence]);
    neither("> ```python\n> x\n> ```", &[Note::Quoted]);
    neither("```json\n{\"FINAL(1)\": 2}\n```", &[Note::OtherTag]);
    neither("I will look at the context first.", &[]);
}

#[test]
fn every_tag_has_a_meaning() {
    for tag in ["", "python", "py", "python3", "PYTHON", "repl", "ipython"] {
        assert_eq!(codes(&format!("```{tag}\nx\n```"))[0].0, Tag::Python, "{tag}");
    }
    for tag in ["bash", "sh", "shell", "Bash"] {
        assert_eq!(codes(&format!("```{tag}\nx\n```"))[0].0, Tag::Bash, "{tag}");
    }
}

#[test]
fn several_blocks_come_in_order() {
    let reply = "First\n```python\na\n```\nthen\n```bash\nb\n```\nand\n~~~\nc\n~~~";
    let expected = [(Tag::Python, "a\n"), (Tag::Bash, "b\n"), (Tag::Python, "c\n")];
    assert_eq!(codes(reply), expected.map(|(tag, code)| (tag, code.to_owned())));
}

#[test]
fn an_answer_on_a_line_of_its_own_is_taken_as_it_stands() {
    answers("FINAL(42)", "42");
    answers("I looked at everything.\n\nFINAL(Paris)", "Paris");
    answers("FINAL(one)\nand a later line (that ends with a bracket)", "one");
    answers("FINAL(It's done)", "It's done");
    answers("FINAL(It's 42)", "It's 42");
    answers(r#"FINAL("C:\\")"#, "C:\\");
    answers(r#"FINAL("a" + "b")"#, r#""a" + "b""#);
    answers(r#"FINAL("an ( in quotes")"#, "an ( in quotes");
    answers("FINAL(a ) and another ))", "a ) and another )");
    answers("FINAL('''a\n\"b\" (c)\n''')", "a\n\"b\" (c)\n");
    answers("FINAL(first\nsecond (2)\n)", "first\nsecond (2)");
    answers("  SUBMIT(x)  ", "x");
    answers("FINAL(one)\nFINAL(two)", "one");
    answers(r#"FINAL("line\none")"#, "line\none");
    answers("FINAL(```)", "```");
}

#[test]
fn an_answer_can_name_a_variable() {
    for text in ["FINAL_VAR(best)", "FINAL_VAR(\"best\")", "Done.\nFINAL_VAR( 'best' )"] {
        assert_eq!(read(text).answer, Some(Final::Variable("best".to_owned())), "{text}");
    }
}

#[test]
fn a_mention_is_no_answer_and_is_said() {
    for text in [
        "The answer is FINAL(42)",
        "I will use FINAL_VAR(best) at the end.",
        "**FINAL(42)**",
        "`FINAL(42)`",
        "final(42)",
        "Final: (42)",
        "- FINAL(42)",
        "> FINAL(42)",
        "    FINAL(42)",
        "# FINAL(42)",
    ] {
        neither(text, &[Note::Mention]);
    }
    neither("FINAL(42) is what I would say", &[Note::OpenFinal]);
    neither("FINAL(one\ntwo", &[Note::OpenFinal]);
    neither("FINAL()", &[Note::BadFinal]);
    neither("FINAL_VAR(a + b)", &[Note::BadFinal]);
}

#[test]
fn beside_code_or_in_code_it_is_no_answer() {
    let reply = read("```python\nx = 1\n```\nFINAL(42)");
    assert_eq!((reply.answer, reply.notes), (None, vec![Note::FinalBesideCode]));
    let reply = read("```python\n# FINAL(42)\nFINAL(42)\n```");
    assert_eq!((reply.blocks.len(), reply.answer, reply.notes), (1, None, vec![]));
    let reply = read("```text\nFINAL(42)\n```");
    assert_eq!((reply.answer, reply.notes), (None, vec![Note::OtherTag]));
}
