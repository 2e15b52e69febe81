//! Secrets in pieces, with pauses, and without an end.

use proptest::prelude::*;

use super::*;

fn through(pieces: &[&[u8]]) -> Vec<u8> {
    with_pauses(pieces, |_| false)
}

fn with_pauses(pieces: &[&[u8]], is_followed_by_one: impl Fn(usize) -> bool) -> Vec<u8> {
    let (mut redactor, mut clean) = (Redactor::default(), Vec::new());
    for (number, piece) in pieces.iter().enumerate() {
        redactor.push(piece, &mut |shown| clean.extend_from_slice(shown));
        if is_followed_by_one(number) {
            redactor.pause(&mut |shown| clean.extend_from_slice(shown));
        }
        assert!(redactor.rest.len() <= MOST_HELD + 4 * LONGEST + piece.len());
    }
    redactor.finish(&mut |shown| clean.extend_from_slice(shown));
    clean
}

fn private_key() -> String {
    let lines = "MIIEpAIBAAKCAQEA0s3cr3tS3CR3T+/abcdef\n".repeat(30);
    format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\n")
}

#[test]
fn a_secret_in_two_pieces_is_removed_wherever_it_is_cut() {
    let text = format!("a {{\"password\": \"hunter2\"}} sk-ant-{} z\nnext", "x1".repeat(20));
    let expected = "a {\"password\": \"[redacted]\"} [redacted] z\nnext";
    for at in 0..text.len() {
        let (one, other) = text.as_bytes().split_at(at);
        assert_eq!(through(&[one, other]), expected.as_bytes(), "cut at {at}");
    }
    let long = format!("{}{text}", "y".repeat(3 * LONGEST));
    for at in 3 * LONGEST..long.len() {
        let (one, other) = long.as_bytes().split_at(at);
        let clean = String::from_utf8(through(&[one, other])).unwrap();
        assert!(!clean.contains("hunter2") && !clean.contains("x1x1"), "cut at {at}");
    }
}

#[test]
fn a_pause_within_a_secret_shows_nothing_of_its_value() {
    let texts = [
        "x {\"password\": \"hunter2secret\"} y",
        "export DB_PASSWORD=hunter2secret; y",
        "Authorization: Basic hunter2secret y",
        "https://user:hunter2secret@host/ y",
        "a sk-ant-hunter2secrethunter2secret y",
        "AKIAHUNTER2SECRETABC y",
    ];
    for text in texts {
        for at in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            let clean = with_pauses(&[one, other], |number| number == 0);
            let clean = String::from_utf8(clean).unwrap();
            assert!(clean.contains("[redacted]"), "{clean}, cut at {at}");
            let lower = clean.to_ascii_lowercase();
            assert!(!lower.contains("nter2") && !lower.contains("secret"), "{clean}");
        }
    }
}

#[test]
fn a_question_is_shown_at_a_pause() {
    for text in ["name? ", "Password: ", "password=", "[1/3]", "loading...", "> "] {
        let (mut redactor, mut clean) = (Redactor::default(), Vec::new());
        redactor.push(text.as_bytes(), &mut |shown| clean.extend_from_slice(shown));
        assert!(clean.is_empty() && redactor.holds_back());
        redactor.pause(&mut |shown| clean.extend_from_slice(shown));
        assert_eq!(clean, text.as_bytes());
        assert!(!redactor.holds_back());
    }
}

#[test]
fn a_private_key_is_removed_wherever_it_is_cut_and_the_rest_stays() {
    let text = format!("before\n{}after\n", private_key());
    for size in [1, 7, 64, 1000, 4096, 100_000] {
        let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
        for pauses in [false, true] {
            let clean = String::from_utf8(with_pauses(&pieces, |_| pauses)).unwrap();
            assert!(!clean.contains("MIIE") && !clean.contains("abcdef"), "{size}: {clean}");
            assert!(clean.starts_with("before\n") && clean.ends_with("\nafter\n"), "{clean}");
        }
    }
    let cut = &text.as_bytes()[..500];
    assert!(!String::from_utf8(through(&[cut])).unwrap().contains("MIIE"));
}

#[test]
fn a_secret_without_end_is_removed_in_bounded_memory() {
    for text in [
        format!("password={} end", "hunter2".repeat(20_000)),
        format!("sk-ant-{} end", "hunter2".repeat(20_000)),
        format!("-----BEGIN PRIVATE KEY-----\n{}! end", "hunter2\n".repeat(20_000)),
    ] {
        for size in [3000, 65_536, 1 << 20] {
            let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
            let clean = String::from_utf8(through(&pieces)).unwrap();
            assert!(!clean.contains("hunter2"), "{size}");
            assert!(clean.contains("[redacted]") && clean.ends_with(" end"), "{size}: {clean}");
        }
    }
}

proptest! {
    #[test]
    fn what_holds_no_secret_comes_through_whole(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..8),
        pauses in any::<u8>(),
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let all = pieces.concat();
        prop_assume!(patterns::clean(&all) == all);
        prop_assert_eq!(with_pauses(&pieces, |number| pauses & (1 << number) != 0), all);
    }

    #[test]
    fn words_around_secrets_come_through_in_any_pieces(
        words in proptest::collection::vec("(password=hunter2hunter2|see|a|\n|https://u:hunter2@h/x|sk-ant-hunter2hunter2hunter2|token: 5|\u{1b}\\[31m)", 1..60),
        sizes in proptest::collection::vec(1_usize..200, 1..6),
    ) {
        let text = words.join(" ");
        let (mut rest, mut pieces, mut size) = (text.as_bytes(), Vec::new(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (one, other) = rest.split_at(rest.len().min(*size.next().unwrap()));
            pieces.push(one);
            rest = other;
        }
        prop_assert_eq!(through(&pieces), patterns::clean(text.as_bytes()).into_owned());
        let paused = String::from_utf8(with_pauses(&pieces, |_| true)).unwrap();
        prop_assert!(!paused.contains("hunter2"), "{}", paused);
    }
}
