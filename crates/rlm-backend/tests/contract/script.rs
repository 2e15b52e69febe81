//! The played interpreter: a few words of each language, and no more.

use rlm_backend::Language;
use testkit::sessions::{MockBackend, Played, Scene};

/// A backend that knows the words of these tests.
pub(crate) fn played() -> MockBackend {
    MockBackend::new(play)
}

fn play(scene: &Scene<'_>) -> Played {
    match (scene.language, scene.code) {
        (Language::Python, "1 + 1") => Played::value("2"),
        (Language::Python, "print('out')") => Played::stdout("out\n"),
        (Language::Python, "open('made', 'w').write('12345')") => {
            scene.write_file("made", "12345");
            Played::value("5")
        }
        (Language::Python, "import os; os._exit(5)") => Played::death(5),
        (Language::Python, "while True: pass") => {
            scene.print("before\n");
            scene.wait_for_interrupt();
            Played::exit(130)
        }
        (Language::Python, "(never ends)") => loop {
            scene.wait_for_interrupt();
            std::thread::sleep(std::time::Duration::from_millis(10));
        },
        (Language::Python, "(calls before)") => Played::value(scene.earlier.to_string()),
        (Language::Bash, "echo out; echo err >&2; exit 3") => {
            Played { stdout: "out\n".to_owned(), stderr: "err\n".to_owned(), ..Played::exit(3) }
        }
        (Language::Bash, "true") => Played::default(),
        (language, code) => {
            Played { stderr: format!("{language:?} was not taught {code:?}\n"), ..Played::exit(1) }
        }
    }
}
